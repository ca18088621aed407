/** Real pi processes whose calls pass a real gate over a real store; a test brings the tools, the rules and the model's words. */
import { startPool } from "../../agents/index.ts";
import type { AgentEvent, Caller } from "../../contracts/agent.ts";
import type { AuditRow } from "../../contracts/store/tool-calls.ts";
import type { Tool, ToolContext } from "../../contracts/tools/tool.ts";
import { testModelDoor } from "../test-model-door.ts";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { createEvents, createRedactor } from "../../observe/index.ts";
import { openStore } from "../../store/index.ts";
import { NO_MASK } from "../../kit/secret.ts";
import { createToolGate, createToolRegistry, type ToolPolicy } from "../../tools/index.ts";
import { collect, poolOptions, providers } from "../agent-fixture.ts";
import { type FakeScript, startFakeProvider } from "../fake-provider.ts";
import { recordingLog } from "../recording-log.ts";
import { tempHome } from "../temp-home.ts";
import { fakeApprovals, policy } from "./tool-world.ts";
import { fixedRights, noHooks, noSessionTools, USUAL_LIMITS } from "./quiet-deps.ts";
import { storeUrlOf } from "../postgres/home-database.ts";

const LEASE_MS = 30_000;

interface RealToolsOptions {
  readonly tools: readonly Tool[];
  readonly script: FakeScript;
  readonly rules?: Partial<ToolPolicy>;
}

export async function realTools({ tools, script, rules = {} }: RealToolsOptions) {
  const home = await tempHome();
  const deps = { clock: systemClock, ids: systemIds, log: recordingLog() };
  const store = await openStore(deps, { home: home.path, url: await storeUrlOf(home.path) });
  const provider = await startFakeProvider(script);
  const registry = createToolRegistry(deps);
  for (const tool of tools) registry.register(tool, "test");
  const approvals = fakeApprovals();
  const events = createEvents(deps);
  const rulesNow = policy(rules);
  const { scrub } = createRedactor();
  const guards = {
    policy: () => rulesNow,
    hooks: noHooks,
    rights: fixedRights,
    sessionTools: noSessionTools,
    approvals,
    scrub,
    backgroundEnded: () => undefined,
    mask: NO_MASK,
    runLimits: () => USUAL_LIMITS,
  };
  const gate = createToolGate({ ...deps, ...guards, events, registry, store: store.toolCalls });
  const options = poolOptions(home.path, { model: "fake/fake-1" }, providers(provider));
  const modelDoor = testModelDoor({ ...deps, events }, options);
  const pool = await startPool({ ...deps, events, tools: gate, modelDoor }, options);
  return {
    home: home.path,
    store,
    provider,
    registry,
    approvals,
    gate,
    /** One turn of one caller, to its end. */
    async turn(text: string, caller: Caller, sessionFile: string): Promise<readonly AgentEvent[]> {
      const request = { caller, sessionFile, settledBytes: Number.MAX_SAFE_INTEGER };
      await using lease = await pool.lease(request, AbortSignal.timeout(LEASE_MS));
      return await collect(lease, text);
    },
    call: (tool: string, params: unknown, context: ToolContext) =>
      gate.call({ tool, params, context, path: "pipe", callId: systemIds.next("c") }, AbortSignal.timeout(LEASE_MS)),
    rows: async (): Promise<readonly AuditRow[]> => (await store.toolCalls.list({}, { limit: 500 })).items.toReversed(),
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      await gate[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
