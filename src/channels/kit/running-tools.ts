/** Tools of a turn that is being answered, as previews show them: one entry for each call, and what a running one said last. */
import type { GatewayEvents } from "../../contracts/events.ts";

export interface ShownTool {
  readonly tool: string;
  /** It runs, or waits for somebody to allow it. */
  readonly done: boolean;
  /** Newest line of what it says while it runs, for people; empty: nothing. */
  readonly progress: string;
}

export interface ShownTools {
  /** By call id, in the order they were begun. */
  readonly calls: Map<string, ShownTool>;
  /** The call that said something last. */
  speaker: string | null;
}

/** More calls of one turn are not shown. */
const MAX_CALLS = 200;
/** A line that fits on a phone. */
const MAX_PROGRESS_CHARS = 80;

export function noTools(): ShownTools {
  return { calls: new Map(), speaker: null };
}

export function noteTool(
  shown: ShownTools,
  { callId, tool, status, progress }: Pick<GatewayEvents["turn.tool"], "callId" | "tool" | "status" | "progress">,
): void {
  const { calls } = shown;
  const known = calls.get(callId);
  if (!known && calls.size >= MAX_CALLS) return;
  const said = progress === undefined ? (known?.progress ?? "") : short(progress);
  calls.set(callId, {
    tool,
    done: status !== "running" && status !== "pending",
    progress: status === "running" ? said : "",
  });
  if (progress !== undefined) shown.speaker = callId;
}

/** The running tool that spoke last; when none speaks any more the one that did, without its words. Null: none ever did. */
export function speakingTool({ calls, speaker }: ShownTools): ShownTool | null {
  const last = (speaker === null ? undefined : calls.get(speaker)) ?? null;
  if (last && last.progress !== "") return last;
  return [...calls.values()].findLast(({ progress }) => progress !== "") ?? last;
}

function short(text: string): string {
  return text.length <= MAX_PROGRESS_CHARS ? text : `${text.slice(0, MAX_PROGRESS_CHARS - 1).toWellFormed()}…`;
}
