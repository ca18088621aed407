/** Small things both the API and the socket do with sessions. */
import type { SessionKey } from "../../contracts/ids.ts";
import type { Page } from "../../contracts/paging.ts";
import type { HttpDeps } from "../types.ts";
import { sessionOf } from "./accept-message.ts";

const DEFAULT_PAGE = 50;
export const MAX_PAGE = 200;

export function pageOf(asked: { readonly limit?: number; readonly cursor?: string }): Page {
  const limit = Math.min(asked.limit ?? DEFAULT_PAGE, MAX_PAGE);
  return asked.cursor === undefined ? { limit } : { limit, cursor: asked.cursor };
}

/** A session one looks into: of the page or the API by any name it has, every other (a run, a group, a platform) by its key, if it is there. */
export async function keyToRead(deps: Pick<HttpDeps, "sessions" | "store">, session: string): Promise<SessionKey> {
  const own = deps.sessions.parse(session, undefined);
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
