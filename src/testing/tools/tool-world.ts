/** A gate with everything around it in memory: a record that can be read, an owner who answers as told, hooks that a test registers. */
import type { AgentId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { HookHandler, HookName, Hooks } from "../../contracts/plugin-hooks.ts";
import type { EarlierCall, ToolCallStore, ToolEnd, ToolIntent } from "../../contracts/store/tool-calls.ts";
import type { Rights, RightsNow } from "../../contracts/channels/rights.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approvals } from "../../contracts/tools/approval.ts";
import {
  NO_TURN,
  type Tool,
  type ToolContext,
  type ToolFactory,
  type ToolRequest,
} from "../../contracts/tools/tool.ts";
import { createEvents } from "../../observe/index.ts";
import {
  type BackgroundEnd,
  createToolGate,
  createToolLister,
  createToolRegistry,
  type ToolGateDeps,
  type ToolPolicy,
} from "../../tools/index.ts";
import { NO_MASK } from "../../kit/secret.ts";
import { noSessionTools, USUAL_LIMITS } from "./quiet-deps.ts";
import { createFakeClock } from "../fake-clock.ts";
import { recordingLog } from "../recording-log.ts";
import { createSeqIds } from "../seq-ids.ts";
import { waitForEnd } from "../wait-for.ts";

export const SESSION = "agent:default:webchat:dm:1" as SessionKey;
const NEVER = new AbortController().signal;

export const OWNER: ToolContext = {
  sessionKey: SESSION,
  turnId: "turn_1" as TurnId,
  agentId: "default" as AgentId,
  principal: "operator" as Principal,
  role: "owner",
  origin: { channel: "webchat", account: "default", chat: "1" },
  stats: async () => ({
    model: "fake/one",
    thinking: "off",
    messages: 15,
    toolCalls: 1,
    inputTokens: 85_000,
    outputTokens: 12,
    costUsd: 0.1234,
    contextPercent: 42.3,
    contextWindow: 200_000,
  }),
};
export const PROGRAM: ToolContext = {
  ...OWNER,
  sessionKey: "agent:default:api:dm:operator" as SessionKey,
  turnId: NO_TURN,
  origin: { channel: "api", account: "default", chat: "operator" },
};
export const MEMBER: ToolContext = { ...OWNER, role: "member", principal: "telegram:user:7" as Principal };

export function policy(over: Partial<ToolPolicy> = {}): ToolPolicy {
  return {
    allow: ["*"],
    deny: [],
    roles: {},
    origins: {},
    agents: {},
    principals: {},
    limits: {},
    approvals: { ask: [], never: [] },
    maxPerSession: 16,
    maxTotal: 128,
    searchAbove: 60,
    profile: () => "chat",
    ...over,
  };
}

export function tool(execute: Tool["execute"], over: Partial<Tool> = {}): Tool {
  const parameters = {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  };
  const words = { name: "echo", label: "Echo", description: "Echo" };
  return { ...words, parameters, flags: { idempotent: false }, timeoutMs: 1_000, execute, ...over };
}

export const says = (text: string) => ({ content: [{ type: "text" as const, text }] });

interface Row {
  readonly intent: ToolIntent;
  begun: boolean;
  end: ToolEnd | null;
}

interface MemoryCalls extends ToolCallStore {
  readonly rows: Row[];
  /** What the next write answers instead of writing. */
  failing: Error | null;
}

export function memoryCalls(): MemoryCalls {
  const rows: Row[] = [];
  const find = (id: string) => rows.find(({ intent }) => intent.id === id);
  const store: MemoryCalls = {
    rows,
    failing: null,
    async intend(intent) {
      if (store.failing) throw store.failing;
      rows.push({ intent, begun: !intent.waiting, end: null });
      return true;
    },
    async begin(id) {
      const row = find(id);
      if (row) row.begun = true;
    },
    async refuse(intent, { status, output }) {
      if (store.failing) throw store.failing;
      const scope = status === "error" ? `refused:${intent.id}` : intent.scope;
      rows.push({ intent: { ...intent, scope }, begun: false, end: { status, output, ms: 0 } });
    },
    async settle(id, end) {
      const row = find(id);
      if (row && !row.end) row.end = end;
    },
    earlier: async (scope, callId) => earlierIn(rows, scope, callId),
    async timesSince({ principal, tool: name }, since) {
      const counted = rows.filter(
        ({ intent, begun, end }) => intent.principal === principal && intent.tool === name && (begun || end === null),
      );
      return counted.map(({ intent }) => intent.at).filter((at) => at > since);
    },
    list: async () => ({ items: [] }),
    prune: async () => 0,
  };
  return store;
}

function earlierIn(rows: readonly Row[], scope: string, callId: string): EarlierCall | null {
  const same = rows.filter(({ intent }) => intent.scope === scope && intent.callId === callId);
  const row =
    same.findLast(({ end }) => end?.status !== "blocked") ?? same.findLast(({ end }) => end?.reply !== undefined);
  if (!row) return null;
  const { intent, end } = row;
  return {
    tool: intent.tool,
    paramsHash: intent.paramsHash,
    idempotent: intent.idempotent,
    status: end?.status ?? "running",
    output: end?.output ?? "",
    reply: end?.reply ?? null,
    elsewhere: false,
  };
}

interface FakeApprovals extends Approvals {
  readonly asked: ApprovalQuestion[];
  /** What the owner says, or when. */
  answer: ApprovalAnswer | Promise<ApprovalAnswer>;
}

export function fakeApprovals(): FakeApprovals {
  const made: FakeApprovals = {
    asked: [],
    answer: "deny",
    async ask(question, signal) {
      made.asked.push(question);
      if (typeof made.answer === "string") return made.answer;
      const gone = Promise.withResolvers<ApprovalAnswer>();
      signal.addEventListener("abort", () => gone.resolve("expired"), { once: true });
      return Promise.race([made.answer, gone.promise]);
    },
    pending: () => [],
    decide: async () => "unknown",
  };
  return made;
}

type Registered = { readonly name: HookName; readonly plugin: string; readonly handler: unknown };

interface FakeHooks extends Hooks {
  readonly told: { readonly name: HookName; readonly event: unknown }[];
}

function fakeHooks(): FakeHooks {
  const registered: Registered[] = [];
  const told: FakeHooks["told"] = [];
  const of = <H extends HookName>(name: H) =>
    registered
      .filter((one) => one.name === name)
      .map(({ plugin, handler }) => ({ plugin, handler: handler as HookHandler<H> }));
  return {
    told,
    on(name, handler, plugin) {
      registered.push({ name, handler, plugin });
      return { [Symbol.dispose]: () => undefined };
    },
    of,
    deciding: of,
    tell: (name, event) => void told.push({ name, event }),
  };
}

interface FakeRights extends Rights {
  /** What everybody has now; null: what they had. */
  current: RightsNow | null;
  /** How many listen for changes. */
  listeners(): number;
  change(to: RightsNow): void;
}

export function fakeRights(): FakeRights {
  const listeners = new Set<() => void>();
  const made: FakeRights = {
    current: null,
    listeners: () => listeners.size,
    now: async ({ role }) => made.current ?? { kind: "held", role },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    change(to) {
      made.current = to;
      for (const listener of listeners) listener();
    },
  };
  return made;
}

/** Below the usual limit of a test, so that the name of the call is what the test says. */
const CALL_MS = 3_000;

/** A call that never ends fails its test by name; one that a test leaves open on purpose fails nothing. */
function ends<T>(what: string, call: Promise<T>): Promise<T> {
  const outcome = waitForEnd(what, call, { withinMs: CALL_MS });
  outcome.catch(() => undefined); // whoever waits for it is told
  return outcome;
}

export function toolWorld(tools: readonly (Tool | ToolFactory)[], over: Partial<ToolGateDeps> = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const store = memoryCalls();
  const approvals = fakeApprovals();
  const hooks = fakeHooks();
  const events = createEvents({ log });
  const registry = createToolRegistry({ log });
  for (const one of tools) registry.register(one, "test");
  const rules = { now: policy() };
  const rights = fakeRights();
  const ended: BackgroundEnd[] = [];
  const gate = createToolGate({
    clock,
    log,
    store,
    approvals,
    hooks,
    events,
    registry,
    rights,
    sessionTools: noSessionTools,
    ids: createSeqIds(),
    policy: () => rules.now,
    scrub: (text) => text.replaceAll("s3cret-value", "[redacted]"),
    mask: NO_MASK,
    runLimits: () => USUAL_LIMITS,
    backgroundEnded: (end) => void ended.push(end),
    ...over,
  });
  let calls = 0;
  const call = (params: unknown, request: Partial<ToolRequest> = {}, signal: AbortSignal = NEVER) => {
    const made = { tool: "echo", callId: `c${++calls}`, params, context: OWNER, path: "pipe", ...request } as const;
    return ends(`the end of call ${made.callId}`, gate.call(made, signal));
  };
  const last = () => store.rows.at(-1);
  return {
    clock,
    log,
    store,
    rows: store.rows,
    approvals,
    hooks,
    events,
    registry,
    rules,
    rights,
    ended,
    gate,
    list: createToolLister({ registry, policy: () => rules.now, agents: () => ["default" as AgentId] }),
    call,
    last,
  };
}
