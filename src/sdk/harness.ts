/** Runs a plugin without a gateway: the plugin API and the tool gate are the real ones, the store is in memory, an owner answers as told. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultConfig } from "../config/index.ts";
import type { Caller } from "../contracts/agent.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { GatewayPlugin } from "../contracts/plugin.ts";
import type { ToolContext, ToolGate, ToolOutcome, ToolResult } from "../contracts/tools/tool.ts";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import type { Log, LogFields } from "../kit/log.ts";
import { NO_MASK } from "../kit/secret.ts";
import { createEvents } from "../observe/index.ts";
import { checkPluginConfig, createHooks, runPlugin, wrapSecrets } from "../plugins/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { createSessionTools, createToolGate, createToolRegistry, type ToolPolicy } from "../tools/index.ts";
import type { HarnessCaller, HarnessOptions, HarnessOutcome, PluginHarness } from "./harness-types.ts";

const ID = "plugin-under-test";
const NOTHING: Disposable = { [Symbol.dispose]: () => undefined };

export async function runInHarness(plugin: GatewayPlugin, options: HarnessOptions): Promise<PluginHarness> {
  await using building = new AsyncDisposableStack();
  const lines: string[] = [];
  const deps = { clock: systemClock, ids: systemIds, log: linesLog(lines, []) };
  const folder = await mkdtemp(join(tmpdir(), "pi-gateway-harness-"));
  building.defer(() => rm(folder, { recursive: true, force: true }));
  const store = building.use(openMemoryStore(deps, folder));
  const registry = createToolRegistry(deps);
  const hooks = createHooks(deps);
  const policy = policyOf(options);
  const gate = building.use(
    createToolGate({
      ...deps,
      hooks,
      registry,
      events: createEvents(deps),
      store: store.toolCalls,
      sessionTools: createSessionTools({ ...deps, store: store.sessionTools }),
      rights: { now: async ({ role }) => ({ kind: "held", role }), onChange: () => NOTHING },
      approvals: { ask: async () => options.approve ?? "deny", pending: () => [], decide: async () => "unknown" },
      policy: () => policy,
      runLimits: () => defaultConfig().tools.execution,
      backgroundEnded: () => undefined,
      scrub: (text) => text,
      mask: NO_MASK,
    }),
  );
  const identity = { id: options.manifest?.id ?? ID, version: options.manifest?.version ?? "0.0.0", folder };
  const services = { log: deps.log, hooks, registry, ...surroundings() };
  const running = await runPlugin(deps, services, {
    ...identity,
    config: configOf(options),
    storageFile: join(folder, "storage.json"),
    startServices: options.startServices ?? true,
    init: plugin,
  });
  building.defer(running.stop);
  const open = building.move();
  return {
    call: (tool, params, caller = {}) => callTool(gate, { tool, params }, caller),
    tools: (role = "owner") => gate.specs(callerOf({ role })),
    provides: running.provides(),
    notices: registry.list().flatMap(({ name, reason, notices = [] }) => {
      const reasons = reason === undefined ? notices : [reason, ...notices];
      return reasons.map((say) => `${name}: ${say}`);
    }),
    log: lines,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** What a plugin may register besides tools: taken, and used by nobody. */
function surroundings() {
  return {
    commands: { register: () => NOTHING },
    skills: { add: () => NOTHING },
    mcp: { add: () => NOTHING },
    platforms: { add: () => ({ [Symbol.asyncDispose]: async () => undefined }) },
    tellMain: async () => ({ kind: "refused", say: "There is no conversation to tell it to." }) as const,
  };
}

function configOf({ manifest, config = {} }: HarnessOptions): Readonly<Record<string, unknown>> {
  if (!manifest) return config;
  const checked = checkPluginConfig(manifest, config);
  if (checked.ok) return wrapSecrets(manifest, checked.config, () => undefined);
  throw new GatewayError("plugin_invalid", checked.why, { say: checked.why });
}

function policyOf({ ask = [] }: HarnessOptions): ToolPolicy {
  const { tools } = defaultConfig();
  return { ...tools, approvals: { ask: [...ask], never: [] }, profile: () => "chat" };
}

function callerOf({ role = "owner", principal = "operator", scope = "dm", cause }: HarnessCaller): ToolContext {
  const caller: Caller = {
    sessionKey: `agent:default:webchat:${scope}:harness` as SessionKey,
    turnId: "turn_harness" as TurnId,
    agentId: "default" as AgentId,
    principal: principal as Principal,
    role: role satisfies Role,
    scope,
    origin: { channel: "webchat", account: "default", chat: "harness" },
    ...(cause ? { cause } : {}),
  };
  const stats = async () => Promise.reject(new Error("There is no agent in a test."));
  return { ...caller, stats };
}

async function callTool(
  gate: ToolGate,
  { tool, params }: { readonly tool: string; readonly params: unknown },
  caller: HarnessCaller,
): Promise<HarnessOutcome> {
  const progress: string[] = [];
  const { callId = systemIds.next("call"), signal = new AbortController().signal } = caller;
  const onUpdate = (partial: ToolResult): void => void progress.push(textOf(partial));
  const outcome = await gate.call({ tool, params, callId, path: "pipe", context: callerOf(caller), onUpdate }, signal);
  return { ...told(outcome), progress };
}

function told(outcome: ToolOutcome): Omit<HarnessOutcome, "progress"> {
  if (outcome.kind === "ok") return { ok: true, text: textOf(outcome.result), code: null, result: outcome.result };
  return { ok: false, text: outcome.message, code: outcome.code, result: null };
}

function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`)).join("\n");
}

type Field = readonly [string, unknown];

/** As lines that a person reads in the output of a test. */
function linesLog(lines: string[], shared: readonly Field[]): Log {
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      const all = Object.fromEntries([...shared, ...Object.entries(fields)]);
      lines.push(`${level} ${message} ${JSON.stringify(all, shownError)}`);
    };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (fields) => linesLog(lines, [...shared, ...Object.entries(fields)]),
  };
}

function shownError(_key: string, value: unknown): unknown {
  return value instanceof Error ? (value.stack ?? value.message) : value;
}
