/** Small things both the API and the socket do with sessions. */
import type { SessionKey } from "../../contracts/ids.ts";
import type { HttpDeps } from "../types.ts";
import { sessionOf } from "./accept-message.ts";

/** The key of a session to read. Sessions of the console and the API go by any name they have; every other (a run, a group, a platform) by its key, if it is there. */
export async function keyToRead(deps: Pick<HttpDeps, "messages" | "store">, session: string): Promise<SessionKey> {
  const own = deps.messages.sessions.parse(session, undefined);
  if (own) return own.sessionKey;
  const known = session.startsWith("agent:") ? await deps.store.sessions.get(session as SessionKey) : null;
  return known?.key ?? sessionOf(deps, session).sessionKey;
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
