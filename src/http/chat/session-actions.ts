/** Small things both the API and the socket do with sessions. */
import type { SessionKey } from "../../contracts/ids.ts";
import type { HttpDeps } from "../types.ts";
import { type Asking, requireOwn, requireSeen } from "../access/key-reach.ts";
import { sessionOf } from "./accept-message.ts";

type KeyDeps = Pick<HttpDeps, "messages" | "store">;

/** The key of a session to read. Sessions of the console and the API go by any name they have; every other (a run, a group, a platform) by its key, if it is there. */
export async function keyToRead(deps: KeyDeps, session: string, asking: Asking): Promise<SessionKey> {
  const own = deps.messages.sessions.parse(session, undefined, asking.key);
  const isKey = session.startsWith("agent:");
  if (own || isKey) requireSeen(asking, own?.sessionKey ?? (session as SessionKey));
  if (own) return own.sessionKey;
  const known = isKey ? await deps.store.sessions.get(session as SessionKey) : null;
  return known?.key ?? sessionOf(deps, { session }, asking).sessionKey;
}

/** The same for a session to stop or to begin anew. */
export async function keyToChange(deps: KeyDeps, session: string, asking: Asking): Promise<SessionKey> {
  const key = await keyToRead(deps, session, asking);
  requireOwn(asking, key);
  return key;
}

/** A session of the console or the API to look for things in. */
export function seenSession(deps: Pick<HttpDeps, "messages">, session: string, asking: Asking): SessionKey {
  const { sessionKey } = sessionOf(deps, { session }, asking);
  requireSeen(asking, sessionKey);
  return sessionKey;
}

/** False when there is no such session. */
export async function resetSession(
  deps: Pick<HttpDeps, "clock" | "store" | "events">,
  key: SessionKey,
): Promise<boolean> {
  const reset = await deps.store.sessions.reset(key, deps.clock.now());
  if (reset) deps.events.emit("status", { what: "sessions" });
  return reset;
}
