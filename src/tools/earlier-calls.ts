/** What an earlier call with the same id means for this one: told again, refused, or waited for while another gateway runs it. */
import type { EarlierCall } from "../contracts/store/tool-calls.ts";
import type { ToolOutcome, ToolRequest } from "../contracts/tools/tool.ts";
import { replayOf, scopeOf } from "./audit/record.ts";
import { conflict, type Parts } from "./parts.ts";
import type { Shared } from "./stages/once.ts";
import { refuse } from "./stages/stage.ts";

export interface FreshCall {
  readonly request: ToolRequest;
  readonly hash: string;
  readonly shared: Shared;
}

type Asked = Omit<FreshCall, "shared">;

/** Null: this one may run. */
export async function judgeEarlier(parts: Pick<Parts, "store">, asked: Asked): Promise<ToolOutcome | null> {
  const earlier = await find(parts, asked);
  return earlier && judge(earlier, asked);
}

const FIRST_LOOK_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** Whoever has waited so long for a call of another gateway is told that it goes on. */
const WAIT_MS = 30_000;

/**
 * The same, after the end of a call that runs at another gateway. Its row says how it ended; when its gateway dies, the one that takes over
 * writes that nobody knows.
 */
export async function afterEarlier(parts: Parts, call: FreshCall, signal: AbortSignal): Promise<ToolOutcome | null> {
  const { clock } = parts;
  const { request, shared } = call;
  const since = clock.elapsed();
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const earlier = await find(parts, call);
    if (!earlier || !goesOnElsewhere(earlier, call)) return earlier && judge(earlier, call);
    if (earlier.status === "pending")
      shared.early({ kind: "pending", code: "approval_pending", message: asks(request) });
    if (clock.elapsed() - since >= WAIT_MS)
      shared.early({ kind: "pending", code: "background", message: goesOn(request) });
    try {
      await clock.sleep(pause, signal);
    } catch {
      return { kind: "failed", code: "cancelled", message: "The call was cancelled. Another gateway goes on with it." };
    }
  }
}

function find({ store }: Pick<Parts, "store">, { request }: Asked): Promise<EarlierCall | null> {
  return store.earlier(scopeOf(request.context), request.callId);
}

function goesOnElsewhere({ elsewhere, status, paramsHash }: EarlierCall, { hash }: Asked): boolean {
  return elsewhere && paramsHash === hash && (status === "running" || status === "pending");
}

function judge(earlier: EarlierCall, { request, hash }: Asked): ToolOutcome | null {
  // an answer of the owner holds for exactly the call that was shown, and nothing has run under this id
  if (earlier.status === "blocked") return earlier.paramsHash === hash ? earlier.reply : null;
  if (earlier.paramsHash !== hash) return conflict();
  if (earlier.status === "success" || earlier.status === "error") return replayOf(earlier);
  if (earlier.status === "unknown" && earlier.idempotent) return null;
  return refuse(
    "outcome_unknown",
    `The gateway stopped while ${request.tool} ran. Nobody knows whether it took effect, so it was not run again. Check before you repeat it.`,
  );
}

function asks({ tool }: ToolRequest): string {
  return `${tool} waits for the owner's approval: it was called with this id at another gateway.`;
}

function goesOn({ tool }: ToolRequest): string {
  return `${tool} goes on at another gateway, where it was called with this id. Call it with the same id again to get its result.`;
}
