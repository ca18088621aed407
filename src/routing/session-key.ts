/** Session keys: built from their parts with escaping, so that distinct parts give distinct keys. Never used as a path. */
import type { SessionKey } from "../contracts/ids.ts";

/** Which conversation is meant. Every form has a shape of its own, so no two forms can give the same key. */
export type SessionName =
  /** All direct messages to an agent: `agent:{id}:main`. */
  | { readonly form: "main"; readonly agent: string }
  /** One person, wherever they write: `agent:{id}:dm:{peer}`. */
  | { readonly form: "peer"; readonly agent: string; readonly peer: Peer }
  | ChatSession;

/** `agent:{id}:{channel}[:{account}]:{dm|group}:{peer}[:topic:{thread}]`. */
interface ChatSession {
  readonly form: "chat";
  readonly agent: string;
  readonly channel: string;
  readonly account?: string;
  readonly scope: "dm" | "group";
  readonly peer: Peer;
  readonly thread?: string;
}

/** An id as the platform gives it, or the name under which several ids are linked; the latter is marked, so that a name cannot pass for an id. */
export type Peer = { readonly id: string } | { readonly person: string };

interface NamedSession {
  readonly name: SessionName;
  readonly key: SessionKey;
}

const MAX_KEY_CHARS = 512;
const MAX_CALL_CHARS = 64;
const SHORT_NAME = /^[a-z0-9-]{1,64}$/;
const PLAIN = /[A-Za-z0-9._~-]/;
/** Never the outcome of escaping. */
const PERSON_MARK = "@";

export function buildSessionKey(name: SessionName): SessionKey {
  return ["agent", escapePart(name.agent), ...chatParts(name)].join(":") as SessionKey;
}

/** A run of a job: `agent:{id}:cron:{job}:run:{run}`. */
export function cronSessionKey(agent: string, job: string, run: string): SessionKey {
  return ["agent", escapePart(agent), "cron", escapePart(job), "run", escapePart(run)].join(":") as SessionKey;
}

/** What a hook sent: `agent:{id}:hook:{name}`, or one for a single request `agent:{id}:hook:{name}:run:{request}`. */
export function webhookSessionKey(agent: string, hook: string, request: string | null): SessionKey {
  const run = request === null ? [] : ["run", escapePart(request)];
  return ["agent", escapePart(agent), "hook", escapePart(hook), ...run].join(":") as SessionKey;
}

/** The record of what was posted to a target: `agent:{id}:webhook:{target}`. */
export function targetSessionKey(agent: string, target: string): SessionKey {
  return ["agent", escapePart(agent), "webhook", escapePart(target)].join(":") as SessionKey;
}

/** A heartbeat: `agent:{id}:heartbeat:{run}`. */
export function heartbeatSessionKey(agent: string, beat: string): SessionKey {
  return ["agent", escapePart(agent), "heartbeat", "run", escapePart(beat)].join(":") as SessionKey;
}

/** The session of a delegated turn: `agent:{id}:delegate:{turn}:{call}`. Nobody can name it, so nobody can write into it. */
export function delegateSessionKey(agent: string, turn: string, call: string): SessionKey {
  return ["agent", escapePart(agent), "delegate", escapePart(turn), escapePart(call.slice(0, MAX_CALL_CHARS))].join(
    ":",
  ) as SessionKey;
}

/** The session of one request of a program, which ends with it: `agent:{id}:request:{turn}`. Nobody can write into it. */
export function requestSessionKey(agent: string, turn: string): SessionKey {
  return ["agent", escapePart(agent), "request", escapePart(turn)].join(":") as SessionKey;
}

/** A full key as it was built, or a short name that means a session of the HTTP API. Null for anything else. */
export function parseSessionText(text: string, agent: string): NamedSession | null {
  if (isShortName(text)) return named({ form: "chat", agent, channel: "api", scope: "dm", peer: { id: text } });
  if (text.length > MAX_KEY_CHARS) return null;
  const [word, keyAgent, ...parts] = text.split(":");
  const owner = unescapePart(keyAgent);
  if (word !== "agent" || !owner) return null;
  const name = parseParts(owner, parts);
  const found = name ? named(name) : null;
  return found?.key === text ? found : null; // one spelling per session: what would be built is what is accepted
}

/** A name such as `release-notes`, which does not say whose session it is. */
export function isShortName(text: string): boolean {
  return SHORT_NAME.test(text);
}

function chatParts(name: SessionName): readonly string[] {
  if (name.form === "main") return ["main"];
  if (name.form === "peer") return ["dm", peerPart(name.peer)];
  const account = name.account === undefined ? [] : [escapePart(name.account)];
  const topic = name.thread === undefined ? [] : ["topic", escapePart(name.thread)];
  return [escapePart(name.channel), ...account, name.scope, peerPart(name.peer), ...topic];
}

function parseParts(agent: string, parts: readonly string[]): SessionName | null {
  const [first, second, third] = parts;
  if (parts.length === 1 && first === "main") return { form: "main", agent };
  if (parts.length === 2 && first === "dm") {
    const peer = parsePeer(second);
    return peer && { form: "peer", agent, peer };
  }
  const hasAccount = parts.length === 4 && (third === "dm" || third === "group");
  const withAccountAndTopic = parts.length === 6;
  return parseChat(agent, parts, hasAccount || withAccountAndTopic);
}

function parseChat(agent: string, parts: readonly string[], hasAccount: boolean): ChatSession | null {
  const [channelPart, ...rest] = parts;
  const account = hasAccount ? unescapePart(rest.shift()) : undefined;
  const [scope, peerText, topicWord, threadPart, ...more] = rest;
  const [channel, peer, thread] = [unescapePart(channelPart), parsePeer(peerText), unescapePart(threadPart)];
  if (account === null || !channel || !peer || more.length > 0) return null;
  if (scope !== "dm" && scope !== "group") return null;
  const chat = { form: "chat", agent, channel, scope, peer, ...(account === undefined ? {} : { account }) } as const;
  if (topicWord === undefined) return chat;
  return topicWord === "topic" && thread ? { ...chat, thread } : null;
}

function named(name: SessionName): NamedSession {
  return { name, key: buildSessionKey(name) };
}

function peerPart(peer: Peer): string {
  return "person" in peer ? `${PERSON_MARK}${escapePart(peer.person)}` : escapePart(peer.id);
}

function parsePeer(part: string | undefined): Peer | null {
  if (part?.startsWith(PERSON_MARK)) {
    const person = unescapePart(part.slice(1));
    return person === null ? null : { person };
  }
  const id = unescapePart(part);
  return id === null ? null : { id };
}

function escapePart(part: string): string {
  let escaped = "";
  for (const byte of Buffer.from(part, "utf8")) {
    const letter = String.fromCharCode(byte);
    escaped += byte < 128 && PLAIN.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return escaped;
}

function unescapePart(part: string | undefined): string | null {
  if (!part) return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return null; // a stray percent sign: not a key we built
  }
}
