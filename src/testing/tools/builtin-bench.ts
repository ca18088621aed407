/** The built-in tools on a real store, called through the real gate, for whoever a test says. */
import type { AgentId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../contracts/tools/tool.ts";
import type { Ids } from "../../kit/ids.ts";
import { systemIds } from "../../kit/ids.ts";
import { createEvents } from "../../observe/index.ts";
import { quietGate } from "./quiet-gate.ts";
import { row, turn } from "../contracts/store/store-world.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { realStore } from "../real-store.ts";
import { recordingLog, type RecordingLog } from "../recording-log.ts";
import { waitForEnd } from "../wait-for.ts";

interface BenchDeps {
  readonly clock: FakeClock;
  readonly ids: Ids;
  readonly log: RecordingLog;
  readonly store: Store;
  readonly home: string;
}

export interface BuiltinBench extends BenchDeps, AsyncDisposable {
  call(tool: string, params: unknown, who?: Partial<ToolContext> & { readonly callId?: string }): Promise<ToolOutcome>;
  /** The text of an answer that went well. */
  text(tool: string, params: unknown, who?: Partial<ToolContext>): Promise<string>;
  json(tool: string, params: unknown, who?: Partial<ToolContext>): Promise<Record<string, unknown>>;
}

export const BENCH_CONTEXT: ToolContext = {
  sessionKey: "agent:default:webchat:dm:a" as SessionKey,
  turnId: "t1" as TurnId,
  agentId: "default" as AgentId,
  principal: "operator" as Principal,
  role: "owner",
  origin: { channel: "webchat", account: "main", chat: "42" },
  stats: async () => ({
    model: "fake/one",
    thinking: "off",
    messages: 15,
    toolCalls: 1,
    inputTokens: 85_000,
    outputTokens: 12_000,
    costUsd: 0.1234,
    contextPercent: 42.3,
    contextWindow: 200_000,
  }),
};

/** A turn `t1` is running in the session of BENCH_CONTEXT. */
export async function builtinBench(tools: (deps: BenchDeps) => readonly Tool[]): Promise<BuiltinBench> {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const { store, home } = real;
  await store.inbox.accept(row("in1", "a"));
  await store.turns.begin(turn("t1", "a", ["in1"]));
  const deps: BenchDeps = { clock, ids: systemIds, log: recordingLog(), store, home };
  const events = createEvents(deps);
  const all = tools(deps);
  const limits = Object.fromEntries(all.map(({ name }) => [name, { calls: 10_000, perMs: 60_000 }]));
  const gate = quietGate({ ...deps, events, store: store.toolCalls }, all, { allow: ["*", "gateway"], limits });
  const signal = new AbortController().signal;
  let calls = 0;
  const bench: BuiltinBench = {
    ...deps,
    call(tool, params, { callId = `call-${++calls}`, ...who } = {}) {
      const context = { ...BENCH_CONTEXT, ...who };
      const outcome = waitForEnd(
        `the end of ${tool}`,
        gate.call({ tool, callId, params, path: "pipe", context }, signal),
      );
      outcome.catch(() => undefined); // whoever waits for it is told; one that a test leaves open fails nothing
      return outcome;
    },
    async text(tool, params, who) {
      const outcome = await bench.call(tool, params, who);
      const [block] = outcome.kind === "ok" ? outcome.result.content : [];
      if (block?.type !== "text") throw new Error(`${tool} did not answer: ${JSON.stringify(outcome)}`);
      return block.text;
    },
    json: async (tool, params, who) => JSON.parse(await bench.text(tool, params, who)) as Record<string, unknown>,
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
  return bench;
}
