/** What the HTTP side needs and gives: its dependencies, options and handle. Types only. */
import type { RouteFacts } from "../contracts/routing.ts";
import type { AccessPolicies, Explanation } from "../routing/index.ts";
import type { ApiKey, ApiKeys } from "../contracts/api-keys.ts";
import type { AgentsLook } from "../contracts/agents-api.ts";
import type { Budget } from "../contracts/budget.ts";
import type { Heartbeats } from "../contracts/automation/heartbeat.ts";
import type { IncomingWebhooks, WebhookAdmin } from "../contracts/automation/webhook.ts";
import type { JobsApi, LookAhead } from "../contracts/automation/jobs.ts";
import type { Receiver } from "../contracts/channel.ts";
import type { RoleDirectory } from "../contracts/channels/roles.ts";
import type { Pairing } from "../contracts/channels/pairing.ts";
import type { InboundFiles, Webhook } from "../contracts/channels/platform.ts";
import type { Questions } from "../contracts/channels/question.ts";
import type { InboundMessage, MediaRef, QuotedText } from "../contracts/chat.ts";
import type { Commands } from "../contracts/command.ts";
import type { Conversations } from "../contracts/conversations.ts";
import type { ClientRequest } from "../contracts/client-request.ts";
import type { ClientStream, Events } from "../contracts/events.ts";
import type {
  LiveTurns,
  SessionBrancher,
  SessionPreparer,
  SessionRemover,
  WaitingMessages,
} from "../contracts/flow.ts";
import type { ReplyRetries } from "../contracts/delivery.ts";
import type { ReloadReport } from "../contracts/http-api.ts";
import type { AgentId, InstanceId, Principal, SessionKey } from "../contracts/ids.ts";
import type { McpClients, McpTrials } from "../contracts/mcp.ts";
import type { McpDoor } from "../contracts/mcp-door.ts";
import type { ModelKeys } from "../contracts/model-keys.ts";
import type { CountSharing } from "../contracts/nodes.ts";
import type { Metrics } from "../contracts/metrics.ts";
import type { Notifications } from "../contracts/notifications.ts";
import type { OpenAiDoor } from "../contracts/openai.ts";
import type { ResponsesDoor } from "../contracts/responses.ts";
import type { SessionModels } from "../contracts/session-models.ts";
import type { PluginHost } from "../contracts/plugin.ts";
import type { Setup } from "../contracts/setup.ts";
import type { SystemLook } from "../contracts/system-api.ts";
import type { Updater } from "../contracts/update.ts";
import type { ApprovalRules } from "../contracts/tools/approval-rule.ts";
import type { Approvals } from "../contracts/tools/approval.ts";
import type { AgentTokens } from "../contracts/tools/agent-token.ts";
import type { ToolGate, ToolLists } from "../contracts/tools/tool.ts";
import type { NodeList } from "../contracts/store/nodes.ts";
import type { StorageReport } from "../contracts/storage.ts";
import type { AuditVerifier } from "../contracts/store/tool-calls.ts";
import type { Store } from "../contracts/store.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import type { Secret } from "../kit/secret.ts";
import type { SignInsElsewhere } from "./access/auth.ts";
import type { MediaLinks } from "./access/media-links.ts";

/** Everything the port stands on, in groups by subject. A route names the groups it uses: `Pick<HttpDeps, "tools" | "store">`. */
export interface HttpDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly stream: ClientStream;
  readonly store: HttpStore;
  readonly console: ConsoleAssets;
  readonly messages: MessageDeps;
  readonly people: PeopleDeps;
  readonly tools: ToolDeps;
  readonly automation: AutomationDeps;
  readonly operations: OperationDeps;
}

type HttpStore = Pick<Store, "turns" | "sessions" | "media" | "signIns"> & {
  readonly health: Pick<Store["health"], "isWritable">;
  readonly outbox: Pick<Store["outbox"], "list">;
  readonly messages: Pick<Store["messages"], "find" | "item" | "traffic">;
  readonly toolCalls: Pick<Store["toolCalls"], "list">;
  readonly approvals: Pick<Store["approvals"], "ended">;
  readonly audit: Pick<Store["audit"], "list" | "note">;
  readonly activity: Store["activity"];
  readonly usage: Pick<Store["usage"], "report">;
};

/** Messages into sessions, and what becomes of them. */
interface MessageDeps {
  /** Takes messages in, and hears that one may come. */
  readonly receiver: Receiver & SessionPreparer;
  readonly live: LiveTurns;
  readonly waiting: WaitingMessages;
  /** Deletes sessions, goes back in them, and branches off them. */
  readonly care: SessionRemover & SessionBrancher;
  /** Takes in what people attach, and listens to what they say. */
  readonly files: Pick<InboundFiles, "keep" | "transcribe">;
  readonly webchat: InboundMaker & {
    /** A reaction to a message of ours; null removes it. False: there is no such message. */
    takeReaction(messageId: string, emoji: string | null, by: Principal): Promise<boolean>;
  };
  readonly api: InboundMaker;
  readonly sessions: SessionNames;
  readonly models: SessionModels;
  /** Chat completions in the form of OpenAI's API. */
  readonly openai: OpenAiDoor;
  /** The same agents in the form of OpenResponses. */
  readonly responses: ResponsesDoor;
  /** The channel that answers requests of its platform at this path; null: none does. */
  platformWebhook(path: string): Webhook | null;
}

/** Who may write, what they may tell the gateway itself, and what they may spend. */
interface PeopleDeps {
  readonly commands: Pick<Commands, "list">;
  readonly pairing: Pick<Pairing, "list" | "approve" | "revoke" | "undo">;
  readonly budget: Pick<Budget, "today" | "limits">;
  readonly roles: Pick<RoleDirectory, "people" | "change">;
  readonly keys: ApiKeys;
  /** What rate limits count at all gateways; absent: there are no others. */
  readonly counts?: CountSharing;
  /** Sign-ins at other gateways on the database; absent: there are none. */
  readonly elsewhere?: SignInsElsewhere;
  readonly notifications: Notifications;
  /** Who may write to an account. */
  readonly policyOf: AccessPolicies["policyOf"];
  /** No stranger can write to it. */
  isOwnChannel(channel: string): boolean;
  /** The account behind a line of the status. */
  accountOf(id: string): string;
  /** Where a message would go, and why. */
  explainRoute(facts: RouteFacts): Pick<Explanation, "verdict" | "considered">;
}

/** Tools as programs use them: each call passes the gate like any other. */
interface ToolDeps {
  readonly gate: Pick<ToolGate, "call" | "specs" | "recordRejected">;
  list(): ToolLists;
  readonly approvals: Pick<Approvals, "pending" | "decide">;
  readonly approvalRules: ApprovalRules;
  readonly questions: Pick<Questions, "pending" | "answerAnywhere">;
  /** Scripts inside agent processes. */
  readonly agentTokens: AgentTokens;
  /** Programs that speak the Model Context Protocol. */
  readonly mcp: Pick<McpDoor, "answer">;
}

interface AutomationDeps {
  readonly jobs: JobsApi;
  readonly lookAhead: LookAhead;
  readonly webhooks: IncomingWebhooks;
  readonly webhookAdmin: WebhookAdmin;
  readonly heartbeats: Heartbeats;
}

/** The gateway itself: how it is, and what its operator does with it. */
interface OperationDeps {
  status(): GatewayStatus;
  readonly nodes: NodeOperations;
  /** Replies that were lost, sent again by hand. */
  readonly replyRetries: ReplyRetries;
  /** How much is stored of everything that grows. */
  storage(signal: AbortSignal): Promise<StorageReport>;
  readonly metrics: Metrics;
  readonly plugins: PluginHost;
  readonly mcpServers: McpClients & McpTrials;
  readonly views: OperatorViews;
  /** The configuration with its secrets already taken out. */
  publicConfig(): unknown;
  reloadConfig(): Promise<ReloadReport>;
  /** Puts a new operator token in place of the old one, which is refused from then on. */
  rotateToken(): Promise<TokenRotation>;
  /** Begins a restart; false when that is not allowed. */
  restart(): boolean;
}

/** The gateways that use the database. */
interface NodeOperations {
  list(): Promise<NodeList>;
  /** It takes no new sessions from now on. By its id, its name, or `self` for the one that answers. Its id. Throws `not_found`, `conflict`, `node_silent`. */
  drain(asked: string): Promise<InstanceId>;
}

/** `configured`: the token is in the configuration, where the operator changes it. */
export type TokenRotation =
  | {
      readonly kind: "rotated";
      readonly browsers: "signed out" | "stay signed in";
      /** Resolves when it holds at every gateway on the database. Throws `node_silent` where one lives and does not say so. */
      spread(): Promise<void>;
    }
  | { readonly kind: "configured" };

/** What an operator looks at. */
interface OperatorViews {
  readonly agents: AgentsLook;
  readonly system: SystemLook;
  readonly auditVerifier: AuditVerifier;
  readonly modelKeys: ModelKeys;
  readonly setup: Setup;
  readonly updater: Updater;
}

/** The built web console. Keys are URL paths: "/" for the document, "/app-1a2b.js", "/favicon.svg", … */
export interface ConsoleAssets {
  /** Changes when any file changes; it is the ETag of every file. */
  readonly build: string;
  readonly files: ReadonlyMap<string, ConsoleFile>;
  /** The documentation site, by URL path: "/docs", "/docs/models", … */
  readonly docs: ReadonlyMap<string, ConsoleFile>;
}

export interface ConsoleFile {
  /** Null: it is there as `gzip` alone. */
  readonly body: Uint8Array | Blob | null;
  readonly type: string;
  readonly gzip?: Uint8Array | Blob;
  /** The name contains a digest of the content, so a browser may keep it for ever. */
  readonly immutable: boolean;
  /** Its content security policy, where that is not the one of the web console. */
  readonly policy?: string;
}

/** Makes the platform-free message of one channel. Pure; the gateway hands in the channel's own function. */
interface InboundMaker {
  toInbound(input: InboundInput): InboundMessage;
}

export interface InboundInput {
  /** Chat id of the console, or session name of the API. */
  readonly chat: string;
  readonly sessionKey: SessionKey;
  readonly eventId: string;
  readonly text: string;
  readonly attachments: readonly MediaRef[];
  readonly principal: Principal;
  readonly agentId: AgentId;
  readonly fingerprint: string;
  /** To be steered into the running answer. */
  readonly steer?: boolean;
  readonly client?: ClientRequest;
  /** Of client tools. */
  readonly results?: readonly QuotedText[];
  readonly receivedAt: number;
}

interface SessionNames {
  /** A full key, or the short name of a session of the API, which may be one of a named agent, or of the API key that asks; null when it is neither. */
  parse(text: string, agent: string | undefined, key: ApiKey | null): SessionTarget | null;
}

/** The channel is the session's own, whoever asks: the console may speak in a session of the API and the other way round. */
export interface SessionTarget {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly channel: "webchat" | "api";
  readonly chat: string;
}

/** What may change while the server runs. */
export interface AccessSettings {
  readonly auth: AuthSettings;
  /** Host names (with port, if not 80 or 443) besides the gateway's own addresses. */
  readonly allowedHosts: readonly string[];
  /** Addresses or CIDR ranges whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[];
}

export interface AuthSettings {
  readonly token: Secret;
  readonly password: Secret | null;
  /** What lets a program call hooks; without it nobody may. */
  readonly hookToken?: Secret | null;
}

export interface HttpOptions extends AccessSettings {
  /** 0 picks a free one. */
  readonly port: number;
  /** An IP address to listen on, such as 127.0.0.1, 0.0.0.0 or ::1. */
  readonly hostname: string;
  /** 32 random bytes that stay the same across restarts; signs media links and binds sign-ins to a credential. */
  readonly mediaKey: Uint8Array;
  /** Several gateways share their sign-ins: a cookie of one is good at all of them. */
  readonly severalGateways?: boolean | undefined;
  limits(): MessageLimits;
}

/** What the open port itself gives to its routes and socket methods. */
export interface ServerParts {
  readonly links: MediaLinks;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  limits(): MessageLimits;
}

export interface MessageLimits {
  readonly maxUploadBytes: number;
  readonly maxMessageChars: number;
}

export interface HttpServer extends AsyncDisposable {
  /** `http://127.0.0.1:18789`, without a slash at the end. */
  readonly url: string;
  /** For doors that are no routes. */
  readonly conversations: Conversations;
  readonly port: number;
  /** Whether the sign-in with this digest holds now: it has not ended, and its credential is still the valid one. */
  isSignedIn(signIn: string): Promise<boolean>;
  /** A fresh code that signs one browser in, once, within ten minutes. */
  signInCode(): string;
  /** True once, for the digest of a code that was made here. */
  useCode(digest: string): boolean;
  /** Closes what browsers have open whose sign-in has ended, perhaps at another gateway. */
  closeSignedOut(): Promise<void>;
  /** What GET /ready answers. Starts as not ready. */
  setReady(ready: boolean): void;
  /** Takes effect with the next request; sockets and cookies made with a credential that is no longer valid end at once. */
  update(settings: AccessSettings): void;
  stats(): { readonly sockets: number; readonly requests: number };
}
