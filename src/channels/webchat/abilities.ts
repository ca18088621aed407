/** What can be done to messages of the page: read them, change and take back our own. The gateway's own record is the platform. */
import type { ActionResult, Channel, HistoryMessage, HistoryResult } from "../../contracts/channel.ts";
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { Events } from "../../contracts/events.ts";
import type { Store } from "../../contracts/store.ts";
import type { Clock } from "../../kit/clock.ts";
import { toTranscriptItem } from "./outbound.ts";

export interface WebChatRecord {
  readonly outbox: Pick<Store["outbox"], "rewrite" | "react">;
  readonly sessions: Pick<Store["sessions"], "transcript">;
}

export interface AbilityDeps {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly store: WebChatRecord;
}

/** A message this many pages back is not looked for. */
const MAX_PAGES = 20;
const PAGE_ITEMS = 200;

const NOT_OURS: ActionResult = {
  kind: "refused",
  because: "There is no message of yours with that id in this chat. Only your own messages can be changed or deleted.",
};

export function webChatAbilities(deps: AbilityDeps): Pick<Channel, "edit" | "delete" | "history"> {
  const rewrite = async (
    { sessionKey, messageId }: { readonly sessionKey: TargetKey; readonly messageId: string },
    text: string | null,
  ): Promise<ActionResult> => {
    const row = await deps.store.outbox.rewrite(sessionKey, messageId, text, deps.clock.now());
    if (!row) return NOT_OURS;
    deps.events.emit("message", { sessionKey, item: toTranscriptItem(row) });
    return { kind: "done" };
  };
  return {
    edit: (target, text) => rewrite(target, text),
    delete: (target) => rewrite(target, null),
    history: async ({ sessionKey }, { limit, before }) => readHistory(deps.store, sessionKey, { limit, before }),
  };
}

/** A sign from the page under a message of ours; null takes it back. False: there is no such message. */
export async function takeReaction(deps: AbilityDeps, messageId: string, emoji: string | null): Promise<boolean> {
  const row = await deps.store.outbox.react(messageId, emoji);
  if (!row) return false;
  deps.events.emit("message", {
    sessionKey: row.sessionKey,
    item: { ...toTranscriptItem(row), reaction: emoji ?? "" },
  });
  return true;
}

type TargetKey = Parameters<WebChatRecord["outbox"]["rewrite"]>[0];

async function readHistory(
  { sessions }: Pick<WebChatRecord, "sessions">,
  sessionKey: TargetKey,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<HistoryResult> {
  let messages: TranscriptItem[] = [];
  let cursor: string | undefined;
  let found = before === undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const read = await sessions.transcript(sessionKey, { limit: PAGE_ITEMS, ...(cursor ? { cursor } : {}) });
    const said = read.items.filter(({ role }) => role !== "tool");
    const at = found ? said.length : said.findIndex(({ id }) => id === before);
    if (at >= 0) messages = [...said.slice(0, at), ...messages];
    found ||= at >= 0;
    cursor = read.next;
    if (cursor === undefined || messages.length >= limit) break;
  }
  if (!found) return { kind: "refused", because: "There is no message with the id of `before` in this chat." };
  return { kind: "read", messages: messages.slice(-limit).map(toHistory) };
}

function toHistory({ id, role, text, at, attachments = [] }: TranscriptItem): HistoryMessage {
  return {
    id,
    from: role === "assistant" ? "assistant" : "person",
    text,
    at,
    files: attachments.map(({ name }) => name),
  };
}
