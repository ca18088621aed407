/** From a caller's draft to a receipt, the same for console, API and scripts. It decides nothing the Receiver decides. */
import { type ErrorCode, GatewayError } from "../../contracts/errors.ts";
import type { MediaRef, QuotedText } from "../../contracts/chat.ts";
import type { ChatSession, RefusedBecause } from "../../contracts/channel.ts";
import type { ClientRequest } from "../../contracts/client-request.ts";
import type { PreparedSession } from "../../contracts/flow.ts";
import type { ClientResult } from "../../contracts/openai.ts";
import type { InboxId, MediaId, Principal, SessionKey } from "../../contracts/ids.ts";
import { sizeText } from "../body.ts";
import type { Identity } from "../access/auth.ts";
import { hexDigest } from "../access/digests.ts";
import { type Asking, requireOwn } from "../access/key-reach.ts";
import type { HttpDeps, MessageLimits, SessionTarget } from "../types.ts";

export const MAX_ATTACHMENTS = 8;
export const MAX_NAME_CHARS = 200;
/** As long as our ids can be. */
export const MAX_MESSAGE_ID_CHARS = 200;
/** Of a message that is replied to; the model has the rest in its history. */
const MAX_QUOTED_CHARS = 4_000;
const ACCOUNT = "default";
const ASSISTANT = { id: null, name: "Assistant" } as const;

type AttachmentInput =
  { readonly mediaId: string } | { readonly name: string; readonly mimeType: string; readonly data: string };

/** What a caller calls a session. */
interface SessionRequest {
  readonly session: string;
  /** The agent asked for; without it, the session says whose it is. */
  readonly agent?: string | undefined;
}

interface Draft extends SessionRequest {
  readonly eventId: string;
  readonly text: string;
  readonly attachments: readonly AttachmentInput[];
  readonly by: Pick<Identity, "principal" | "key">;
  /** Our id of the message of this session that it replies to. */
  readonly replyTo?: string | undefined;
  /** To be steered into the running answer, whatever the mode. */
  readonly steer?: boolean;
  readonly client?: ClientDraft;
}

/** What a program gives for one turn. */
interface ClientDraft {
  readonly request: ClientRequest;
  readonly results: readonly ClientResult[];
  /** Of everything it sent. */
  readonly digest: string;
}

export interface Taken {
  readonly id: InboxId;
  readonly sessionKey: SessionKey;
  readonly duplicate: boolean;
}

type AcceptDeps = Pick<HttpDeps, "clock" | "ids" | "store" | "messages">;

const REFUSALS: Record<RefusedBecause, ErrorCode> = {
  empty: "empty_message",
  too_long: "too_large",
  session_full: "queue_full",
  gateway_full: "queue_full",
  stopping: "stopping",
  unknown_agent: "invalid_params",
  not_allowed: "forbidden",
  ignored: "forbidden",
  no_such_answer: "invalid_params",
};

/** A session to speak in or to change. Throws `forbidden` for one that is not the caller's. */
export function ownSession(deps: Pick<HttpDeps, "messages">, asked: SessionRequest, asking: Asking): SessionTarget {
  const found = sessionOf(deps, asked, asking);
  requireOwn(asking, found.sessionKey);
  return found;
}

export function sessionOf(
  deps: Pick<HttpDeps, "messages">,
  { session, agent }: SessionRequest,
  { key }: Asking,
): SessionTarget {
  const found = deps.messages.sessions.parse(session, agent, key);
  if (found && agent !== undefined && found.agentId !== agent) {
    throw new GatewayError("invalid_params", "session of another agent", {
      say: `\`session\` belongs to the agent "${found.agentId}", and \`agent\` names another one. Leave one of them out.`,
    });
  }
  if (found) return found;
  const [, elsewhere] = /^agent:[^:]+:([^:]+)/.exec(session) ?? [];
  if (elsewhere !== undefined)
    throw new GatewayError("invalid_params", "session of another channel", {
      say: `This conversation belongs to ${elsewhere}: it can be read here, and is continued there.`,
    });
  throw new GatewayError("invalid_params", "unreadable session", {
    say: "`session` is a full session key, or a short name of a-z, 0-9 and dashes.",
  });
}

/** Throws GatewayError when the message was not taken; when it resolves, the message is stored. */
export async function acceptMessage(
  deps: AcceptDeps,
  limits: MessageLimits,
  draft: Draft,
  signal: AbortSignal,
): Promise<Taken> {
  const { sessionKey, agentId, channel, chat } = ownSession(deps, draft, draft.by);
  if (draft.text.length > limits.maxMessageChars) throw tooLong(draft.text.length, limits.maxMessageChars);
  const results = draft.client?.results ?? [];
  if (draft.text.trim() === "" && draft.attachments.length === 0 && results.length === 0)
    throw new GatewayError("empty_message", "empty");
  const answered =
    draft.replyTo === undefined
      ? null
      : await findAnswered(deps, { sessionKey, to: { channel, account: ACCOUNT, chat } }, draft);
  const files = await attach(deps, limits, draft, signal);
  const identities = files.map((file) => file.identity);
  const more = [...(answered ? [answered.ownId] : []), ...(draft.client ? [draft.client.digest] : [])];
  const message = deps.messages[channel].toInbound({
    chat,
    sessionKey,
    eventId: eventIdOf(draft),
    text: draft.text,
    attachments: files.map((file) => file.ref),
    principal: draft.by.principal,
    agentId,
    fingerprint: hexDigest(JSON.stringify([sessionKey, draft.text, identities, ...more])),
    ...(answered ? { answered } : {}),
    ...(draft.client ? { client: draft.client.request, results: results.map(quotedResult) } : {}),
    ...(draft.steer ? { steer: true } : {}),
    receivedAt: deps.clock.now(),
  });
  const receipt = await deps.messages.receiver.receive(message, signal);
  if (receipt.kind === "refused") {
    const { because, say, retryAfterMs } = receipt;
    const fields = retryAfterMs === undefined ? {} : { retryAfterMs };
    throw new GatewayError(REFUSALS[because], because, { say, fields });
  }
  if (receipt.kind === "duplicate" && !receipt.sameContent) throw new GatewayError("key_reused", "other content");
  return { id: receipt.id, sessionKey: receipt.sessionKey, duplicate: receipt.kind === "duplicate" };
}

/** Somebody may write in this session soon. Decided like a message of theirs, and throws as for one when the session is not theirs. */
export async function prepareSession(
  deps: Pick<HttpDeps, "messages">,
  asked: SessionRequest,
  by: Draft["by"],
  signal: AbortSignal,
): Promise<PreparedSession> {
  const { channel, chat, agentId } = ownSession(deps, asked, by);
  const address = { channel, account: ACCOUNT, chat };
  const sender = { principal: by.principal, name: "" };
  return await deps.messages.receiver.prepare({ address, scope: "dm", sender, mentioned: true, agentId }, signal);
}

/** Programs choose these ids, so those of one key say nothing about those of another. */
function eventIdOf({ eventId, by: { key } }: Draft): string {
  return key === null ? eventId : `${key.id}:${eventId}`;
}

function quotedResult({ callId, tool, text }: ClientResult): QuotedText {
  return { how: "result", author: { id: callId, name: tool }, text };
}

/** As it is shown now: a message of another session, or one that was deleted, cannot be replied to. */
async function findAnswered(
  { store }: AcceptDeps,
  { sessionKey, to }: ChatSession,
  { replyTo = "", session }: Pick<Draft, "replyTo" | "session">,
): Promise<QuotedText> {
  const found = await store.messages.find({ sessionKey, to }, replyTo);
  const item = found && (await store.messages.item(found.id));
  if (!item)
    throw new GatewayError("not_found", "no such message to reply to", {
      say: `There is no message ${JSON.stringify(replyTo.slice(0, MAX_NAME_CHARS))} in the session ${session} to reply to.`,
    });
  const author =
    item.role === "assistant" ? ASSISTANT : { id: item.sender?.principal ?? null, name: item.sender?.name ?? "You" };
  return { how: "reply", author, text: item.text.slice(0, MAX_QUOTED_CHARS), ownId: item.id };
}

interface Attached {
  readonly ref: MediaRef;
  /** Equal for equal content, so that a repeated request is recognised although its files were stored anew. */
  readonly identity: string;
}

async function attach(deps: AcceptDeps, limits: MessageLimits, draft: Draft, signal: AbortSignal): Promise<Attached[]> {
  const attached: Attached[] = [];
  for (const input of draft.attachments) {
    if ("mediaId" in input) attached.push(await findMedia(deps, input.mediaId, draft.by.principal));
    else attached.push(await storeInline(deps, limits, { ...input, principal: draft.by.principal }, signal));
  }
  return attached;
}

async function findMedia(deps: AcceptDeps, mediaId: string, principal: Principal): Promise<Attached> {
  const found = await deps.store.media.find(mediaId as MediaId);
  if (found === null || found.owner !== principal) {
    throw new GatewayError("invalid_params", "no such media", {
      say: "An attachment is not there. Upload it again, then send the message.",
    });
  }
  const { owner: _owner, ...ref } = found;
  return { ref, identity: mediaId };
}

async function storeInline(
  deps: AcceptDeps,
  limits: MessageLimits,
  input: { readonly name: string; readonly data: string; readonly principal: Principal },
  signal: AbortSignal,
): Promise<Attached> {
  const data = fromBase64(input.data);
  const ref = await storeFile(deps, limits, { name: input.name, data, owner: input.principal }, signal);
  return { ref, identity: `${input.name}:${hexDigest(data)}` };
}

export async function storeFile(
  deps: Pick<HttpDeps, "messages">,
  limits: Pick<MessageLimits, "maxUploadBytes">,
  file: { readonly name: string; readonly data: Uint8Array; readonly owner: Principal },
  signal: AbortSignal,
): Promise<MediaRef> {
  const { data, owner, name } = file;
  const bytes = data.byteLength;
  if (bytes > limits.maxUploadBytes) {
    throw new GatewayError("too_large", "attachment too large", {
      say: `The file of ${sizeText(bytes)} is larger than the gateway accepts (${sizeText(limits.maxUploadBytes)}).`,
    });
  }
  const open = async () => new Blob([data as Uint8Array<ArrayBuffer>]).stream();
  const kept = await deps.messages.files.keep({ owner, name, mimeType: "", bytes, open }, signal);
  if (kept.kind === "refused") throw new GatewayError("file_refused", "file not taken in", { say: kept.note });
  return kept.media;
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text);
  } catch (cause) {
    throw new GatewayError("invalid_params", "not base64", {
      cause,
      say: "`data` of an attachment is not valid base64.",
    });
  }
}

function tooLong(chars: number, maxChars: number): GatewayError {
  const [has, limit] = [chars.toLocaleString("en-US"), maxChars.toLocaleString("en-US")];
  return new GatewayError("too_large", "message too long", {
    say: `The message has ${has} characters; the limit is ${limit}. Shorten it, or send it in parts.`,
  });
}
