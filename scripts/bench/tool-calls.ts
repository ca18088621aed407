/**
 * A tool call from inside a turn: real pi, real pipe, real gate with schema check and audit row in a real store. The tool itself does
 * nothing, so that what is measured is what every tool pays: from pi's "tool started" to its "tool ended".
 */
import { join } from "node:path";
import { startPool } from "../../src/agents/index.ts";
import { checkConfigText, readEnvironment } from "../../src/config/index.ts";
import type { Caller } from "../../src/contracts/agent.ts";
import type { AgentId, InboxId, TurnId } from "../../src/contracts/ids.ts";
import type { Events } from "../../src/contracts/events.ts";
import type { ToolCallStore } from "../../src/contracts/store.ts";
import type { Tool } from "../../src/contracts/tools/tool.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemIds } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createEvents, createRedactor } from "../../src/observe/index.ts";
import { openStore } from "../../src/store/index.ts";
import { says, startFakeProvider } from "../../src/testing/fake-provider.ts";
import { entry } from "../../src/testing/messages.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { createToolGate, createToolRegistry, noApprovals, noHooks, type ToolPolicy } from "../../src/tools/index.ts";
import { round, type Spread, spread, timed } from "./stats.ts";
import { benchConfig } from "./turns.ts";
import { ensureDist } from "../bundle.ts";

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const WARM_UP = 20;

const MANY_TOOLS = 500;
const ROUNDS = 50;

/** Every stage at work: lists of each kind, a limit that is counted, redaction of what is stored. */
function fullGate(store: ToolCallStore, tools: readonly Tool[], events: Events) {
  const registry = createToolRegistry(DEPS);
  for (const tool of tools) registry.register(tool, "bench");
  const lists = { allow: ["*"], deny: ["nothing_else"] };
  const policy: ToolPolicy = {
    ...lists,
    ...{ roles: { owner: lists }, origins: { chat: lists }, agents: { default: lists } },
    limits: { do_nothing: { calls: 100_000, perMs: 60_000, durable: true } },
    approvals: { ask: ["nothing_else"], never: [] },
    ...{ maxPerSession: 16, maxTotal: 128 },
    profile: () => "chat",
  };
  const { scrub } = createRedactor();
  const guards = {
    policy: () => policy,
    hooks: noHooks,
    approvals: noApprovals,
    scrub,
    backgroundEnded: () => undefined,
  };
  return createToolGate({ ...DEPS, ...guards, events, registry, store });
}

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

/** From a program to the running gateway and back, on one connection that is kept. The tool answers at once that no agent is calling. */
export async function measureHttpToolCalls(calls: number): Promise<Spread> {
  await using gateway = await startGatewayProcess({ config: { agent: { pool: { min: 0, max: 1 } } } });
  const samples: number[] = [];
  for (let n = 0; n < calls + WARM_UP; n++) {
    const body = JSON.stringify({ tool: "session_status", params: {}, callId: `bench-${n}` });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    samples.push(await timed(async () => (await gateway.fetch("/api/tools/call", init)).text()));
  }
  return spread(samples.slice(WARM_UP));
}

export interface ManyToolsFigures {
  readonly registerMs: number;
  readonly perTurnMs: number;
}

/** What many tools cost once, and what each turn pays for finding out which of them it is offered. */
export async function measureManyTools(): Promise<ManyToolsFigures> {
  await using home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  const tools = Array.from({ length: MANY_TOOLS }, (_, n) => ({ ...nothing, name: `tool_${n}` }));
  const began = performance.now();
  const gate = fullGate(store.toolCalls, tools, createEvents(DEPS));
  const registerMs = performance.now() - began;
  const said = entry("bench", "go");
  const caller: Caller = {
    ...{ sessionKey: said.sessionKey, turnId: "turn_bench" as TurnId, agentId: "default" as AgentId },
    ...{ principal: said.message.sender.principal, role: "owner", origin: said.message.address },
  };
  const samples = Array.from({ length: ROUNDS }, () => {
    const from = performance.now();
    gate.specs(caller);
    return performance.now() - from;
  });
  return { registerMs: round(registerMs), perTurnMs: spread(samples).p50 };
}

export async function measureToolCalls(calls: number): Promise<Spread> {
  await using provider = await startFakeProvider((_request, index) =>
    index < calls + WARM_UP ? { kind: "tools", calls: [{ name: "do_nothing", input: { text: "hi" } }] } : says("done"),
  );
  await using home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  const { config } = checkConfigText(JSON.stringify(benchConfig(provider.baseUrl)), () => undefined);
  if (!config) throw new Error("the bench's own configuration is not valid");
  const events = createEvents(DEPS);
  const tools = fullGate(store.toolCalls, [nothing], events);
  const options = {
    home: home.path,
    config: config.agent,
    models: config.models,
    environment: readEnvironment(process.env),
  };
  await using pool = await startPool(
    { ...DEPS, events, tools },
    { ...options, bridgePath: join(import.meta.dir, "../../dist/bridge.js") },
  );

  const said = entry("bench", "go");
  const caller: Caller = {
    sessionKey: said.sessionKey,
    turnId: "turn_bench" as TurnId,
    agentId: "default" as AgentId,
    principal: said.message.sender.principal,
    role: "owner",
    origin: said.message.address,
  };
  await store.inbox.accept({ ...said, id: "msg_bench" as InboxId });
  await store.turns.begin({
    turnId: caller.turnId,
    sessionKey: said.sessionKey,
    agentId: caller.agentId,
    inboxIds: ["msg_bench" as InboxId],
    at: 0,
  });
  const never = new AbortController().signal;
  await using lease = await pool.lease({ caller, sessionFile: "session-bench.jsonl", settledBytes: 0 }, never);
  const samples: number[] = [];
  let began = 0;
  for await (const event of lease.prompt({ text: "go", images: [] }, never)) {
    if (event.type === "tool_start") began = performance.now();
    if (event.type === "tool_end") samples.push(performance.now() - began);
    if (event.type === "failed") throw new Error(event.detail);
  }
  return spread(samples.slice(WARM_UP));
}

if (import.meta.main) {
  await ensureDist(join(import.meta.dir, "../.."));
  const figures = {
    pipeMs: await measureToolCalls(1_000),
    httpMs: await measureHttpToolCalls(500),
    tools500: await measureManyTools(),
  };
  console.log(JSON.stringify(figures, null, 2));
}
