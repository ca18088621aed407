/** A pool whose agents do what a test says, without a process. For the misbehaviour and timing that a real pi cannot be made to show. */
import type { AgentEvent, AgentLease, AgentPool, LeaseRequest, PromptInput } from "../contracts/agent.ts";

export interface Prompted {
  readonly request: LeaseRequest;
  readonly input: PromptInput;
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
  let open = 0;
  return {
    prompted,
    open: () => open,
    async lease(request, signal): Promise<AgentLease> {
      signal.throwIfAborted();
      open++;
      return {
        pid: 1,
        prompt(input, until) {
          prompted.push({ request, input });
          return agent({ request, input }, until);
        },
        settledBytes: async () => SETTLED_BYTES,
        async [Symbol.asyncDispose]() {
          open--;
        },
      };
    },
    stats: () => ({ starting: 0, idle: max - open, busy: open, waiting: 0, max, model: "fake/one", trouble: null }),
    async [Symbol.asyncDispose]() {},
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
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  yield { type: "aborted", text: "Well", usage: NO_USAGE, model: "fake/one" };
};
