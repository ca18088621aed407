/** The version of the gateway and updates of it, as System shows them: read when somebody looks, and again and again while an update runs. */
import { effect, signal } from "@preact/signals";
import type { KnownVersion, UpdateReport } from "../../src/contracts/update.ts";
import { readJson, sendJson } from "../net/api.ts";
import { line, status } from "./console-state.ts";
import { announced } from "./news.ts";
import { soon } from "./soon.ts";

const AGAIN_MS = 1_000;
/** npm has a minute to answer. */
const LOOKED_WITHIN_MS = 95_000;

/** Null: not read yet. */
export const update = signal<UpdateReport | null>(null);
/** The version that ran when an update was begun here; null: none was, or it is over. */
const begunFrom = signal<string | null>(null);
/** How the update that was begun here has ended; null: it has not. */
export const ended = signal<string | null>(null);

/** Follows the gateway until it is called. */
export function followUpdate(): () => void {
  return effect(() => {
    void status.value?.version;
    if (line.value === "open") void readUpdate().then(readAgain);
  });
}

/** As long as an update runs, also when nobody answers, because another version takes the place of this one. */
function readAgain(): void {
  if (update.value?.isRunning || begunFrom.value !== null)
    soon("update", AGAIN_MS, () => void readUpdate().then(readAgain));
}

async function readUpdate(): Promise<void> {
  const answer = await readJson<UpdateReport>("/api/update");
  if (!answer.ok) return; // it is being replaced: the last words stay
  update.value = answer.value;
  const from = begunFrom.value;
  if (from === null || answer.value.isRunning) return;
  begunFrom.value = null;
  ended.value = endText(answer.value, from);
  announced.value = ended.value;
}

/** Pure. */
export function endText({ version, hasFailed, last, steps }: UpdateReport, from: string): string {
  if (version !== from) return `Version ${version} serves now. It was ${from}.`;
  if (last?.kind === "returned" && !hasFailed)
    return `Version ${last.to} did not start, and ${version} goes on. ${last.why ?? ""}`.trim();
  return steps.at(-1) ?? `Nothing was changed; version ${version} goes on.`;
}

/** What went wrong; null: `update` has the answer. */
export async function lookForUpdate(): Promise<string | null> {
  const answer = await sendJson<KnownVersion>("POST", "/api/update/check", {}, LOOKED_WITHIN_MS);
  if (!answer.ok) return answer.error.message;
  await readUpdate();
  return null;
}

export async function beginUpdate(): Promise<string | null> {
  ended.value = null;
  const answer = await sendJson<UpdateReport>("POST", "/api/update", {});
  if (!answer.ok) return answer.error.message;
  update.value = answer.value;
  begunFrom.value = answer.value.version;
  readAgain();
  return null;
}
