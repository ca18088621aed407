/** A conversation together with the number of the last event it contains, so that a client can follow from there without a gap. */
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { SessionKey } from "../../contracts/ids.ts";
import type { Page } from "../../contracts/paging.ts";
import type { SessionView } from "../../contracts/wire.ts";
import type { MediaLinks } from "../access/media-links.ts";
import type { HttpDeps } from "../types.ts";

type ViewDeps = Pick<HttpDeps, "store" | "messages" | "events" | "stream">;

const MAX_READS = 4;

/**
 * `seq` and `live` are taken in one tick. The stored items are read before that, and read again when the session changed meanwhile. On a session
 * that never rests the last try takes `seq` and `live` first: then items may be newer than `seq`, and clients drop what they have by its id.
 */
export async function readSessionView(
  deps: ViewDeps,
  links: MediaLinks,
  key: SessionKey,
  page: Page,
): Promise<SessionView> {
  let changed = false;
  const notice = (data: { readonly sessionKey: SessionKey }): void => {
    if (data.sessionKey === key) changed = true;
  };
  using _message = deps.events.on("message", notice);
  using _ended = deps.events.on("turn.ended", notice);
  const stored = () => Promise.all([deps.store.sessions.get(key), deps.store.sessions.transcript(key, page)]);
  const moment = () => ({ seq: deps.stream.seq, live: deps.messages.live.snapshot(key) });

  let before = moment();
  for (let read = 1; ; read++) {
    changed = false;
    const [session, { items, next }] = await stored();
    const turns = await deps.store.turns.costsOf(items.flatMap(({ turnId }) => (turnId === null ? [] : [turnId])));
    if (changed && read < MAX_READS) {
      before = moment();
      continue;
    }
    const { seq, live } = changed ? before : moment();
    return { session, items, live, seq, turns, mediaUrls: mediaUrls(links, items), ...(next ? { next } : {}) };
  }
}

function mediaUrls(links: MediaLinks, items: readonly TranscriptItem[]): Record<string, string> {
  const attached = items.flatMap((item) => item.attachments ?? []);
  return Object.fromEntries(attached.map(({ mediaId }) => [mediaId, links.sign(mediaId, "inline")]));
}
