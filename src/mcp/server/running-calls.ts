/**
 * Calls that may ask their client for something before they end. MCP answers such a call with what is missing, and the client asks again with
 * it: in between, the call waits here, under its id and for its own caller only, until its time is over. Nothing of it survives a restart.
 */
import type { Principal } from "../../contracts/ids.ts";
import type { ClientAnswer, ClientInput } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import { type Deferred, deferred } from "../../kit/deferred.ts";
import { isObject } from "../../kit/json.ts";

/** A client that has been told what is missing comes back within this. Longer than a person has to answer an elicitation. */
export const MAX_PARKED_MS = 11 * 60_000;
export const MAX_CALLS = 500;
/** Of these, for one person: nobody takes all of them. */
export const MAX_CALLS_EACH = 100;

/** Something that a call wants from its client. */
interface WantedInput {
  /** Unique within the call. */
  readonly name: string;
  readonly request: ClientInput;
  /** False: this is no answer to it, and it is asked for again. */
  take(answer: ClientAnswer): boolean;
}

/** What a call does with its client while it runs. */
export interface CallInputs {
  /** Asked for until it is answered, or disposed. */
  want(input: WantedInput): Disposable;
  /** Aborts when the caller has gone, has cancelled the call, or did not come back. */
  readonly signal: AbortSignal;
}

export type CallStep<T> =
  | { readonly kind: "ended"; readonly value: T }
  /** `round`: how many times it has asked. */
  | { readonly kind: "asks"; readonly requests: Readonly<Record<string, ClientInput>>; readonly round: number };

export interface RunningCall<T> {
  readonly id: string;
  /** Until it has ended, or asks for something that is not among the answers. Rejects as the call does. */
  next(answers: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallStep<T>>;
  /** Ends it: its client cannot give what it asks for, or has gone. */
  cancel(reason: unknown): void;
}

export interface RunningCalls extends Disposable {
  /** `full`: so many run or wait that no more are begun. `taken`: another call has this id. */
  begin<T>(call: NewCall<T>): RunningCall<T> | "full" | "taken";
  /** The call that waits under this id; null: there is none, any more, or it is somebody else's. */
  find<T>(id: string, of: CallOwner): RunningCall<T> | null;
  /** Ends the calls of this person. */
  end(principal: Principal): void;
}

interface CallOwner {
  readonly principal: Principal;
  /** What was asked for, with its parameters: an answer for one call is none for another. */
  readonly of: string;
}

interface NewCall<T> extends CallOwner {
  readonly id: string;
  run(inputs: CallInputs): Promise<T>;
}

interface Entry extends CallOwner {
  readonly call: RunningCall<unknown>;
}

export function createRunningCalls(clock: Clock): RunningCalls {
  const running = new Map<string, Entry>();
  return {
    begin<T>({ id, principal, of, run }: NewCall<T>) {
      if (running.has(id)) return "taken";
      const theirs = [...running.values()].filter((one) => one.principal === principal);
      if (running.size >= MAX_CALLS || theirs.length >= MAX_CALLS_EACH) return "full";
      const call = startCall(clock, { id, run, over: () => void running.delete(id) });
      running.set(id, { principal, of, call });
      return call;
    },
    find<T>(id: string, owner: CallOwner) {
      const found = running.get(id);
      const isTheirs = found?.principal === owner.principal && found.of === owner.of;
      return isTheirs ? (found.call as RunningCall<T>) : null; // the same kind of request began it
    },
    end(principal) {
      for (const entry of [...running.values()])
        if (entry.principal === principal) entry.call.cancel(new Error("the credential has ended"));
    },
    [Symbol.dispose]() {
      for (const { call } of [...running.values()]) call.cancel(new Error("the gateway is stopping"));
    },
  };
}

interface Start<T> {
  readonly id: string;
  run(inputs: CallInputs): Promise<T>;
  /** Nobody can come back for it any more. */
  over(): void;
}

function startCall<T>(clock: Clock, { id, run, over }: Start<T>): RunningCall<T> {
  const stop = new AbortController();
  const wanted = new Map<string, WantedInput>();
  let changed: Deferred<void> = deferred();
  let ended: { readonly result: Promise<T> } | null = null;
  const parking = createParking(clock, (reason) => call.cancel(reason));
  let round = 0;
  const wake = (): void => {
    const before = changed;
    changed = deferred();
    before.resolve();
  };
  const call: RunningCall<T> = {
    id,
    cancel(reason) {
      parking.end();
      stop.abort(reason);
      over();
    },
    async next(answers, signal) {
      parking.end();
      const left = new Map(Object.entries(answers));
      const leave = (): void => call.cancel(signal.reason);
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      try {
        for (;;) {
          const change = changed.promise; // taken before the look: what changes meanwhile is noticed
          if (ended) {
            over();
            return { kind: "ended", value: await ended.result };
          }
          giveAnswers(wanted, left);
          if (wanted.size > 0 && !stop.signal.aborted) {
            round++;
            parking.begin();
            return { kind: "asks", requests: requestsOf(wanted), round };
          }
          await change;
        }
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
  };
  const result = run({
    signal: stop.signal,
    want(input) {
      wanted.set(input.name, input);
      wake();
      return {
        [Symbol.dispose]() {
          if (wanted.get(input.name) === input) wanted.delete(input.name);
          wake();
        },
      };
    },
  });
  const settle = (): void => {
    ended = { result };
    wake();
  };
  result.then(settle, settle);
  return call;
}

/** The time between two rounds, which has a limit. */
function createParking(clock: Clock, expired: (reason: unknown) => void) {
  let limit: Disposable | null = null;
  return {
    begin(): void {
      const deadline = clock.deadline(MAX_PARKED_MS, () => new Error("the client did not come back"));
      deadline.signal.addEventListener("abort", () => expired(deadline.signal.reason), { once: true });
      limit = deadline;
    },
    end(): void {
      limit?.[Symbol.dispose]();
      limit = null;
    },
  };
}

/** Each answer is used once: what did not fit is not tried again with the next question of that name. */
function giveAnswers(wanted: Map<string, WantedInput>, answers: Map<string, unknown>): void {
  for (const [name, input] of wanted) {
    const answer = answers.get(name);
    answers.delete(name);
    if (isObject(answer) && fits(input.request.method, answer) && input.take(answer)) wanted.delete(name);
  }
}

/** The least that an answer to such a request has. */
function fits(method: ClientInput["method"], answer: ClientAnswer): boolean {
  if (method === "elicitation/create") return typeof answer["action"] === "string";
  return method === "roots/list" ? Array.isArray(answer["roots"]) : "content" in answer;
}

function requestsOf(wanted: ReadonlyMap<string, WantedInput>): Readonly<Record<string, ClientInput>> {
  return Object.fromEntries([...wanted].map(([name, { request }]) => [name, request]));
}
