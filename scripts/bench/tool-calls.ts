/**
 * A tool call from inside a turn: real pi, real pipe, real gate with schema check and audit row in a real store. The tool itself does
 * nothing, so that what is measured is what every tool pays: from pi's "tool started" to its "tool ended". The same tool inside a bare pi
 * takes turns with it, because pi's own part in that is not small.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPool } from "../../src/agents/index.ts";
import { checkConfigText, readEnvironment } from "../../src/config/index.ts";
import type { AgentLease, Caller } from "../../src/contracts/agent.ts";
import type { InboxId, TurnId } from "../../src/contracts/ids.ts";
import type { Tool } from "../../src/contracts/tools/tool.ts";
import { testModelDoor } from "../../src/testing/test-model-door.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemIds } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createEvents } from "../../src/observe/index.ts";
import { openStore } from "../../src/store/index.ts";
import { entry } from "../../src/testing/messages.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { quietGate } from "../../src/testing/tools/quiet-gate.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { type BarePi, startBarePi } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, type Spread, spread, timed } from "./parts/stats.ts";

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const BRIDGE = join(import.meta.dir, "../../dist/bridge.js");

const nothing: Tool = {
  name: "do_nothing",
  label: "Nothing",
  description: "Does nothing.",
  parameters: {
    type: "object",
    properties: { text: { type: "string", maxLength: 100 } },
    required: ["text"],
    additionalProperties: false,
  },
  flags: { idempotent: true },
  timeoutMs: 10_000,
  execute: async () => ({ content: [{ type: "text", text: "done" }] }),
};

/** The same tool inside pi, without a gateway: what a call costs before anybody asks for it to be checked, recorded and run elsewhere. */
const OWN_TOOL = `export default (pi) => pi.registerTool({
  name: "do_nothing", label: "Nothing", description: "Does nothing.", promptSnippet: "Does nothing.",
  parameters: ${JSON.stringify(nothing.parameters)},
  execute: async () => ({ content: [{ type: "text", text: "done" }], details: undefined }),
});
`;

export interface ToolCallFigures {
  readonly bareMs: Spread;
  readonly pipeMs: Spread;
  readonly addedMs: { readonly p50: number; readonly p99: number };
}

/** Every stage at work: lists of each kind, and a limit that is counted. */
const LISTS = { allow: ["*"], deny: ["nothing_else"] };
const EVERY_RULE = {
  ...LISTS,
  roles: { owner: LISTS },
  origins: { chat: LISTS },
  agents: { default: LISTS },
  limits: { do_nothing: { calls: 100_000, perMs: 60_000, durable: true } },
  approvals: { ask: ["nothing_else"], never: [] },
};

/** Calls of one block, all in one turn, before the other side has its go. */
const BLOCK = 20;
/** Blocks before the code of both sides counts as used: they are processes that live for days. */
const WARM_UP = 15;
const NEVER = new AbortController().signal;

export async function measureToolCalls(blocks: number): Promise<ToolCallFigures> {
  await using provider = await startProviderProcess({ calls: { tool: nothing.name, times: BLOCK } });
  await using folder = await tempHome();
  await using over = await openPipe(provider.baseUrl);
  const own = join(folder.path, "own-tool.mjs");
  writeFileSync(own, OWN_TOOL);
  await using pi = await startBarePi(folder.path, provider.baseUrl, null, { extensions: [own] });
  const bare: number[] = [];
  const pipe: number[] = [];
  for (let block = 0; block < WARM_UP + blocks; block++) {
    if (block === WARM_UP) await Promise.all([pi.anew(), over.anew()]); // a turn costs more the more was said before it
    const [bareBlock, pipeBlock] = [await callBare(pi), await over.calls()];
    if (block <= WARM_UP) continue; // the first one finds its session
    bare.push(...bareBlock);
    pipe.push(...pipeBlock);
  }
  const [bareMs, pipeMs] = [spread(bare), spread(pipe)];
  const addedMs = { p50: round(pipeMs.p50 - bareMs.p50), p99: round(pipeMs.p99 - bareMs.p99) };
  return { bareMs, pipeMs, addedMs };
}

async function callBare(pi: BarePi): Promise<readonly number[]> {
  const samples: number[] = [];
  let began = 0;
  await pi.turn("go", (line) => {
    if (line.startsWith('{"type":"tool_execution_start"')) began = performance.now();
    if (line.startsWith('{"type":"tool_execution_end"')) samples.push(performance.now() - began);
  });
  if (samples.length !== BLOCK) throw new Error(`bare pi made ${samples.length} calls instead of ${BLOCK}`);
  return samples;
}

/** One process of a real pool, with its session open: turn after turn through the same lease's pipe. */
async function openPipe(baseUrl: string) {
  const home = await tempHome();
  const store = await openStore(DEPS, { home: home.path });
  const { config } = checkConfigText(JSON.stringify(benchConfig(baseUrl)), () => undefined);
  if (!config) throw new Error("the bench's own configuration is not valid");
  const events = createEvents(DEPS);
  const tools = quietGate({ ...DEPS, events, store: store.toolCalls }, [nothing], EVERY_RULE);
  const environment = readEnvironment(process.env);
  const modelDoor = testModelDoor({ ...DEPS, events }, { models: config.models, environment });
  const pool = await startPool(
    { ...DEPS, events, tools, modelDoor },
    {
      home: home.path,
      config: config.agent,
      models: config.models,
      environment,
      bridgePath: BRIDGE,
      bun: [process.execPath, "--no-env-file"],
      bunEnv: {},
    },
  );
  let conversation = 0;
  return {
    anew: async () => void conversation++,
    async calls(): Promise<readonly number[]> {
      const said = entry(`bench-${conversation}`, "go");
      const id = systemIds.next("msg") as InboxId;
      const turnId = systemIds.next("turn") as TurnId;
      const { sessionKey, agentId, message } = said;
      await store.inbox.accept({ ...said, id, message: { ...message, eventId: id } });
      const { sessionFile } = await store.turns.begin({ turnId, sessionKey, agentId, inboxIds: [id], at: 0 });
      const principal = message.sender.principal;
      const caller: Caller = { sessionKey, turnId, agentId, principal, role: "owner", origin: message.address };
      await using lease = await pool.lease(
        { caller, sessionFile: sessionFile.name, settledBytes: sessionFile.settledBytes },
        NEVER,
      );
      const samples = await callOver(lease);
      const settledBytes = await lease.settledBytes();
      const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
      const end = {
        turnId,
        attempt: 1,
        outcome: "done",
        reply: [],
        to: message.address,
        usage,
        model: "",
        at: 0,
      } as const;
      await store.turns.finish({ ...end, settledBytes });
      return samples;
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

async function callOver(lease: AgentLease): Promise<readonly number[]> {
  const samples: number[] = [];
  let began = 0;
  for await (const event of lease.prompt({ text: "go", images: [] }, NEVER)) {
    if (event.type === "tool_start") began = performance.now();
    if (event.type === "tool_end") samples.push(performance.now() - began);
    if (event.type === "failed") throw new Error(event.detail);
  }
  return samples;
}

/** From a program to the running gateway and back, on one connection that is kept. */
async function measureHttpCalls(calls: number): Promise<Spread> {
  await using gateway = await startGatewayProcess({ config: { agent: { pool: { min: 0, max: 1 } } } });
  const samples: number[] = [];
  const warmUp = BLOCK * WARM_UP;
  for (let n = 0; n < calls + warmUp; n++) {
    const body = JSON.stringify({ tool: "list_tasks", params: {}, callId: `bench-${n}` });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    samples.push(await timed(async () => (await gateway.fetch("/api/tools/call", init)).text()));
  }
  return spread(samples.slice(warmUp));
}

const MANY_TOOLS = 500;
const ROUNDS = 50;

/** What many tools cost once, and what each turn pays for finding out which of them it is offered. */
async function measureManyTools(): Promise<{ readonly registerMs: number; readonly perTurnMs: number }> {
  await using home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  const tools = Array.from({ length: MANY_TOOLS }, (_, n) => ({ ...nothing, name: `tool_${n}` }));
  const began = performance.now();
  const gate = quietGate({ ...DEPS, events: createEvents(DEPS), store: store.toolCalls }, tools, EVERY_RULE);
  const registerMs = performance.now() - began;
  const { sessionKey, agentId, message } = entry("bench", "go");
  const who = { principal: message.sender.principal, role: "owner", origin: message.address } as const;
  const caller: Caller = { sessionKey, turnId: "turn_bench" as TurnId, agentId, ...who };
  const samples: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) samples.push(await timed(() => gate.offered(caller, true)));
  return { registerMs: round(registerMs), perTurnMs: spread(samples).p50 };
}

export const toolCalls: Scenario = {
  name: "tool-calls",
  async measure(scale) {
    const { bareMs, pipeMs, addedMs } = await measureToolCalls(Math.max(3, Math.round(15 * scale)));
    const http = await measureHttpCalls(Math.max(50, Math.round(300 * scale)));
    const many = await measureManyTools();
    return [
      { what: "tool call inside bare pi, p50", value: bareMs.p50, unit: "ms" },
      { what: "tool call inside bare pi, p99", value: bareMs.p99, unit: "ms" },
      {
        what: "tool call over the pipe, policy and audit included, p50",
        value: pipeMs.p50,
        unit: "ms",
        ...atMost(0.8),
      },
      { what: "tool call over the pipe, policy and audit included, p99", value: pipeMs.p99, unit: "ms", ...atMost(5) },
      { what: "  added by the gateway, p50", value: addedMs.p50, unit: "ms" },
      { what: "  added by the gateway, p99", value: addedMs.p99, unit: "ms" },
      { what: "tool call over HTTP, p50", value: http.p50, unit: "ms", ...atMost(1) },
      { what: "500 tools, at start", value: many.registerMs, unit: "ms", ...atMost(300) },
      { what: "500 tools, per turn", value: many.perTurnMs, unit: "ms", ...atMost(5) },
    ];
  },
};
