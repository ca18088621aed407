/** One model call from its request to its end: asked for with the budget, sent, streamed back, measured. */
import type { ModelEndpoint } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { Usage } from "../contracts/chat.ts";
import type { Events } from "../contracts/events.ts";
import type { DoorRefusal, ModelCall } from "../contracts/model-door.ts";
import type { Clock } from "../kit/clock.ts";
import type { MuxStream } from "../kit/mux/mux.ts";
import { type CallRequest, destinationOf } from "./call-request.ts";
import { askProvider, MAX_REQUEST_BYTES, readRequest, returnAnswer, say } from "./provider-call.ts";
import { createUsageScan, type TokenCount } from "./usage-scan.ts";

export interface CallDeps {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly budget: CallBudget;
}

/** What may be spent, asked before each call. */
export interface CallBudget {
  /** Null: the call may be made. */
  refusal(caller: Caller): DoorRefusal | null;
  /** It has cost this, and is not in the usage ledger yet: that is written when the turn ends. */
  spent(caller: Caller, usage: Usage): void;
}

interface Situation {
  readonly endpoints: ReadonlyMap<string, ModelEndpoint>;
  readonly caller: Caller;
  readonly stop: AbortSignal;
  refused(because: DoorRefusal): void;
}

type Outcome = Pick<ModelCall, "outcome" | "status">;

const PER_MILLION = 1_000_000;

/** Never rejects: what goes wrong is told to the process. */
export async function serveCall(
  deps: CallDeps,
  call: MuxStream,
  request: CallRequest,
  situation: Situation,
): Promise<void> {
  const { clock, events, budget } = deps;
  const { caller, stop } = situation;
  const startedAt = clock.elapsed();
  const scan = createUsageScan();
  let provider = "";
  let firstTokenMs: number | null = null;
  let ended: Outcome = { outcome: "failed", status: null };
  const read = (chunk: Uint8Array): void => {
    scan.push(chunk);
    if (firstTokenMs === null && scan.hasSpoken()) firstTokenMs = clock.elapsed() - startedAt;
  };
  try {
    const destination = destinationOf(request, situation.endpoints);
    if (typeof destination === "string") return await say(call, 403, destination);
    provider = destination.provider;
    ended = await makeCall(budget, call, { ...situation, request, key: destination.endpoint.key, read });
  } catch (error) {
    ended = { ...ended, outcome: stop.aborted ? "stopped" : "failed" };
    call.abort(error instanceof Error ? error.message : "the call failed");
  } finally {
    const usage = usageOf(scan.tokens(), request.prices);
    if (provider !== "") {
      if (usage.inputTokens + usage.outputTokens > 0) budget.spent(caller, usage);
      const { turnId, sessionKey } = caller;
      const model = `${provider}/${request.model}`;
      const ms = clock.elapsed() - startedAt;
      const { outcome, status } = ended;
      events.emit("model.call", {
        turnId,
        sessionKey,
        provider,
        model,
        startedAt,
        ms,
        firstTokenMs,
        outcome,
        status,
        usage,
      });
    }
  }
}

interface Making extends Situation {
  readonly request: CallRequest;
  readonly key: ModelEndpoint["key"];
  read(chunk: Uint8Array): void;
}

async function makeCall(budget: CallBudget, call: MuxStream, making: Making): Promise<Outcome> {
  const refusal = budget.refusal(making.caller);
  if (refusal) {
    making.refused(refusal);
    await say(call, 402, refusal.say);
    return { outcome: "refused", status: null };
  }
  const body = await readRequest(call);
  if (!body) {
    await say(call, 413, `A call has at most ${MAX_REQUEST_BYTES} bytes.`);
    return { outcome: "refused", status: null };
  }
  const key = making.key?.reveal() ?? null;
  const reply = await askProvider(making.request, { body, key }, making.stop);
  await returnAnswer(call, reply, { key, read: making.read });
  return { outcome: reply.ok ? "answered" : "failed", status: reply.status };
}

function usageOf({ input, cacheRead, cacheWrite, output }: TokenCount, prices: CallRequest["prices"]): Usage {
  const cost =
    input * prices.input + cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite + output * prices.output;
  return {
    inputTokens: input + cacheRead + cacheWrite,
    ...(cacheRead > 0 ? { cachedTokens: cacheRead } : {}),
    outputTokens: output,
    costUsd: cost / PER_MILLION,
  };
}
