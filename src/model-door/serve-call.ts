/** One model call from its request to its end: asked for with the budget, sent, streamed back, measured. */
import type { ModelEndpoint } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import type { Usage } from "../contracts/chat.ts";
import type { Events } from "../contracts/events.ts";
import type { DoorRefusal, ModelCall } from "../contracts/model-door.ts";
import type { Clock } from "../kit/clock.ts";
import type { MuxStream } from "../kit/mux/mux.ts";
import { askedWaitMs } from "../kit/retry-after.ts";
import { type CallRequest, destinationOf } from "./call-request.ts";
import type { ProviderKeys } from "./keys.ts";
import type { createCooldowns } from "./cooldowns.ts";
import { askProvider, failureIn, failureOf, returnAnswer, returnFailure, say } from "./provider-call.ts";
import { createUsageScan, type TokenCount } from "./usage-scan.ts";

export interface CallDeps {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly budget: CallBudget;
  readonly keys: ProviderKeys;
}

/** What may be spent, asked before each call. */
export interface CallBudget {
  /** Null: the call may be made. */
  refusal(caller: Caller): DoorRefusal | null;
  /** It has cost this, and is not in the usage ledger yet: that is written when the turn ends. */
  spent(caller: Caller, usage: Usage): void;
}

/** What holds for every call of one lease. */
export interface CallWorld extends CallDeps {
  readonly cooldowns: ReturnType<typeof createCooldowns>;
  readonly endpoints: ReadonlyMap<string, ModelEndpoint>;
  readonly caller: Caller;
  /** How long a model may take to its first word, where another one can be asked. */
  readonly fallbackAfterMs: number;
  readonly over: AbortSignal;
  refused(because: DoorRefusal): void;
  /** A model failed, and the next one is asked. */
  fellBack(model: string, because: string): void;
}

interface WholeCall extends CallRequest {
  readonly body: Uint8Array<ArrayBuffer>;
}

type Outcome = Pick<ModelCall, "outcome" | "status"> & { readonly retries?: number };

const PER_MILLION = 1_000_000;
const MAX_BECAUSE_CHARS = 200;

/** Never rejects: what goes wrong is told to the process. */
export async function serveCall(world: CallWorld, call: MuxStream, request: WholeCall): Promise<void> {
  const destination = destinationOf(request, world.endpoints);
  if (typeof destination === "string") return say(call, 403, destination).catch(() => undefined); // nobody listens any more
  const { clock, events, budget, caller } = world;
  const { provider } = destination;
  const model = `${provider}/${request.model}`;
  const startedAt = clock.elapsed();
  const scan = createUsageScan();
  const spoken = new AbortController();
  let firstTokenMs: number | null = null;
  const read = (chunk: Uint8Array): void => {
    scan.push(chunk);
    if (firstTokenMs !== null || !scan.hasSpoken()) return;
    firstTokenMs = clock.elapsed() - startedAt;
    spoken.abort(new Error("it has spoken"));
  };
  const own = { call, request, provider, model, keys: destination.endpoint.keys, read, spoken };
  const { outcome, status, retries = 0 } = await makeCall(world, own);
  spoken.abort(new Error("the call is over"));
  const usage = usageOf(scan.tokens(), request.prices);
  if (usage.inputTokens + usage.outputTokens > 0) budget.spent(caller, usage);
  const { turnId, sessionKey } = caller;
  const ms = clock.elapsed() - startedAt;
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
    retries,
    usage,
  });
}

interface OwnCall {
  readonly call: MuxStream;
  readonly request: WholeCall;
  readonly provider: string;
  readonly model: string;
  readonly keys: ModelEndpoint["keys"];
  readonly spoken: AbortController;
  read(chunk: Uint8Array): void;
}

/** Never rejects. */
async function makeCall(world: CallWorld, own: OwnCall): Promise<Outcome> {
  const { call, model } = own;
  const late = new AbortController();
  const stop = AbortSignal.any([world.over, call.cut, late.signal]);
  try {
    return (await refused(world, own)) ?? (await ask(world, own, { stop, late }));
  } catch (error) {
    const because = failureOf(error);
    const stopped = world.over.aborted || call.cut.aborted;
    call.abort(because);
    if (stopped) return { outcome: "stopped", status: null };
    if (own.request.more && !own.spoken.signal.aborted) failed(world, own, { status: null, because, waitMs: null });
    return { outcome: "failed", status: null };
  } finally {
    if (own.spoken.signal.aborted) world.cooldowns.end(own.provider, model);
  }
}

/** Null: the gateway has nothing against it. */
async function refused({ budget, caller, cooldowns, ...world }: CallWorld, own: OwnCall): Promise<Outcome | null> {
  const { call, request, provider, model } = own;
  const refusal = budget.refusal(caller);
  if (refusal) {
    world.refused(refusal);
    await say(call, 402, refusal.say);
    return { outcome: "refused", status: null };
  }
  const cooldown = request.more ? cooldowns.of(provider, model) : null;
  if (!cooldown) return null;
  await say(call, 503, `${cooldown.name} is left alone for a while: ${cooldown.because}`, true);
  return { outcome: "refused", status: null };
}

async function ask(
  world: CallWorld,
  own: OwnCall,
  { stop, late }: { readonly stop: AbortSignal; readonly late: AbortController },
): Promise<Outcome> {
  const { call, request } = own;
  if (request.more) endIfSilent(world, own, late);
  for (let retries = 0; ; retries++) {
    const key = await world.keys.next(own.provider, own.keys);
    if (!key && own.keys.length > 0) return noKey(world, own);
    const reply = await askProvider(request, { body: request.body, key: key?.value ?? null }, stop);
    const failure = await failureIn(reply, key?.value ?? null);
    if (!failure) {
      await returnAnswer(call, reply, own.read);
      return { outcome: "answered", status: reply.status, retries };
    }
    const { status, headers, text, passing } = failure;
    const waitMs = askedWaitMs({ status, headers }, world.clock.now());
    if (retries <= own.keys.length && key?.failed(status, waitMs)) continue;
    if (request.more && passing) failed(world, own, { status, because: `${status} ${messageIn(text)}`.trim(), waitMs });
    await returnFailure(call, failure);
    return { outcome: "failed", status, retries };
  }
}

/** Every key is limited, refused or cannot be read. */
async function noKey(world: CallWorld, own: OwnCall): Promise<Outcome> {
  const because = `401 the gateway has no key of ${own.provider} that can be used now`;
  if (own.request.more) failed(world, own, { status: 401, because, waitMs: null });
  await say(own.call, 401, `The gateway has no key of ${own.provider} that can be used now.`, true);
  return { outcome: "failed", status: null };
}

/** A model that says nothing for too long counts as one that failed. */
function endIfSilent({ clock, fallbackAfterMs }: CallWorld, { spoken }: OwnCall, late: AbortController): void {
  clock.sleep(fallbackAfterMs, spoken.signal).then(
    () => late.abort(new Error(`no word within ${Math.round(fallbackAfterMs / 100) / 10} s`)),
    () => undefined, // it has spoken, or is over
  );
}

interface CallFailure {
  readonly status: number | null;
  readonly because: string;
  readonly waitMs: number | null;
}

function failed(world: CallWorld, { provider, model }: OwnCall, { status, because, waitMs }: CallFailure): void {
  world.cooldowns.begin({ provider, model, status, because, waitMs });
  world.fellBack(model, because);
}

/** The provider's own sentence in its error. */
function messageIn(text: string): string {
  const said = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1]?.replaceAll(/\\(["\\/])/g, "$1") ?? "";
  return said.replaceAll(/[\s\p{Cc}]+/gu, " ").slice(0, MAX_BECAUSE_CHARS);
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
