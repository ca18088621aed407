/** A real server on a free port with everything behind it in memory, so that tests speak to the port as any client does. */
import type { Receipt } from "../../contracts/channel.ts";
import type { Webhook } from "../../contracts/channels/platform.ts";
import type { InboundMessage, TranscriptItem } from "../../contracts/chat.ts";
import type { RetryRequest, TroubledPart } from "../../contracts/delivery.ts";
import type { LiveTurn } from "../../contracts/flow.ts";
import type { InboxId, InstanceId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { Cancelled } from "../../contracts/queue.ts";
import type { RouteFacts } from "../../contracts/routing.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";
import type { UpdateReport } from "../../contracts/update.ts";
import type { ToolOutcome } from "../../contracts/tools/tool.ts";
import { type HttpDeps, type HttpOptions, type HttpServer, openHttp } from "../../http/index.ts";
import { secret } from "../../kit/secret.ts";
import { createClientStream, createEvents, createMetrics } from "../../observe/index.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { recordingLog, type RecordingLog } from "../recording-log.ts";
import { testModels } from "../command-fixture.ts";
import { freeBudget } from "../free-budget.ts";
import { createSeqIds } from "../seq-ids.ts";
import { chooseSession, createAccessPolicies } from "../../routing/index.ts";
import { testKeys } from "./test-keys.ts";
import { noJobs, noLookAhead, noWebhooks } from "../automation/no-jobs.ts";
import { inboundOf, noConfigFile, noNotifications, testConsole } from "./test-surfaces.ts";
import { noCompletions, noResponses } from "./no-completions.ts";
import { API_SESSION, createMemory, type StoredMedia, type StoredSignIn } from "./memory-store.ts";
import { STATUS } from "./test-status.ts";

export const TOKEN = "a-token-of-at-least-22-characters";
export const PASSWORD = "correct horse battery";
export const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3, 4]);

export interface HttpWorld extends AsyncDisposable {
  readonly http: HttpServer;
  readonly clock: FakeClock;
  readonly log: RecordingLog;
  readonly deps: HttpDeps;
  readonly received: InboundMessage[];
  /** Where somebody may write soon. */
  readonly hinted: RouteFacts[];
  readonly signIns: Map<string, StoredSignIn>;
  readonly media: Map<string, StoredMedia>;
  /** What the store says about itself. */
  readonly writable: { now: boolean };
  readonly transcript: TranscriptItem[];
  readonly troubled: TroubledPart[];
  /** What was to be sent again, and by whom. */
  readonly retries: readonly (readonly [string, RetryRequest])[];
  /** Paths at which a channel answers. */
  readonly webhooks: Map<string, Webhook>;
  readonly live: Map<string, LiveTurn>;
  /** What the receiver answers instead of taking the message. */
  refuse: Extract<Receipt, { kind: "refused" }> | null;
  /** Called when a message was taken, before the caller hears of it. */
  onTaken: ((id: InboxId, sessionKey: SessionKey) => void) | null;
  /** What becomes of a message that is withdrawn; without it there is none. */
  cancel: ((id: InboxId, by: Principal) => Cancelled) | null;
  url(path: string): string;
  /** A request with the operator's token. */
  call(path: string, init?: RequestInit): Promise<Response>;
  postJson(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Signs a browser in; the Cookie header it would send. */
  cookie(): Promise<string>;
  endTurn(id: InboxId, end?: Partial<TurnResult>): void;
  say(item: Partial<TranscriptItem> & { readonly id: string }, sessionKey?: string): void;
}

const NO_UPDATE: UpdateReport = {
  version: "1.0.0",
  because: null,
  newest: null,
  isRunning: false,
  steps: [],
  hasFailed: false,
  last: null,
};

/** Single members of groups, instead of those below. */
type GivenDeps = { readonly [Group in keyof HttpDeps]?: Partial<HttpDeps[Group]> };

export function startHttpWorld(options: Partial<HttpOptions> = {}, more: GivenDeps = {}): HttpWorld {
  const clock = createFakeClock();
  const ids = createSeqIds();
  const log = recordingLog();
  const events = createEvents({ log });
  const memory = createMemory();
  const intake: Intake = { received: [], hinted: [], inbox: new Map(), refuse: null, onTaken: null, cancel: null };
  const metrics = createMetrics({ clock, events });
  const node = { ...STATUS.node, version: STATUS.version };
  metrics.registerGauges(() => ({ ...STATUS, node, sockets: 0, requests: 0, rssBytes: 0 }));
  const deps: HttpDeps = {
    clock,
    ids,
    log,
    events,
    stream: createClientStream({ events }, { epoch: 1, maxEvents: 50 }),
    store: memory.store,
    console: testConsole(),
    messages: {
      receiver: {
        receive: async (message) => take(intake, message),
        async prepare(facts) {
          intake.hinted.push(facts);
          return { prepares: "session", because: "fresh" };
        },
      },
      live: { snapshot: (key) => memory.live.get(key) ?? null, abort: async (key) => memory.live.delete(key) },
      waiting: {
        cancel: async (id, by) => intake.cancel?.(id, by) ?? { kind: "unknown" },
        rewrite: async () => ({ kind: "unknown" }),
      },
      care: {
        remove: async () => ({ messages: 3, media: 1 }),
        rewind: async () => ({ said: [] }),
        branch: async (_key, { to }) => ({ sessionKey: to.sessionKey, title: "A title (branch)" }),
      },
      files: memory.files,
      webchat: { toInbound: (input) => inboundOf("webchat", input), takeReaction: async (id) => id === "turn_1:0" },
      api: { toInbound: (input) => inboundOf("api", input) },
      sessions: { parse: (text, agent, key) => chooseSession({ bindings: [] }, text, agent, key) },
      models: testModels(clock),
      openai: noCompletions(),
      responses: noResponses(),
      platformWebhook: (path) => memory.webhooks.get(path) ?? null,
    },
    people: {
      commands: { list: (role) => [{ name: role === "owner" ? "restart" : "stop", help: "ends it" }] },
      keys: testKeys({ clock, ids, log, events }),
      notifications: noNotifications,
      pairing: memory.pairing,
      budget: freeBudget(),
      policyOf: createAccessPolicies(
        () => ({}),
        () => false,
      ).policyOf,
      isOwnChannel: () => true,
      accountOf: () => "default",
      roles: { people: () => [], change: async () => ({ kind: "changed" }) },
      explainRoute: () => ({ verdict: { kind: "refuse", because: "x", tell: "nothing", say: "No." }, considered: [] }),
    },
    tools: {
      gate: { specs: () => [], call: async ({ tool }) => refusedTool(tool), recordRejected: () => undefined },
      list: () => ({ tools: [], piTools: [] }),
      questions: {
        pending: () => [],
        answerAnywhere: async () => ({ kind: "refused", because: "over", say: "It is over." }),
      },
      approvals: { pending: () => [], decide: async () => "unknown" },
      approvalRules: { list: async () => ({ items: [] }), remove: async () => false },
      agentTokens: { resolve: () => null, known: () => false },
      mcp: { answer: async () => new Response("no MCP door in this test", { status: 404 }) },
    },
    automation: {
      jobs: noJobs(),
      lookAhead: noLookAhead,
      webhooks: { receive: async () => ({ kind: "refused", code: "not_found", guess: false }) },
      webhookAdmin: noWebhooks,
      heartbeats: { list: async () => [], write: async () => ({ kind: "written" }) },
    },
    operations: {
      status: () => STATUS,
      nodes: {
        list: async () => ({ items: [], self: "gateway_1" as InstanceId }),
        drain: async (id) => id as InstanceId,
      },
      replyRetries: memory.replyRetries,
      storage: async () => ({ databaseBytes: 0, kinds: [], folders: [] }),
      metrics,
      plugins: { list: () => [], notices: () => [], route: () => null, reload: async () => null },
      views: {
        system: {
          doctor: async () => [],
          fix: async (which) => `Done: ${which}.`,
          settings: async () => ({ ...STATUS.config, rows: [], canRevert: false }),
          revert: async () => [],
          logs: async () => ({ lines: [], modules: [], searched: 0 }),
          config: noConfigFile,
        },
        agents: { list: () => ({ items: [], processes: [] }), show: () => null },
        modelKeys: { providers: () => [], test: async () => null },
        updater: {
          report: () => NO_UPDATE,
          look: async () => ({ version: "1.0.0", isNewer: false, at: clock.now() }),
          start: () => undefined,
        },
        setup: {
          checks: async () => [],
          test: async () => ({ ok: true, say: "It answers.", models: [] }),
          save: async () => ({ written: true, tests: [], problems: [] }),
        },
        auditVerifier: {
          last: () => null,
          verify: async () => ({ at: clock.now(), kind: "intact", calls: 0, entries: 0, links: 0, findings: [] }),
        },
      },
      mcpServers: {
        list: () => [],
        test: async () => null,
        accept: () => null,
        try: () => Promise.reject(new Error("nothing is tried here")),
      },
      publicConfig: () => ({ gateway: { port: 1, auth: { token: "[redacted]" } } }),
      reloadConfig: async () => ({ changed: ["logging.level"], needsRestart: [], problems: [] }),
      rotateToken: async () => ({ kind: "rotated", browsers: "signed out", spread: async () => undefined }),
      restart: () => false,
    },
  };
  for (const [group, given] of Object.entries(more)) Object.assign(deps[group as keyof HttpDeps], given);
  const http = openHttp(deps, { ...testOptions(), ...options });
  return Object.assign(intake, memory, clientOf(http), {
    http,
    clock,
    log,
    deps,
    endTurn(id: InboxId, end: Partial<TurnResult> = {}) {
      const result = { ...turnResult(id), ...end };
      memory.results.set(id, result);
      const { sessionKey, outcome, turnId, usage } = result;
      events.emit("turn.ended", { sessionKey, turnId, inboxIds: [id], outcome, ms: 5, usage });
    },
    say(part: Partial<TranscriptItem> & { readonly id: string }, sessionKey: string = API_SESSION) {
      const item: TranscriptItem = { role: "assistant", text: "words", at: clock.now(), turnId: null, ...part };
      memory.transcript.push(item);
      events.emit("message", { sessionKey: sessionKey as SessionKey, item });
    },
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  });
}

function refusedTool(tool: string): ToolOutcome {
  return { kind: "refused", code: "unknown_tool", message: `There is no tool called ${tool}. The tools are: none.` };
}

interface Intake {
  readonly received: InboundMessage[];
  readonly hinted: RouteFacts[];
  readonly inbox: Map<string, { readonly id: InboxId; readonly fingerprint: string }>;
  refuse: HttpWorld["refuse"];
  onTaken: HttpWorld["onTaken"];
  cancel: HttpWorld["cancel"];
}

function take(intake: Intake, message: InboundMessage): Receipt {
  if (intake.refuse) return intake.refuse;
  const { eventId, fingerprint, address } = message;
  const sessionKey = `agent:default:${address.channel}:dm:${address.chat}` as SessionKey;
  const before = intake.inbox.get(eventId);
  if (before) {
    return { kind: "duplicate", id: before.id, sessionKey, sameContent: before.fingerprint === fingerprint };
  }
  intake.received.push(message);
  const id = `in_${intake.received.length}` as InboxId;
  intake.inbox.set(eventId, { id, fingerprint });
  intake.onTaken?.(id, sessionKey);
  return { kind: "queued", id, sessionKey, position: 0 };
}

function testOptions(): HttpOptions {
  return {
    port: 0,
    hostname: "127.0.0.1",
    allowedHosts: [],
    trustedProxies: [],
    auth: { token: secret(TOKEN), password: null },
    mediaKey: new Uint8Array(32).fill(7),
    limits: () => ({ maxUploadBytes: 256 * 1024, maxMessageChars: 1_000 }),
  };
}

function clientOf(http: HttpServer): Pick<HttpWorld, "url" | "call" | "postJson" | "cookie"> {
  const url = (path: string) => `${http.url}${path}`;
  const asJson = { "content-type": "application/json" };
  const bearer = { authorization: `Bearer ${TOKEN}` };
  return {
    url,
    call: (path, init = {}) => fetch(url(path), { ...init, headers: { ...bearer, ...Object(init.headers) } }),
    postJson: (path, body, headers = {}) =>
      fetch(url(path), {
        method: "POST",
        headers: { ...bearer, ...asJson, ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async cookie() {
      const init = { method: "POST", headers: asJson, body: JSON.stringify({ token: TOKEN }) };
      return (await fetch(url("/api/sign-in"), init)).headers.get("set-cookie")?.split(";")[0] ?? "";
    },
  };
}

function turnResult(id: InboxId): TurnResult {
  return {
    turnId: `turn_${id}` as TurnId,
    sessionKey: API_SESSION,
    outcome: "done",
    content: "hello back",
    errorCode: null,
    toolCalls: [],
    usage: { inputTokens: 1, outputTokens: 2, costUsd: 0 },
  };
}
