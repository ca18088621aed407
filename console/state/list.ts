/** The list of conversations and how events change it. Pure. */
import type { SessionSummary, TranscriptItem } from "../../src/contracts/chat.ts";
import type { Listed } from "../../src/contracts/paging.ts";
import type { WireEvent } from "../../src/contracts/wire.ts";
import { nextPage, type Paged } from "./paged.ts";

export type SessionList = Paged<SessionSummary>;

const MAX_TITLE_CHARS = 80;

/** The list after `event`, or null when it names a session the list does not know and has to be read again. */
export function touch(list: SessionList, event: WireEvent): SessionList | null {
  if (event.event !== "message") return list;
  const { sessionKey, item } = event.data;
  const known = list.items.find((one) => one.key === sessionKey);
  if (!known) return null;
  const lastActivityAt = Math.max(known.lastActivityAt, item.at);
  const touched = { ...known, title: titleAfter(known.title, item), lastActivityAt, messages: known.messages + 1 };
  const others = list.items.filter((one) => one.key !== sessionKey);
  const at = others.findIndex((one) => one.lastActivityAt < touched.lastActivityAt);
  const index = at < 0 ? others.length : at;
  return { ...list, items: [...others.slice(0, index), touched, ...others.slice(index)] };
}

/** As in the store: what began with a command is about the first real words said after it. */
function titleAfter(title: string, { role, text }: TranscriptItem): string {
  if (!title.startsWith("/") || role !== "user") return title;
  const words = text.trim();
  return words === "" || words.startsWith("/") ? title : words.slice(0, MAX_TITLE_CHARS);
}

export function renamed(list: SessionList, key: string, title: string): SessionList {
  return { ...list, items: list.items.map((one) => (one.key === key ? { ...one, title } : one)) };
}

/** A session that moved up meanwhile is on two pages, and stays where it is. */
export function moreOf(list: SessionList, page: Listed<SessionSummary>): SessionList {
  const known = new Set(list.items.map((one) => one.key));
  return nextPage(list, { ...page, items: page.items.filter((one) => !known.has(one.key)) });
}

export function without(list: SessionList, key: string): SessionList {
  return { ...list, items: list.items.filter((one) => one.key !== key) };
}

interface DateGroup {
  readonly name: string;
  readonly items: readonly SessionSummary[];
}

const DAY_MS = 86_400_000;
/** Days before today, and what they are called together. */
const GROUPS = [
  [0, "Today"],
  [1, "Yesterday"],
  [7, "Last 7 days"],
  [30, "Last 30 days"],
] as const;

/** By the person's own days, in the order of the list; groups without sessions are left out. */
export function groupByDate(items: readonly SessionSummary[], now: number): readonly DateGroup[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const nameOf = ({ lastActivityAt }: SessionSummary): string =>
    GROUPS.find(([days]) => lastActivityAt >= today - days * DAY_MS)?.[1] ?? "Older";
  return [...Map.groupBy(items, nameOf)].map(([name, members]) => ({ name, items: members }));
}
