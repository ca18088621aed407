/** A pool whose agents do what a test says, without a process. For the misbehaviour and timing that a real pi cannot be made to show. */
import { type Deferred, deferred } from "../kit/deferred.ts";
import type { AgentEvent, AgentLease, AgentPool, LeaseRequest, PromptInput } from "../contracts/agent.ts";

interface Prompted {
  readonly request: LeaseRequest;
  readonly input: PromptInput;
  /** Waits for something that is steered into the prompt, and takes it. */
  hear(): Promise<PromptInput>;
}

/** Called for each prompt; yields events and must end with done, failed or aborted, as the contract says. */
export type FakeAgent = (prompted: Prompted, signal: AbortSignal) => AsyncIterable<AgentEvent>;

export interface FakePool extends AgentPool {
  readonly prompted: readonly Prompted[];
  /** Leases that were taken and not given back. */
  open(): number;
}

export const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
export const SETTLED_BYTES = 123;

export function createFakePool(agent: FakeAgent, max = 2): FakePool {
  const prompted: Prompted[] = [];
  const closed = deferred<null>();
  let open = 0;
  return {
    prompted,
    open: () => open,
    async lease(request, signal): Promise<AgentLease> {
      signal.throwIfAborted();
      open++;
      const ear = createEar();
      return {
        pid: 1,
        prompt(input, until) {
          const asked = { request, input, hear: ear.hear };
          prompted.push(asked);
          return ear.until(agent(asked, until), closed.promise);
        },
        steer: (input) => ear.steer(input),
        settledBytes: async () => SETTLED_BYTES,
        stats: () => Promise.reject(new Error("a scripted agent has no stats")),
        compact: async () => ({ kind: "nothing" }),
        lost: NO_USAGE,
        async [Symbol.asyncDispose]() {
          open--;
        },
      };
    },
    models: async () => [],
    processes: () => [],
    hasOpen: () => false,
    prepare: async () => ({
      prepares: "nothing",
      because: "a scripted agent needs no process",
      over: Promise.resolve(),
    }),
    stats: () => ({
      starting: 0,
      idle: max - open,
      busy: open,
      waiting: 0,
      max,
      maxBecause: "the test says so",
      model: "fake/one",
      trouble: null,
    }),
    /** Ends what a script still waits for, as the end of a process would. */
    async [Symbol.asyncDispose]() {
      closed.resolve(null);
    },
  };
}

/** What is steered into a prompt waits here until the script hears it, or the prompt ends. */
function createEar() {
  let said: { readonly input: PromptInput; readonly how: Deferred<"taken" | "too_late"> } | null = null;
  let listening: Deferred<PromptInput> | null = null;
  let over = false;
  const meet = (): void => {
    if (!said || !listening) return;
    said.how.resolve("taken");
    listening.resolve(said.input);
    said = listening = null;
  };
  return {
    hear(): Promise<PromptInput> {
      const waiting = deferred<PromptInput>();
      listening = waiting;
      meet();
      return waiting.promise;
    },
    async steer(input: PromptInput): Promise<"taken" | "too_late"> {
      if (over) return "too_late";
      const how = deferred<"taken" | "too_late">();
      said = { input, how };
      meet();
      return how.promise;
    },
    async *until(stream: AsyncIterable<AgentEvent>, closed: Promise<null>): AsyncIterable<AgentEvent> {
      const events = stream[Symbol.asyncIterator]();
      for (;;) {
        const next = await Promise.race([events.next(), closed]);
        if (next?.done) return;
        const event: AgentEvent = next?.value ?? { type: "aborted", text: "", usage: NO_USAGE, model: "fake/one" };
        over = ["done", "failed", "aborted"].includes(event.type);
        if (over) said?.how.resolve("too_late");
        yield event;
        if (next === null) return;
      }
    },
  };
}

export function says(...words: readonly string[]): FakeAgent {
  return async function* () {
    for (const word of words) yield { type: "text", delta: word };
    yield { type: "done", text: words.join(""), usage: NO_USAGE, model: "fake/one" };
  };
}

export const dies: FakeAgent = async function* () {
  yield { type: "text", delta: "I was just" };
  yield {
    type: "failed",
    code: "agent_exited",
    detail: "exit 137",
    again: true,
    text: "I was just",
    usage: NO_USAGE,
    model: "fake/one",
  };
};

/** Streams a word, then waits until it is stopped. */
export const waits: FakeAgent = async function* (_prompted, signal) {
  yield { type: "text", delta: "Well" };
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  yield { type: "aborted", text: "Well", usage: NO_USAGE, model: "fake/one" };
};
