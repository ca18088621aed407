/** A pool of real (or scripted) agent processes in a private home, with a tool gate that a test can watch. Everything ends with the test. */
import { join } from "node:path";
import { agentProfiles, type PoolOptions, startPool } from "../agents/index.ts";
import { type Config, readEnvironment } from "../config/index.ts";
import type { AgentEvent, AgentLease, AgentPool, Caller, LeaseRequest } from "../contracts/agent.ts";
import type { EventName, Events, GatewayEvents } from "../contracts/events.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { ToolGate, ToolOutcome, ToolRequest, ToolSpec, RejectedCall } from "../contracts/tools/tool.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { secret } from "../kit/secret.ts";
import type { Egress } from "../contracts/egress.ts";
import type { CallBudget } from "../model-door/index.ts";
import { testSandbox } from "./confined-run.ts";
import { bridgePath } from "./whole/bridge-path.ts";
import type { FakeProvider } from "./fake-provider.ts";
import { testModelDoor } from "./test-model-door.ts";
import { recordingLog } from "./recording-log.ts";
import { bunEnvFor } from "./short-lived.ts";
import { type TempHome, tempHome } from "./temp-home.ts";

const ROOT = join(import.meta.dir, "..", "..");
/** Shared between tests, so that Bun does not compile pi anew in every private home. */
const TRANSPILER_CACHE =
  process.env.BUN_RUNTIME_TRANSPILER_CACHE_PATH ?? join(ROOT, "node_modules", ".cache", "pi-gateway-tests");
/** For a lease, and for a turn. */
const TEST_MS = 90_000;
const HANDSHAKE_MS = 60_000;

export type AgentConfig = Omit<Partial<Config["agent"]>, "pool"> & { readonly pool?: Partial<Config["agent"]["pool"]> };

interface FixtureOptions {
  /** Where programs of agents find hosts outside, and the gateway; left out, they find neither. */
  readonly egress?: Egress;
  readonly reach?: Parameters<typeof startPool>[0]["reach"];
  /** The walls that may be built. Default: the best one. */
  readonly tiers?: Parameters<typeof testSandbox>[1];
  readonly starts?: NonNullable<PoolOptions["starts"]>;
  readonly roles?: Config["roles"]["profiles"];
  /** Of model calls. Default: none. */
  readonly budget?: CallBudget;
  /** Memory of the machine that is free. Default: what is. */
  readonly freeMb?: number;
  /** Of the pool and its turns. Default: the system's. */
  readonly clock?: Clock;
  /** By which the model door knows how long a model is left alone. Default: the system's. */
  readonly modelDoorClock?: Clock;
}

export interface AgentFixture extends AsyncDisposable {
  readonly pool: AgentPool;
  readonly home: string;
  readonly options: PoolOptions;
  readonly gate: FakeGate;
  readonly log: ReturnType<typeof recordingLog>;
  readonly happened: readonly { readonly event: EventName; readonly data: unknown }[];
  lease(request?: Partial<LeaseRequest> & { readonly principal?: string }): Promise<AgentLease>;
  /** One whole turn in its own lease. */
  turn(text: string, request?: Partial<LeaseRequest> & { readonly principal?: string }): Promise<readonly AgentEvent[]>;
}

/** A call of pi tools that the gate let pass: how much it has said, and how it ended. */
interface AdmittedCall {
  readonly request: ToolRequest;
  chars: number;
  end: { isError: boolean; output: string } | null;
}

interface FakeGate extends ToolGate {
  tools: readonly ToolSpec[];
  answer: (request: ToolRequest, signal: AbortSignal) => Promise<ToolOutcome>;
  readonly calls: readonly ToolRequest[];
  /** What never became a call. */
  readonly away: readonly RejectedCall[];
  /** Sets the tools and says so, as a registry does. */
  offer(tools: readonly ToolSpec[]): void;
  /** For pi tools: why a call is refused; null lets it run. */
  judge: (request: ToolRequest) => string | null;
  readonly admitted: readonly AdmittedCall[];
  /** As it was at first, for the next test that uses the same pool. */
  reset(): void;
}

/** What a configuration says about capabilities when it says nothing. */
export const NOTHING_ADDED = {
  tools: "chat" as const,
  bridge: "live" as const,
  sandbox: "auto" as const,
  network: "none" as const,
  folders: [],
  limits: {
    processes: 1_024,
    memoryMb: 4_096,
    openFiles: 8_192,
    fileSizeMb: 4_096,
    cpuSecondsPerTurn: 600,
    workspaceMb: 10_240,
    workspaceFiles: 1_000_000,
    freeDiskMb: 0,
  },
  providerWaitMs: 60_000,
  fallbacks: [],
  fallbackAfterMs: 60_000,
  skills: [],
  extensions: [],
  promptTemplates: [],
  delegates: [],
  delegation: { maxDepth: 2, maxPerTurn: 2, maxTotal: 4, timeoutMs: 60_000 },
  gatewayPrompts: { heartbeat: true, cron: true, media: true },
};

export const TEST_KEY = "test-key-7f3a9c";

export function toolSpec(name: string): ToolSpec {
  const parameters = { type: "object", properties: {}, additionalProperties: false };
  return { name, label: name, description: `The tool ${name}. For tests.`, parameters };
}

export function okResult(text: string): ToolOutcome {
  return { kind: "ok", result: { content: [{ type: "text", text }] } };
}

export function providers(fake: FakeProvider): Config["models"] {
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
  const model = {
    id: "fake-1",
    reasoning: false,
    input: ["text" as const],
    contextWindow: 32_000,
    maxTokens: 4_096,
    cost,
  };
  const provider = {
    baseUrl: fake.baseUrl,
    api: "openai-completions" as never,
    apiKey: secret(TEST_KEY),
    models: [model, { ...model, id: "fake-2" }],
  };
  return { keys: {}, providers: { fake: provider } };
}

export async function agentFixture(
  config: AgentConfig & FixtureOptions = {},
  models: Config["models"] = { keys: {}, providers: {} },
  prepare: (home: TempHome) => Promise<AgentConfig> = async () => ({}),
): Promise<AgentFixture> {
  const home = await tempHome();
  const {
    starts,
    roles = {},
    egress,
    reach,
    tiers,
    budget,
    freeMb,
    clock = systemClock,
    modelDoorClock = systemClock,
    ...agent
  } = config;
  const settings = poolOptions(home.path, merge(agent, await prepare(home)), models);
  const sandbox = testSandbox(home.path, tiers);
  const { report } = await sandbox.wall();
  // where no wall can be built, tests of other things go without; those of the wall skip themselves
  const unwalled = report.tier === "none" && settings.config.sandbox === "auto" && tiers === undefined;
  const usable = unwalled ? { ...settings, config: { ...settings.config, sandbox: "off" as const } } : settings;
  const options = {
    ...usable,
    profiles: agentProfiles({ agent: usable.config, agents: [], roles: { profiles: roles } }, report.tier),
    starts: {
      handshakeMs: HANDSHAKE_MS,
      ...starts,
      ...(freeMb === undefined ? {} : { measure: () => ({ freeMb, cores: 2 }) }),
    },
  };
  const gate = fakeGate();
  const log = recordingLog();
  const happened: { event: EventName; data: unknown }[] = [];
  const events = eventsInto(happened);
  const modelDoor = testModelDoor({ log, events, clock: modelDoorClock }, options, budget);
  const pool = await startPool(
    {
      clock,
      ids: systemIds,
      log,
      events,
      tools: gate,
      modelDoor,
      sandbox,
      ...(egress ? { egress } : {}),
      ...(reach ? { reach } : {}),
    },
    options,
  );

  const lease: AgentFixture["lease"] = (request = {}) =>
    pool.lease(
      {
        caller: caller(request.principal ?? "operator"),
        sessionFile: "session-a.jsonl",
        settledBytes: Number.POSITIVE_INFINITY, // nothing is cut off
        ...request,
      },
      AbortSignal.timeout(TEST_MS),
    );
  return {
    pool,
    home: home.path,
    options,
    gate,
    log,
    happened,
    lease,
    async turn(text, request) {
      await using held = await lease(request);
      return await collect(held, text); // awaited here: returning the promise would give the lease back too early
    },
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

export function poolOptions(home: string, config: AgentConfig, models: Config["models"]): PoolOptions {
  const recycled = { maxSwitches: 200, maxAgeMs: 3_600_000, maxRssMb: 4_096 };
  const pool = {
    min: 0,
    max: 2,
    idleMs: 60_000,
    reuse: "principal" as const,
    waitMs: 60_000,
    ...recycled,
    ...config.pool,
  };
  const { PATH, PI_GATEWAY_PI } = process.env;
  return {
    home,
    // a scripted pi is made of files that no wall lets through
    config: { timeoutMs: 60_000, ...NOTHING_ADDED, ...(config.piPath ? { sandbox: "off" } : {}), ...config, pool },
    models,
    environment: readEnvironment({ PATH, PI_GATEWAY_PI, BUN_RUNTIME_TRANSPILER_CACHE_PATH: TRANSPILER_CACHE }),
    bridgePath: bridgePath(),
    bun: [process.execPath, "--no-env-file"],
    bunEnv: bunEnvFor(config.piPath ? undefined : PI_GATEWAY_PI), // one that a test names itself runs as for users
  };
}

export async function collect(lease: AgentLease, text: string, signal?: AbortSignal): Promise<readonly AgentEvent[]> {
  return Array.fromAsync(lease.prompt({ text, images: [] }, signal ?? AbortSignal.timeout(TEST_MS)));
}

export function replyOf(events: readonly AgentEvent[]): string {
  const last = events.at(-1);
  return last?.type === "done" ? last.text : `not done: ${JSON.stringify(last)}`;
}

export function caller(principal: string, role: Caller["role"] = "owner"): Caller {
  return {
    sessionKey: `agent:default:webchat:dm:${principal}` as SessionKey,
    turnId: "turn_1" as TurnId,
    agentId: "default" as AgentId,
    principal: principal as Principal,
    role,
    origin: { channel: "webchat", account: "default", chat: principal },
  };
}

function fakeGate(): FakeGate {
  const calls: ToolRequest[] = [];
  const away: RejectedCall[] = [];
  const admitted: AdmittedCall[] = [];
  const listeners = new Set<(sessionKey: null) => void>();
  const gate: FakeGate = {
    tools: [],
    calls,
    admitted,
    away,
    answer: async () => okResult("done"),
    judge: () => null,
    specs: () => gate.tools,
    offered: async (caller) => gate.specs(caller),
    reset() {
      Object.assign(gate, fresh);
      for (const list of [calls, away, admitted]) list.length = 0;
    },
    offer(tools) {
      gate.tools = tools;
      for (const listener of listeners) listener(null);
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async admit(request) {
      const message = gate.judge(request);
      if (message !== null) return { kind: "refused", code: "not_allowed", message };
      const row: AdmittedCall = { request, chars: 0, end: null };
      admitted.push(row);
      return {
        kind: "go",
        params: request.params,
        checksKept: false,
        updated: (chars) => void (row.chars = chars),
        refused: async ({ message }) => void (row.end = { isError: true, output: message }),
        async ended(end) {
          row.end = end;
          return { kept: null };
        },
      };
    },
    recordRejected: (call) => void away.push(call),
    call(request, signal) {
      calls.push(request);
      return gate.answer(request, signal);
    },
  };
  const fresh = { ...gate };
  return gate;
}

function eventsInto(happened: { event: EventName; data: unknown }[]): Events {
  return {
    emit: <E extends EventName>(event: E, data: GatewayEvents[E]) => void happened.push({ event, data }),
    on: () => ({ [Symbol.dispose]: () => undefined }),
  };
}

function merge(a: AgentConfig, b: AgentConfig): AgentConfig {
  return { ...a, ...b, pool: { ...a.pool, ...b.pool } };
}
