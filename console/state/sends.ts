/** Messages on their way to the gateway. Each keeps its client id until it is answered, so that trying again cannot double it. */
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import type { WireMethods } from "../../src/contracts/wire.ts";

export interface Attached {
  readonly mediaId: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly url: string;
}

export interface Send {
  readonly clientId: string;
  readonly session: string;
  readonly text: string;
  readonly attachments: readonly Attached[];
  /** The message that it replies to. */
  readonly replyTo?: string;
  /** To be steered into the running answer. */
  readonly steer?: true;
  readonly at: number;
  /** The gateway's id for it, once it said yes. */
  readonly accepted: string | null;
  /** Set when the gateway said no: the reason, in words. */
  readonly refused: string | null;
}

/** As the gateway wants it. */
export function sendParams({
  clientId,
  session,
  text,
  attachments,
  replyTo,
}: Send): WireMethods["chat.send"]["params"] {
  const media = attachments.map(({ mediaId }) => ({ mediaId }));
  return {
    session,
    text,
    clientId,
    ...(media.length > 0 ? { attachments: media } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** Browsers give a tab about 5 MB; a few hundred unsent messages fit with room to spare. */
const MAX_KEPT_SENDS = 200;

export function addSend(sends: readonly Send[], send: Send): readonly Send[] {
  return [...sends, send].slice(-MAX_KEPT_SENDS);
}

export function changeSend(sends: readonly Send[], clientId: string, change: Partial<Send>): readonly Send[] {
  return sends.map((send) => (send.clientId === clientId ? { ...send, ...change } : send));
}

export function dropSend(sends: readonly Send[], clientId: string): readonly Send[] {
  return sends.filter((send) => send.clientId !== clientId);
}

/**
 * The sends of a session that are not yet among its items. A message may arrive as an event before the answer to its
 * send does; then the first unanswered send with the same words is taken to be that message and is not shown twice.
 */
export function visibleSends(
  sends: readonly Send[],
  session: string,
  items: readonly TranscriptItem[],
): readonly Send[] {
  const mine = sends.filter((send) => send.session === session);
  const users = items.filter((item) => item.role === "user" && item.inboxId);
  const claimed = new Set(mine.map((send) => send.accepted).filter((id) => id !== null));
  const free = users.filter((item) => !claimed.has(item.inboxId ?? ""));
  return mine.filter((send) => {
    if (send.refused !== null) return true;
    if (send.accepted !== null) return !users.some((item) => item.inboxId === send.accepted);
    const same = free.findIndex((item) => item.text === send.text && item.at >= send.at - CLOCK_SLACK_MS);
    if (same < 0) return true;
    free.splice(same, 1);
    return false;
  });
}

/** The web console's clock and the gateway's may differ by this much and the two are still taken for one message. */
const CLOCK_SLACK_MS = 2_000;

/** What is still worth keeping: everything but sends that are among the items. */
export function openSends(sends: readonly Send[], session: string, items: readonly TranscriptItem[]): readonly Send[] {
  const arrived = new Set(items.map((item) => item.inboxId));
  return sends.filter(
    (send) =>
      send.session !== session || send.accepted === null || !arrived.has(send.accepted as TranscriptItem["inboxId"]),
  );
}

/** Unanswered sends survive a reload of the tab; what does not look like one is dropped. */
export function readSends(text: string | null): readonly Send[] {
  if (!text) return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isSend) : [];
  } catch {
    return []; // written by another version of the web console
  }
}

function isSend(value: unknown): value is Send {
  if (typeof value !== "object" || value === null) return false;
  const send = value as Record<string, unknown>;
  const strings = [send.clientId, send.session, send.text].every((one) => typeof one === "string");
  return (
    strings && typeof send.at === "number" && Array.isArray(send.attachments) && "accepted" in send && "refused" in send
  );
}
