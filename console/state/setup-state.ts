/** The first setup as the web console sees it: the four checks, tries of a step, and saving one. Secrets are sent and never kept here. */
import { computed, effect, signal } from "@preact/signals";
import type { HttpApi } from "../../src/contracts/http-api.ts";
import type { SetupCheck, SetupInput, SetupTest } from "../../src/contracts/setup.ts";
import { type Answer, readJson, sendJson } from "../net/api.ts";
import { line, status } from "./console-state.ts";
import { keep, kept } from "./kept.ts";
import { announced } from "./news.ts";
import { soon } from "./soon.ts";

const DISMISSED_KEY = "pi-gateway.setup-dismissed";
/** A new setting is told with a burst of events. */
const AGAIN_MS = 150;
/** A platform or provider is asked, which may not answer. */
const TESTED_WITHIN_MS = 45_000;

/** Null: not read yet. */
export const checks = signal<readonly SetupCheck[] | null>(null);
const dismissed = signal(kept(DISMISSED_KEY, "browser") !== null);

/** There until everything is done or somebody has put it away in this browser. */
export const cardShown = computed(
  () => !dismissed.value && checks.value !== null && checks.value.some(({ done }) => !done),
);

export function dismissCard(): void {
  dismissed.value = true;
  keep(DISMISSED_KEY, "1", "browser");
}

/** Follows the gateway until it is called; for as long as somebody looks. */
export function followSetup(): () => void {
  let first = true;
  return effect(() => {
    void status.value; // a model or a channel that comes or goes is told with it
    if (line.value !== "open") return;
    soon("setup", first ? 0 : AGAIN_MS, () => void readChecks());
    first = false;
  });
}

async function readChecks(): Promise<void> {
  const answer = await readJson<HttpApi["GET /api/setup"]["result"]>("/api/setup");
  if (answer.ok) checks.value = answer.value.items;
}

export function testStep(step: Pick<SetupInput, "model" | "channel">): Promise<Answer<SetupTest>> {
  return sendJson("POST", "/api/setup/test", step, TESTED_WITHIN_MS);
}

/** `ok` is true when it is in force; `say` is for the person either way. */
export async function saveStep(step: SetupInput): Promise<{ readonly ok: boolean; readonly say: string }> {
  const answer = await sendJson<HttpApi["POST /api/setup"]["result"]>("POST", "/api/setup", step, TESTED_WITHIN_MS);
  if (!answer.ok) return { ok: false, say: answer.error.message };
  const { written, tests, problems } = answer.value;
  const ok = written && problems.length === 0;
  if (ok) announced.value = "Saved.";
  await readChecks();
  return {
    ok,
    say: [...tests.map(({ say }) => say), ...problems, ...(ok ? ["Saved; it is in force."] : [])].join(" "),
  };
}
