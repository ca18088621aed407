/** Session keys: built from their parts with escaping, so that distinct parts give distinct keys. Never used as a path. */
import type { SessionKey } from "../contracts/ids.ts";

export interface SessionName {
  readonly agent: string;
  readonly channel: string;
  readonly scope: "dm" | "group";
  readonly id: string;
}

const MAX_KEY_CHARS = 512;
const SHORT_NAME = /^[a-z0-9-]{1,64}$/;
const PLAIN = /[A-Za-z0-9._~-]/;

export function buildSessionKey(name: SessionName): SessionKey {
  return ["agent", escapePart(name.agent), escapePart(name.channel), name.scope, escapePart(name.id)].join(
    ":",
  ) as SessionKey;
}

/** A full key as it was built, or a short name that means a session of the HTTP API. Null for anything else. */
export function parseSessionText(text: string, agent: string): (SessionName & { readonly key: SessionKey }) | null {
  if (SHORT_NAME.test(text)) return named({ agent, channel: "api", scope: "dm", id: text });
  if (text.length > MAX_KEY_CHARS) return null;
  const [word, keyAgent, channel, scope, id, ...rest] = text.split(":");
  if (word !== "agent" || rest.length > 0 || (scope !== "dm" && scope !== "group")) return null;
  const parts = [keyAgent, channel, id].map(unescapePart);
  const [agentPart, channelPart, idPart] = parts;
  if (!agentPart || !channelPart || !idPart) return null;
  const found = named({ agent: agentPart, channel: channelPart, scope, id: idPart });
  return found.key === text ? found : null; // one spelling per session: what would be built is what is accepted
}

function named(name: SessionName): SessionName & { readonly key: SessionKey } {
  return { ...name, key: buildSessionKey(name) };
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
