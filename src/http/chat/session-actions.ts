/** Small things both the API and the socket do with sessions. */
import type { SessionKey } from "../../contracts/ids.ts";
import type { Page } from "../../contracts/store.ts";
import type { HttpDeps } from "../types.ts";

const DEFAULT_PAGE = 50;
export const MAX_PAGE = 200;

export function pageOf(asked: { readonly limit?: number; readonly cursor?: string }): Page {
  const limit = Math.min(asked.limit ?? DEFAULT_PAGE, MAX_PAGE);
  return asked.cursor === undefined ? { limit } : { limit, cursor: asked.cursor };
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
