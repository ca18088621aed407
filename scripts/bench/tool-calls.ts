/**
 * A tool call from inside a turn: real pi, real pipe, real gate with schema check and audit row in a real store. The tool itself does
 * nothing, so that what is measured is what every tool pays: from pi's "tool started" to its "tool ended".
 */
import { join } from "node:path";
import { startPool } from "../../src/agents/index.ts";
import { checkConfigText, readEnvironment } from "../../src/config/index.ts";
import type { Caller } from "../../src/contracts/agent.ts";
import type { AgentId, InboxId, TurnId } from "../../src/contracts/ids.ts";
import type { Tool } from "../../src/contracts/tools/tool.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemIds } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createEvents } from "../../src/observe/index.ts";
import { openStore } from "../../src/store/index.ts";
import { says, startFakeProvider } from "../../src/testing/fake-provider.ts";
import { entry } from "../../src/testing/messages.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { createToolGate, createToolRegistry } from "../../src/tools/index.ts";
import { type Spread, spread } from "./stats.ts";
import { benchConfig } from "./turns.ts";

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const WARM_UP = 20;

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

export async function measureToolCalls(calls: number): Promise<Spread> {
  await using provider = await startFakeProvider((_request, index) =>
    index < calls + WARM_UP ? { kind: "tools", calls: [{ name: "do_nothing", input: { text: "hi" } }] } : says("done"),
  );
  await using home = await tempHome();
  await using store = await openStore(DEPS, { home: home.path });
  const { config } = checkConfigText(JSON.stringify(benchConfig(provider.baseUrl)), () => undefined);
  if (!config) throw new Error("the bench's own configuration is not valid");
  const tools = createToolGate({ ...DEPS, store: store.toolCalls, registry: createToolRegistry([nothing]) });
  const options = {
    home: home.path,
    config: config.agent,
    models: config.models,
    environment: readEnvironment(process.env),
  };
  await using pool = await startPool(
    { ...DEPS, events: createEvents(DEPS), tools },
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
