/** Has pi summarise the conversation it has open. Ends with what became of it, also when the process dies or somebody stops it. */
import type { Compaction } from "../../contracts/agent.ts";
import type { Clock } from "../../kit/clock.ts";
import type { ReadyAgent } from "../setup/start.ts";
import { classifyFailure } from "./provider-failure.ts";
import { count, toUsage } from "./protocol.ts";

const ABORT_MS = 5_000;
const NOTHING = /nothing to compact|already compacted/i;
const MAX_INSTRUCTIONS_CHARS = 4_000;

interface Compacted {
  readonly result: Compaction;
  /** False when the process can no longer be trusted. */
  readonly trusted: boolean;
}

export async function compactSession(
  { clock }: { readonly clock: Clock },
  agent: ReadyAgent,
  options: { readonly instructions: string; readonly model: string },
  signal: AbortSignal,
): Promise<Compacted> {
  const { process } = agent;
  const customInstructions = options.instructions.toWellFormed().slice(0, MAX_INSTRUCTIONS_CHARS);
  const asked = { type: "compact", ...(customInstructions === "" ? {} : { customInstructions }) };
  try {
    const answer = await process.request(asked, signal);
    if (!answer.ok) return { result: refused(agent.redact(answer.error)), trusted: true };
    const { tokensBefore, estimatedTokensAfter, usage } = answer.data;
    const tokens = { tokensBefore: count(tokensBefore), tokensAfter: count(estimatedTokensAfter) };
    return { result: { kind: "done", ...tokens, usage: toUsage(usage), model: options.model }, trusted: true };
  } catch (error) {
    if (signal.aborted) return { result: { kind: "stopped" }, trusted: await stopped(clock, agent) };
    const detail = agent.redact(error instanceof Error ? error.message : String(error));
    return { result: { kind: "failed", code: "agent_exited", detail }, trusted: false };
  }
}

function refused(error: string): Compaction {
  if (NOTHING.test(error)) return { kind: "nothing" };
  return { kind: "failed", code: classifyFailure(error), detail: error };
}

/** pi answers `abort` when it is idle again; a summary that was nearly done may have been written, which does no harm. */
async function stopped(clock: Clock, { process }: ReadyAgent): Promise<boolean> {
  using limit = clock.deadline(ABORT_MS, () => new Error("the abort was not answered"));
  const answer = await process.request({ type: "abort" }, limit.signal).catch(() => null); // late, or the process ended
  return answer?.ok === true;
}
