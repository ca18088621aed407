/** MCP servers of the settings, for the form that adds and changes them: read without secrets, tried before they are saved, saved like any other setting. */
import { signal } from "@preact/signals";
import type { SettingEdit } from "../../src/contracts/config-api.ts";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import { type Answer, readJson, sendJson } from "../net/api.ts";
import { type FieldProblems, placed, type ServerSettings } from "../text/server-edits.ts";
import { configFile, proposeConfig, readConfigFile, saveConfig } from "./config-state.ts";
import { readExtensions, testServer } from "./system-state.ts";

type TriedServer = HttpApi["POST /api/mcp/:name/try"]["result"];

/** A package may have to be downloaded first. */
const TRY_MS = 150_000;
const UNREAD: FieldProblems = { form: "The settings could not be read. Is the gateway connected?" };

/** By name; null: not read yet. */
export const serverSettings = signal<Readonly<Record<string, ServerSettings>> | null>(null);

async function readServerSettings(): Promise<void> {
  const answer = await readJson<{ readonly mcp?: { readonly servers?: Readonly<Record<string, ServerSettings>> } }>(
    "/api/config",
  );
  if (answer.ok) serverSettings.value = answer.value.mcp?.servers ?? {};
}

/** What the gateway's check says against these settings; empty: nothing. */
export async function checkServer(name: string, edits: readonly SettingEdit[]): Promise<FieldProblems> {
  const version = await currentVersion();
  if (version === null) return UNREAD;
  const answer = await proposeConfig({ edits, version });
  return answer.ok ? placed(name, answer.value.problems) : { form: answer.error.message };
}

export function tryServer(name: string, edits: readonly SettingEdit[]): Promise<Answer<TriedServer>> {
  return sendJson("POST", `/api/mcp/${encodeURIComponent(name)}/try`, { edits }, TRY_MS);
}

/** Empty: they are saved and in force. */
export async function saveServer(name: string, edits: readonly SettingEdit[]): Promise<FieldProblems> {
  const version = await currentVersion();
  if (version === null) return UNREAD;
  const answer = await saveConfig({ edits, version });
  if (!answer.ok) return { form: answer.error.message };
  const { problems, notInForce } = answer.value;
  await readServers();
  if (problems.length > 0) return placed(name, problems);
  if (notInForce.length > 0) return { form: `It is saved, and not in force: ${notInForce.join(" ")}` };
  if (serverSettings.value?.[name]?.enabled === true) void testServer(name); // its tools are listed by its first start
  return {};
}

/** One change of one server, without a form. Null when it is in force, otherwise why not. */
export async function changeServer(name: string, edit: SettingEdit): Promise<string | null> {
  const problems = Object.values(await saveServer(name, [edit]));
  return problems.length === 0 ? null : problems.join(" ");
}

export async function readServers(): Promise<void> {
  await Promise.all([readExtensions(), readServerSettings()]);
}

/** Null: the file could not be read. */
async function currentVersion(): Promise<string | null> {
  await readConfigFile();
  const file = configFile.value;
  return file === null || file === "failed" ? null : file.version;
}
