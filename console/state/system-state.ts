/** What the views of System show: checks, settings, extensions, log lines, browsers. Each is read when somebody looks at it. */
import { signal } from "@preact/signals";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import type { McpServerStatus } from "../../src/contracts/mcp.ts";
import type { PluginStatus } from "../../src/contracts/plugin.ts";
import type { StorageReport } from "../../src/contracts/storage.ts";
import type {
  HealthCheck,
  HealthFix,
  LogPage,
  SettingsReport,
  SignedInBrowser,
} from "../../src/contracts/system-api.ts";
import { type Answer, deleteJson, readJson, sendJson, signIn } from "../net/api.ts";
import { refreshStatus, signInAgain } from "./console-state.ts";
import { kept, NOTIFIED_KEY } from "./kept.ts";
import { readNotified, renew } from "./notifications-state.ts";

/** A whole audit log takes longer to look at than a list. */
const FIX_MS = 60_000;
/** A package of a server may have to be downloaded first. */
const TEST_MS = 150_000;

/** Null: not read yet. */
type Read<T> = T | null | "failed";

export const checks = signal<Read<readonly HealthCheck[]>>(null);
export const storage = signal<Read<StorageReport>>(null);
export const settings = signal<Read<SettingsReport>>(null);
export const plugins = signal<Read<readonly PluginStatus[]>>(null);
export const servers = signal<Read<readonly McpServerStatus[]>>(null);
export const browsers = signal<Read<readonly SignedInBrowser[]>>(null);
export const logs = signal<Read<LogPage>>(null);

function keep<T, A>(into: { value: Read<T> }, answer: Answer<A>, take: (value: A) => T): void {
  if (answer.ok) into.value = take(answer.value);
  else if (into.value === null) into.value = "failed";
}

/** What the list of settings is narrowed to. */
export const settingFilter = signal({ typed: "", onlySet: true });

export async function readChecks(): Promise<void> {
  keep(checks, await readJson<HttpApi["GET /api/doctor"]["result"]>("/api/doctor"), ({ items }) => items);
}

/** What the last fix did; null: none was made here. */
export const fixSaid = signal<string | null>(null);

/** Null when it is done, otherwise why not. */
export async function fixCheck(fix: HealthFix): Promise<string | null> {
  fixSaid.value = null;
  const answer = await sendJson<HttpApi["POST /api/doctor/fix"]["result"]>("POST", "/api/doctor/fix", { fix }, FIX_MS);
  if (answer.ok) fixSaid.value = answer.value.say;
  await readChecks();
  return answer.ok ? null : answer.error.message;
}

export async function makeBackup() {
  const answer = await sendJson<HttpApi["POST /api/doctor/fix"]["result"]>(
    "POST",
    "/api/doctor/fix",
    { fix: "backup" satisfies HealthFix },
    FIX_MS,
  );
  await refreshStatus();
  return answer;
}

/** The old token is refused from then on. This browser signs in again with a link that is made before. Null when it is done, otherwise why not. */
export async function rotateToken(): Promise<string | null> {
  const link = await newSignInLink();
  if (!link.ok) return link.error.message;
  const back = await signInAgain(async () => {
    const answer = await sendJson("POST", "/api/token/rotate", {});
    return answer.ok ? signIn({ code: link.value.code }) : answer;
  });
  if (back.ok && kept(NOTIFIED_KEY, "browser") !== null) await renew();
  await Promise.all([readBrowsers(), readNotified()]);
  return back.ok ? null : back.error.message;
}

export async function readStorage(): Promise<void> {
  keep(storage, await readJson<StorageReport>("/api/storage"), (report) => report);
}

export async function readSettings(): Promise<void> {
  keep(settings, await readJson<SettingsReport>("/api/config/settings"), (report) => report);
}

/** Null when it is done, otherwise why not. */
export async function revertSettings(): Promise<string | null> {
  const answer = await sendJson("POST", "/api/config/revert", {});
  await readSettings();
  return answer.ok ? null : answer.error.message;
}

export async function readExtensions(): Promise<void> {
  const [found, mcp] = await Promise.all([
    readJson<HttpApi["GET /api/plugins"]["result"]>("/api/plugins"),
    readJson<HttpApi["GET /api/mcp"]["result"]>("/api/mcp"),
  ]);
  keep(plugins, found, ({ items }) => items);
  keep(servers, mcp, ({ items }) => items);
}

export async function reloadPlugin(id: string): Promise<string | null> {
  const answer = await sendJson("POST", `/api/plugins/${encodeURIComponent(id)}/reload`, {});
  await readExtensions();
  return answer.ok ? null : answer.error.message;
}

export async function testServer(name: string): Promise<string | null> {
  const answer = await sendJson("POST", `/api/mcp/${encodeURIComponent(name)}/test`, {}, TEST_MS);
  await readExtensions();
  return answer.ok ? null : answer.error.message;
}

export async function readLogLines(level: string, module: string, text: string): Promise<void> {
  const query = new URLSearchParams({ level, module, q: text, limit: "200" });
  keep(logs, await readJson<LogPage>(`/api/logs?${query.toString()}`), (page) => page);
}

export async function readBrowsers(): Promise<void> {
  keep(browsers, await readJson<HttpApi["GET /api/sign-ins"]["result"]>("/api/sign-ins"), ({ items }) => items);
}

export async function endBrowser(id: string): Promise<string | null> {
  const answer = await deleteJson(`/api/sign-ins/${encodeURIComponent(id)}`);
  await readBrowsers();
  return answer.ok ? null : answer.error.message;
}

export function newSignInLink() {
  return sendJson<HttpApi["POST /api/sign-in-links"]["result"]>("POST", "/api/sign-in-links", {});
}
