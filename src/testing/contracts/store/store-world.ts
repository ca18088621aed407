/** Names, rows and turns for tests of a store, and the way to open one. */
import type { ChatAddress, InboundMessage } from "../../../contracts/chat.ts";
import type { AgentId, InboxId, Principal, SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import type { TurnFinish } from "../../../contracts/store/turns.ts";
import type { NewInboxRow } from "../../../contracts/store/inbox.ts";
import type { SecretMask } from "../../../kit/secret.ts";

export interface StoreWorld extends AsyncDisposable {
  readonly store: Store;
  /** Several gateways may use the database in earnest. A store that one gateway holds alone may remember what it has read. */
  readonly isShared: boolean;
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>;
  /** Opens it on the same data once more, as another gateway would, while the first is open. */
  openSecond(): Promise<Store>;
}

/** `mask`: the secrets that the store knows. */
export type OpenStoreWorld = (more?: { readonly mask?: SecretMask }) => Promise<StoreWorld>;

export const AGENT = "default" as AgentId;
export const OPERATOR = "operator" as Principal;
export const HERE: ChatAddress = { channel: "webchat", account: "main", chat: "42" };

export function sessionKey(name: string): SessionKey {
  return `agent:default:webchat:dm:${name}` as SessionKey;
}

function message(eventId: string, more: Partial<InboundMessage> = {}): InboundMessage {
  return {
    eventId,
    fingerprint: `print-${eventId}`,
    address: HERE,
    scope: "dm",
    sender: { principal: OPERATOR, name: "Olga" },
    text: `text of ${eventId}`,
    quoted: [],
    attachments: [],
    mentioned: false,
    receivedAt: 1_000,
    ...more,
  };
}

/** What agents accept as the name of a session file. */
export const SESSION_FILE = /^[a-z0-9-]{8,80}\.jsonl$/;

export function row(id: string, session: string, more: Partial<InboundMessage> = {}): NewInboxRow {
  return {
    id: id as InboxId,
    sessionKey: sessionKey(session),
    agentId: AGENT,
    role: "owner",
    priority: 10,
    message: message(`event-${id}`, more),
  };
}

export function turn(id: string, session: string, inboxIds: readonly string[], at = 2_000) {
  return { turnId: id as TurnId, sessionKey: sessionKey(session), agentId: AGENT, inboxIds: inboxIds as InboxId[], at };
}

export function end(turnId: string, more: Partial<TurnFinish> = {}): TurnFinish {
  return {
    turnId: turnId as TurnId,
    attempt: 1,
    outcome: "done",
    reply: [{ part: 0, message: { text: `answer of ${turnId}`, kind: "reply" } }],
    to: HERE,
    usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 },
    model: "demo",
    settledBytes: 100,
    at: 3_000,
    ...more,
  };
}

export function intent(id: string, turnId: string, idempotent: boolean) {
  return {
    id,
    callId: `call-${id}`,
    turnId: turnId as TurnId,
    sessionKey: sessionKey("a"),
    principal: OPERATOR,
    tool: "echo",
    origin: "chat" as const,
    path: "pipe" as const,
    scope: `turn:${turnId}`,
    paramsHash: `hash-${id}`,
    input: { text: id },
    idempotent,
    waiting: false,
    at: 2_500,
  };
}
