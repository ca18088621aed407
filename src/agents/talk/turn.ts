/** One prompt from the question to its single last event: watches for silence, stops on request, survives the death of the process. */
import type { AgentEvent, PromptInput } from "../../contracts/agent.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { createEventQueue } from "./event-queue.ts";
import { refused, watchLimits } from "./turn-limits.ts";
import type { Ended } from "../process/process.ts";
import { inputFields } from "./prompt-fields.ts";
import type { PiEvent } from "./protocol.ts";
import { createProviderWaits } from "./provider-waits.ts";
import { createRun, type Ending } from "./run.ts";
import { createSteering, type Steered, type Steering } from "./steering.ts";
import type { ReadyAgent } from "../setup/start.ts";

const ABORT_MS = 5_000;

export interface Turn {
  readonly events: AsyncGenerator<AgentEvent, void, void>;
  /** Resolves when nothing more will happen; false when the process can no longer be trusted. Never rejects. */
  readonly over: Promise<boolean>;
  /** Says something into the running prompt. */
  steer(input: PromptInput): Promise<Steered>;
  /** Asks pi to stop; kills it when it does not. */
  halt(): void;
}

interface TurnDeps {
  readonly clock: Clock;
  readonly log: Log;
}

interface TurnOptions {
  readonly input: PromptInput;
  readonly model: string;
  readonly silenceMs: number;
  /** How long a provider may ask to wait. */
  readonly providerWaitMs: number;
  /** Processor time that its programs may use. */
  readonly cpuSeconds: number;
}

export function startTurn(deps: TurnDeps, agent: ReadyAgent, options: TurnOptions, signal: AbortSignal): Turn {
  const { clock } = deps;
  const { process, pipe } = agent;
  const run = createRun(options.model);
  const queue = createEventQueue();
  const over = deferred<boolean>();
  const accepted = deferred<void>();
  const finished = new AbortController();
  const steering = createSteering(deps, process, accepted.promise);
  const waits = createProviderWaits(clock, options.providerWaitMs);
  let stopCause: Ending | null = null;
  let lastSign = clock.elapsed();

  const finish = (ending: Ending, trusted: boolean): void => {
    if (finished.signal.aborted) return;
    finished.abort(new Error("the turn is over"));
    steering.close();
    const last = ofGateway(agent, waits.told(run.end(stopCause ?? ending)));
    queue.push(last.type === "failed" ? { ...last, detail: agent.redact(last.detail) } : last);
    queue.close();
    void mayServeOn(trusted, last, steering).then(over.resolve);
  };

  const halt = (cause: Ending, urgent = false): void => {
    if (stopCause || finished.signal.aborted) return;
    stopCause = cause;
    run.cutOff();
    void stopPolitely({ ...deps, steering, urgent }, agent, accepted.promise, finished.signal).then((stopped) => {
      if (stopped) return;
      endBadly(deps, agent);
      finish(cause, false);
    });
  };

  const take = (event: PiEvent): void => {
    if (finished.signal.aborted) return;
    const news = waits.take(event);
    lastSign = Math.max(clock.elapsed(), waits.quietUntil());
    if (event.type === "user_said" && !steering.userSaid()) return; // the prompt itself
    if (news === "give_up") return giveUp(agent, finished.signal);
    if (news !== "pass") queue.push({ type: "waiting", ...news, model: run.model() });
    for (const one of run.apply(toldToPipe(pipe, event))) queue.push(one);
    if (event.type === "settled") finish({ because: "settled" }, true);
  };

  const begin = async (): Promise<void> => {
    const answer = await ask(agent, options.input, finished.signal);
    lastSign = clock.elapsed();
    if (!answer.ok) finish(refused(answer.error), true);
    accepted.resolve();
  };

  const listening = [process.onEvent(take), process.onEnded((ended) => finish(died(ended), false))];
  const stopped = () => halt({ because: "stopped" });
  const watch = (): void => {
    signal.addEventListener("abort", stopped, { once: true });
    void begin().catch(() => undefined); // the process ended, or the turn did; both are handled where they are noticed
    const quietMs = (): number => (run.toolsRunning() > 0 ? 0 : quietFor(clock, lastSign, agent));
    watchLimits({ ...options, clock, agent, quietMs, run }, halt, finished.signal);
  };
  if (signal.aborted) finish({ because: "stopped" }, true);
  else watch();
  background(deps.log, "listeners of a turn stay behind", async () => {
    await over.promise;
    for (const one of listening) one[Symbol.dispose]();
    signal.removeEventListener("abort", stopped);
  });
  return { events: queue.events(), over: over.promise, halt: stopped, steer: steering.steer };
}

/** What the gateway knows about the calls: one that it refused looks to pi like an error of the provider, and another model like the first. */
function ofGateway({ door }: ReadyAgent, last: AgentEvent): AgentEvent {
  const failed = last.type === "done" ? door.failed() : null;
  if (last.type === "done" && failed && failed.model !== last.model) return { ...last, failed };
  const refusal = last.type === "failed" ? door.refusal() : null;
  return last.type === "failed" && refusal
    ? { ...last, code: refusal.code, detail: refusal.detail, say: refusal.say }
    : last;
}

/** pi tries again by itself, and would be refused again: the failure it has told is the last word. */
function giveUp({ process }: ReadyAgent, finished: AbortSignal): void {
  process.request({ type: "abort_retry" }, finished).catch(() => undefined); // the turn is over
}

/** The event as people are to see it: the model may read other words about a call than pi's. */
function toldToPipe(pipe: ReadyAgent["pipe"], event: PiEvent): PiEvent {
  if (event.type === "tool_started") pipe.began(event);
  if (event.type === "tool_updated") pipe.updated(event.callId, event.chars);
  if (event.type !== "tool_ended") return event;
  const output = pipe.ended(event.callId, event);
  return output === null ? event : { ...event, output };
}

function endBadly({ log }: TurnDeps, { process }: ReadyAgent): void {
  log.warn("agent did not stop when asked; ending the process", { pid: process.pid });
  void process.stop(true);
}

/** A person who was asked something takes their time, like a tool. */
function quietFor(clock: Clock, lastSign: number, { pipe }: ReadyAgent): number {
  return clock.elapsed() - Math.max(lastSign, pipe.asking.lastAsked());
}

/** A tool that has just come or gone counts from the first request on. People can be asked until the turn is over. */
async function ask({ process, pipe, templates }: ReadyAgent, input: PromptInput, signal: AbortSignal) {
  pipe.asking.listen();
  signal.addEventListener("abort", pipe.asking.hush, { once: true });
  await pipe.settled();
  if (input.realTexts) await pipe.showReal(input.realTexts, signal);
  if (input.instructions) await pipe.instruct(input.instructions, signal);
  return process.request({ type: "prompt", ...inputFields(input, templates) }, signal);
}

/** Never rejects: a queue that does not say whether it is empty is not. */
async function mayServeOn(trusted: boolean, last: AgentEvent, steering: Steering): Promise<boolean> {
  return trusted && wroteWhatItKnows(last) && (await steering.emptied());
}

/** What a process could not write down it still remembers, and would build on it; then the next turn must begin from the file. */
function wroteWhatItKnows(last: AgentEvent): boolean {
  return last.type !== "failed" || last.code !== "agent_disk_full";
}

/** pi answers `abort` when it is idle again. One that arrives before the run has begun would miss it, hence the wait for `accepted`. Never rejects. */
async function stopPolitely(
  { clock, steering, urgent }: TurnDeps & { readonly steering: Steering; readonly urgent: boolean },
  { process, pipe }: ReadyAgent,
  accepted: Promise<void>,
  finished: AbortSignal,
): Promise<boolean> {
  if (urgent) return false; // what its programs do meanwhile does harm
  pipe.asking.hush(); // or pi would wait for a person before it stops
  pipe.stopCalls(finished);
  using limit = clock.deadline(ABORT_MS, () => new Error("the abort was not answered"));
  try {
    await orAborted(accepted, limit.signal);
    await orAborted(steering.answered(), limit.signal); // or it would arrive behind the clearing
    await process.request({ type: "clear_queue" }, limit.signal);
    await process.request({ type: "abort" }, limit.signal);
    if (finished.aborted) return true;
    await orAborted(
      new Promise((resolve) => finished.addEventListener("abort", resolve, { once: true })),
      limit.signal,
    );
    return true;
  } catch {
    return finished.aborted; // too late, or the process ended; whether the turn has ended says which
  }
}

function died(ended: Ended): Ending {
  const code = ended.because === "garbled" ? "agent_garbled" : "agent_exited";
  return { because: "failed", code, detail: ended.detail, again: true };
}
