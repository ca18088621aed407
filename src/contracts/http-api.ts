/**
 * The JSON routes of the gateway by name: what each takes and answers. Routes answer by it (`jsonOf` of http/route.ts) and take bodies by it
 * (`bodyOf` of http/checked.ts), and the client is typed by it, so that they cannot disagree. Types only.
 */
import type { KnownVersion, UpdateReport } from "./update.ts";
import type { SavedSetup, SetupCheck, SetupInput, SetupTest } from "./setup.ts";
import type { AgentDetails, AgentList } from "./agents-api.ts";
import type { AgentModel } from "./agent.ts";
import type { HeartbeatCard } from "./automation/heartbeat.ts";
import type { Schedule } from "./automation/job.ts";
import type { WebhookKey, WebhookList } from "./automation/webhook.ts";
import type { CalendarRange, JobCalendar, SchedulePreview } from "./automation/jobs.ts";
import type { ApiKey } from "./api-keys.ts";
import type { LimitState } from "./budget.ts";
import type { ConfigChange, ConfigFile, ConfigProposal, SavedConfig } from "./config-api.ts";
import type { ChannelCard } from "./channels/channel-cards.ts";
import type { OpenQuestion, QuestionNews } from "./channels/question.ts";
import type { PairedPerson } from "./channels/pairing.ts";
import type { SessionSummary, TranscriptItem } from "./chat.ts";
import type { TroubledPart, TroubledState } from "./delivery.ts";
import type { DeletedSession, SessionBranch, LiveTool, LiveTurn, LiveWait } from "./flow.ts";
import type { InstanceId, Role } from "./ids.ts";
import type { KeyTest, ProviderCard } from "./model-keys.ts";
import type { ExtensionsApi } from "./extensions-api.ts";
import type { NotificationsApi } from "./notifications-api.ts";
import type { MetricsSnapshot } from "./metrics.ts";
import type { Listed } from "./paging.ts";
import type { ThinkingLevel } from "./session-settings.ts";
import type { TurnDetails, TurnTrace } from "./store/turns.ts";
import type { ActivityKind, ActivityOutcome, ActivityPage } from "./store/activity.ts";
import type { EndedApproval } from "./store/approvals.ts";
import type { MessageHit } from "./store/session-care.ts";
import type { NodeList } from "./store/nodes.ts";
import type { StorageReport } from "./storage.ts";
import type { AuditEntry, AuditKind, AuditRow, AuditStatus, AuditVerification } from "./store/tool-calls.ts";
import type { UsageBy, UsageItem, UsageSum } from "./store/usage.ts";
import type { HealthCheck, HealthFix, LogLevelName, LogPage, SettingsReport, SignedInBrowser } from "./system-api.ts";
import type { ApprovalRule, RuleReach } from "./tools/approval-rule.ts";
import type { ApprovalDecision, PendingApproval } from "./tools/approval.ts";
import type { ListedTool, PiToolListing } from "./tools/tool.ts";
import type {
  ChatReply,
  GatewayStatus,
  ToolCallReply,
  WireError,
  WireJob,
  WireJobInput,
  WireKeyInput,
  WireMethods,
} from "./wire.ts";

/** `path`: what stands for `:name` in it. Left out: it takes none. */
export interface HttpApi extends NotificationsApi, ExtensionsApi {
  "GET /api/status": { result: GatewayStatus };
  "GET /api/metrics": { result: MetricsSnapshot };
  "GET /api/nodes": { result: NodeList };
  /** A gateway by its id or name, or `self`: it takes no new sessions from now on. */
  "POST /api/nodes/:id/drain": { path: { id: string }; result: { draining: InstanceId } };
  "GET /api/storage": { result: StorageReport };
  "GET /api/config": { result: unknown };
  "POST /api/config/reload": { result: ReloadReport };
  /** The link is the gateway's address and `/#code=CODE`; it signs a browser in once. */
  "POST /api/sign-in-links": { result: { code: string; expiresInMs: number } };
  /** The new token is in the file `token` of the state directory. */
  "POST /api/token/rotate": { result: { browsers: "signed out" | "stay signed in" } };
  /** Browsers that are signed in; `id` is for the other route. */
  "GET /api/sign-ins": { result: { items: readonly SignedInBrowser[] } };
  "DELETE /api/sign-ins/:id": { path: { id: string }; result: { signedOut: true } };
  "GET /api/doctor": { result: { items: readonly HealthCheck[] } };
  /** Does what helps against a problem that the checks found. */
  "POST /api/doctor/fix": { body: { fix: HealthFix }; result: { say: string } };
  "GET /api/config/settings": { result: SettingsReport };
  /** The last good settings take the place of a file that is not in force; a copy of it stays. */
  "POST /api/config/revert": { result: { reverted: true } };
  /** The file without its secrets, for an editor. */
  "GET /api/config/file": { result: ConfigFile };
  /** What a change would do. Writes nothing. */
  "POST /api/config/propose": { body: ConfigChange; result: ConfigProposal };
  /** Writes a change that has no problems, and puts it into force; a copy of the file as it was stays. */
  "POST /api/config/save": { body: ConfigChange; result: SavedConfig };
  /** The newest lines that fit, newest last. */
  "GET /api/logs": {
    query?: { limit?: number; level?: LogLevelName; module?: string; q?: string };
    result: LogPage;
  };
  "POST /api/restart": { result: { restarting: true } };

  "POST /api/messages/:id/cancel": { path: { id: string }; result: WireMethods["chat.cancel"]["result"] };
  "PATCH /api/messages/:id": {
    path: { id: string };
    body: { text: string };
    result: WireMethods["chat.edit"]["result"];
  };

  /** `pinned` and `archived`: "true" or "false". Archived ones only when they are asked for, or searched. */
  "GET /api/sessions": {
    query?: PageQuery & {
      search?: string;
      channel?: string;
      agent?: string;
      person?: string;
      pinned?: YesNo;
      archived?: YesNo;
    };
    result: Listed<SessionSummary>;
  };
  /** Messages and replies that have all the words, newest first. */
  "GET /api/search": {
    query: PageQuery & { q: string; session?: string; channel?: string };
    result: Listed<MessageHit>;
  };
  "GET /api/sessions/:key/export": {
    path: { key: string };
    query?: { format?: "markdown" | "json" | "html" };
    result: SessionExport;
  };
  /** A new session that begins with this one up to a message, with the reply to it; left out: all of it. `session` names the new one. */
  "POST /api/sessions/:key/branch": {
    path: { key: string };
    body: { message?: string; session?: string };
    result: SessionBranch;
  };
  /** Goes back to before a message (or a reply) and sends it again, with other words if there are any. What came after is shown no more. */
  "POST /api/sessions/:key/resend": {
    path: { key: string };
    body: { message: string; text?: string };
    result: { accepted: string; sessionKey: string };
  };
  /** Everything that was said, its files, and what the assistant remembers of it. The audit log and what was spent stay. */
  "DELETE /api/sessions/:key": { path: { key: string }; result: { deleted: DeletedSession } };
  "GET /api/sessions/:key": { path: { key: string }; result: { session: SessionDetails; live: LiveTurn | null } };
  "GET /api/sessions/:key/transcript": { path: { key: string }; query?: PageQuery; result: Listed<TranscriptItem> };
  "POST /api/sessions/:key/abort": { path: { key: string }; result: { aborted: boolean } };
  "POST /api/sessions/:key/reset": { path: { key: string }; result: { reset: boolean } };
  "POST /api/sessions/:key/model": {
    path: { key: string };
    body: { model?: string | null; thinking?: string | null };
    result: { model: string | null; thinking: string | null };
  };
  "PATCH /api/sessions/:key": {
    path: { key: string };
    body: { name?: string | null; pinned?: boolean; archived?: boolean };
    result: { session: SessionSummary };
  };

  "GET /api/turns": {
    query?: PageQuery & { session?: string; outcome?: "done" | "failed" | "aborted" };
    result: Listed<TurnTrace>;
  };
  /** `because`: what its error code means, as a sentence; absent: it has none. */
  "GET /api/turns/:id": {
    path: { id: string };
    result: TurnDetails & { because?: string };
  };

  /** Newest first. A page may be short or empty while there is a next one: `searchedTo` says how far back it looked. */
  "GET /api/activity": {
    query?: PageQuery & {
      kind?: ActivityKind;
      outcome?: ActivityOutcome;
      agent?: string;
      person?: string;
      channel?: string;
      q?: string;
    };
    result: ActivityPage;
  };
  /** Null: it was not verified since the gateway started. */
  "GET /api/audit/verification": { result: { verification: AuditVerification | null } };
  "POST /api/audit/verification": { result: { verification: AuditVerification } };

  "GET /api/agents": { result: AgentList };
  "GET /api/agents/:id": { path: { id: string }; query?: { role?: Role }; result: { agent: AgentDetails } };

  "GET /api/channels": { result: { items: readonly ChannelCard[] } };

  /** A key, and an agent's script, see what they may call, and no pi tools. */
  "GET /api/tools": {
    query?: { callable?: "true" };
    result: { tools: readonly ListedTool[]; piTools?: readonly PiToolListing[] };
  };
  "POST /api/tools/call": { body: { tool: string; params?: unknown; callId?: string }; result: ToolCallReply };
  "GET /api/tool-calls": {
    query?: PageQuery & {
      session?: string;
      tool?: string;
      status?: AuditStatus;
      since?: number | string;
      until?: number | string;
    };
    result: Listed<AuditRow>;
  };
  "GET /api/audit": { query?: PageQuery & { kind?: AuditKind }; result: Listed<AuditEntry> };
  "GET /api/outbox": { query?: PageQuery & { state?: TroubledState }; result: Listed<TroubledPart> };
  /** `mayRepeat`: its chat may show it twice. */
  "POST /api/outbox/:id/retry": {
    path: { id: string };
    query?: { mayRepeat?: "true" };
    result: { retried: true; from: TroubledState };
  };

  "GET /api/approvals": {
    query?: PageQuery & { state?: "open" | "ended" };
    result: Listed<PendingApproval | EndedApproval>;
  };
  "POST /api/approvals/:id": {
    path: { id: string };
    body: { decision: ApprovalDecision; rule?: RuleReach };
    result: WireMethods["approvals.decide"]["result"];
  };
  "GET /api/approval-rules": { query?: PageQuery; result: Listed<ApprovalRule> };
  "DELETE /api/approval-rules/:id": { path: { id: string }; result: { removed: true } };
  "GET /api/questions": { result: { items: readonly OpenQuestion[] } };
  "POST /api/questions/:id": {
    path: { id: string };
    body: { answer: string | boolean | null };
    result: WireMethods["questions.answer"]["result"];
  };

  /** `failing: "true"`: only jobs whose last run failed. `planned: "true"`: only those with a next run, the soonest first; "false": the others. */
  "GET /api/cron/jobs": {
    query?: PageQuery & { failing?: YesNo; planned?: YesNo };
    result: WireMethods["cron.list"]["result"];
  };
  "POST /api/cron/jobs": { body: WireJobInput; result: { job: WireJob } };
  "GET /api/cron/jobs/:id": { path: { id: string }; result: { job: WireJob } };
  "PATCH /api/cron/jobs/:id": { path: { id: string }; body: Partial<WireJobInput>; result: { job: WireJob } };
  "DELETE /api/cron/jobs/:id": { path: { id: string }; result: { job: WireJob } };
  "POST /api/cron/jobs/:id/pause": { path: { id: string }; result: { job: WireJob } };
  "POST /api/cron/jobs/:id/resume": { path: { id: string }; result: { job: WireJob } };
  "POST /api/cron/jobs/:id/run": { path: { id: string }; result: WireMethods["cron.run"]["result"] };
  "GET /api/cron/jobs/:id/runs": {
    path: { id: string };
    query?: PageQuery;
    result: WireMethods["cron.runs"]["result"];
  };
  "POST /api/cron/wake": {
    body: WireMethods["cron.wake"]["params"];
    result: WireMethods["cron.wake"]["result"];
  };
  /** `words` such as "every weekday at 9", or `kind` and `expr` of a schedule. Answers with both ways to say it and its next times. */
  "GET /api/cron/preview": {
    query: { words?: string; kind?: Schedule["kind"]; expr?: string; timezone?: string };
    result: SchedulePreview;
  };
  /** Planned runs by day, from `from` (2026-11-01) on, at most 42 days. */
  "GET /api/cron/calendar": { query: CalendarRange; result: JobCalendar };
  "GET /api/cron/status": { result: WireMethods["cron.status"]["result"] };

  "GET /api/heartbeats": { result: { items: readonly HeartbeatCard[] } };
  /** `before`: the checklist as it was seen. */
  "POST /api/heartbeats/:agent/checklist": {
    path: { agent: string };
    body: { text: string; before: string | null };
    result: { written: true };
  };
  "GET /api/webhooks": { result: WebhookList };
  /** Begins what a sender would begin with this body. `text`: what the agent gets. */
  "POST /api/webhooks/:name/test": {
    path: { name: string };
    body: { body: string };
    result: { id: string; text: string };
  };
  "POST /api/webhook-targets/:name/test": { path: { name: string }; result: { ok: boolean; say: string } };
  /** The secret is told once. Old keys stay good until they are removed. */
  "POST /api/webhooks/:name/keys": { path: { name: string }; result: { key: WebhookKey; secret: string } };
  "DELETE /api/webhooks/:name/keys/:key": { path: { name: string; key: string }; result: { removed: true } };

  "GET /api/pairing": { result: { items: readonly PairedPerson[] } };
  "POST /api/pairing": { body: { code: string; role: Role }; result: { person: PairedPerson; role: Role } };
  "POST /api/pairing/:id": {
    path: { id: string };
    body: { decision: "approve"; code: string; role: Role } | { decision: "revoke" | "undo" };
    result: { person: PairedPerson; role: Role } | { revoked: true } | { undone: true };
  };
  "POST /api/route": {
    body: {
      channel: string;
      account: string;
      chat: string;
      thread?: string;
      peer: string;
      scope: "dm" | "group";
      mentioned: boolean;
    };
    result: { verdict: unknown; considered: readonly unknown[] };
  };
  "GET /api/people": {
    result: { items: readonly { principal: string; role: Role; from: "configuration" | "chat" }[] };
  };
  /** `role` null withdraws what was given. */
  "POST /api/people": {
    body: { principal: string; role: Role | null };
    result: { principal: string; role: Role | null };
  };
  /** `current`: of the default agent. `providers`: those whose keys are there besides. */
  "GET /api/models": {
    query?: { agent?: string };
    result: { items: readonly AgentModel[]; providers: readonly string[]; current: string | null };
  };

  "GET /api/models/providers": { result: { items: readonly ProviderCard[] } };
  /** Asks the provider for the list of its models, which costs nothing. Without `key` with the one that is set. */
  "POST /api/models/test": { body: { provider: string; key?: string }; result: KeyTest };

  "GET /api/update": { result: UpdateReport };
  /** Asks the registry for the newest version. */
  "POST /api/update/check": { result: KnownVersion };
  /** Begins what `pi-gw update` does; `GET /api/update` says how it goes on. */
  "POST /api/update": { result: UpdateReport };

  /** What a gateway should have, and whether it does: a model, a channel, notifications, backups. */
  "GET /api/setup": { result: { items: readonly SetupCheck[] } };
  /** Tries one of the two for real, and changes nothing. */
  "POST /api/setup/test": { body: Pick<SetupInput, "model" | "channel">; result: SetupTest };
  /** Tries each step that is given, unless `test` is false, and writes all of them into the configuration, or nothing. */
  "POST /api/setup": { body: SetupInput; result: SavedSetup };

  "GET /api/usage": {
    query?: PageQuery & { from?: string; to?: string; by?: UsageBy };
    result: UsageReport;
  };
  "GET /api/keys": { result: { items: readonly ApiKey[] } };
  "POST /api/keys": { body: WireKeyInput; result: { key: ApiKey; secret: string } };
  "DELETE /api/keys/:id": { path: { id: string }; result: { revoked: true } };
}

export type RouteName = keyof HttpApi;

/** Of a list: at most 200, 50 when it is left out; `cursor` is `next` of the page before. */
export interface PageQuery {
  limit?: number;
  cursor?: string;
}

/** With null where the agent's own settings hold. */
export interface SessionDetails extends Omit<SessionSummary, "model" | "thinking"> {
  readonly model: string | null;
  readonly thinking: ThinkingLevel | null;
}

export interface ReloadReport {
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
  readonly problems: readonly string[];
}

export interface UsageReport extends Listed<UsageItem> {
  readonly from: string;
  readonly to: string;
  readonly timezone: string;
  readonly by: UsageBy;
  readonly total: UsageSum;
  readonly limits: readonly LimitState[];
}

/** What `POST /api/chat` takes. */
export interface ChatRequest {
  text: string;
  /** A short name or a full session key; absent: the caller's own. */
  session?: string;
  agent?: string;
  /** The message that it replies to. */
  replyTo?: string;
  attachments?: ({ mediaId: string } | { name: string; mimeType: string; data: string })[];
}

/** What happens in a turn, while it does. */
export type TurnProgress =
  | { readonly event: "delta"; readonly data: { readonly text: string } }
  | { readonly event: "waiting"; readonly data: LiveWait }
  | { readonly event: "question"; readonly data: Pick<QuestionNews, "id" | "question" | "expiresAt" | "end"> }
  | { readonly event: "tool"; readonly data: Pick<LiveTool, "callId" | "tool" | "status" | "progress" | "ms"> };

/** What is streamed for a message: accepted first, `done` or `error` last. */
export type ChatStreamEvent =
  | { readonly event: "accepted"; readonly data: { readonly id: string } }
  | TurnProgress
  | { readonly event: "done"; readonly data: ChatReply }
  | { readonly event: "error"; readonly data: WireError };

/** In an address. */
type YesNo = "true" | "false";

/** A conversation as a file. */
export interface SessionExport {
  readonly name: string;
  readonly mimeType: string;
  readonly text: string;
}
