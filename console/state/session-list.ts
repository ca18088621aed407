/** The list of conversations: searched, filtered, pinned, archived; what was said that has the searched words; and what is done with one of them. */
import { batch, computed, signal } from "@preact/signals";
import type { SessionSummary } from "../../src/contracts/chat.ts";
import type { MessageHit } from "../../src/contracts/store/session-care.ts";
import type { WireEvent } from "../../src/contracts/wire.ts";
import { changeSession, deleteSession, exportSession, searchMessages, type Answer } from "../net/api.ts";
import { moreOf, renamed, type SessionList, touch, without } from "./list.ts";
import type { Ask } from "./news.ts";
import { FAILED, firstPage, LOADING } from "./paged.ts";
import { soon } from "./soon.ts";

const LIST_ITEMS = 50;
const MAX_PINNED = 100;
const SEARCH_PAUSE_MS = 150;
const LIST_PAUSE_MS = 200;

interface ListFilter {
  readonly channel: string;
  readonly agent: string;
  readonly person: string;
  readonly archived: boolean;
}

const ALL: ListFilter = { channel: "", agent: "", person: "", archived: false };

export const list = signal<SessionList>(LOADING);
export const pinned = signal<readonly SessionSummary[]>([]);
export const search = signal("");
/** Messages and replies that have the searched words. */
export const hits = signal<readonly MessageHit[]>([]);
export const filter = signal<ListFilter>(ALL);
/** What can be chosen: whatever was in the list since it was opened. */
const seen = signal<readonly SessionSummary[]>([]);
export const choices = computed(() => ({
  channel: unique(seen.value.map(({ channel }) => channel)),
  agent: unique(seen.value.map(({ key }) => key.split(":")[1] ?? "")),
  person: unique(seen.value.flatMap(({ person = "" }) => (person === "" ? [] : [person]))),
}));
/** Nothing is searched and nothing left out. */
export const isWhole = computed(() => search.value.trim() === "" && filter.value === ALL);

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted();
}

export function forgetList(): void {
  batch(() => {
    list.value = LOADING;
    pinned.value = [];
    hits.value = [];
  });
}

/** False: the list has to be read again. */
export function touchList(event: Extract<WireEvent, { event: "message" }>): boolean {
  const touched = touch(list.value, event);
  if (!touched || !isWhole.value) return false;
  list.value = touched;
  return true;
}

export function searchFor(ask: Ask, text: string): void {
  search.value = text;
  soon("list", SEARCH_PAUSE_MS, () => readList(ask));
}

/** Null: everything again. */
export function filterList(ask: Ask, wanted: ListFilter | null): void {
  filter.value = wanted ?? ALL;
  readList(ask);
}

export function readListSoon(ask: Ask): void {
  soon("list", list.value.phase === "loading" ? 0 : LIST_PAUSE_MS, () => readList(ask));
}

function query() {
  const { channel, agent, person, archived } = filter.value;
  const text = search.value.trim();
  return {
    limit: LIST_ITEMS,
    ...(text ? { search: text } : {}),
    ...(channel ? { channel } : {}),
    ...(agent ? { agent } : {}),
    ...(person ? { person } : {}),
    ...(archived ? { archived } : {}),
  };
}

function readList(ask: Ask): void {
  const asked = { search: search.value, filter: filter.value };
  const isCurrent = () => search.value === asked.search && filter.value === asked.filter;
  ask("sessions.list", query()).then(
    (page) => {
      if (!isCurrent()) return;
      list.value = firstPage(page);
      seen.value = [...new Map([...seen.value, ...page.items].map((one) => [one.key, one])).values()];
    },
    () => {
      if (list.value.phase === "loading") list.value = FAILED;
    },
  );
  ask("sessions.list", { pinned: true, limit: MAX_PINNED }).then(
    ({ items }) => (pinned.value = items),
    () => undefined, // the last ones stay
  );
  void readHits(isCurrent);
}

async function readHits(isCurrent: () => boolean): Promise<void> {
  const words = search.value.trim();
  if (words.length < 2) {
    hits.value = [];
    return;
  }
  const answer = await searchMessages(words);
  if (isCurrent()) hits.value = answer.ok ? answer.value : [];
}

export function moreSessions(ask: Ask): void {
  const { next: cursor } = list.value;
  if (!cursor) return;
  const asked = { search: search.value, filter: filter.value };
  ask("sessions.list", { ...query(), cursor }).then(
    (page) => {
      if (search.value === asked.search && filter.value === asked.filter) list.value = moreOf(list.value, page);
    },
    () => undefined, // the button stays
  );
}

/** Null removes the name. The list shows the new one at once, and what the gateway made of it a moment later. */
export async function rename(key: string, name: string | null): Promise<void> {
  const before = list.value.items.find((one) => one.key === key)?.title ?? "";
  list.value = renamed(list.value, key, name ?? before);
  const answer = await changeSession(key, { name });
  list.value = renamed(list.value, key, answer.ok ? answer.value : before);
}

/** Null when it is done; otherwise why not. The list follows when the gateway says that it changed. */
export async function markSession(
  key: string,
  marks: { readonly pinned?: boolean; readonly archived?: boolean },
): Promise<string | null> {
  return problemOf(await changeSession(key, marks));
}

export async function removeSession(key: string): Promise<string | null> {
  const answer = await deleteSession(key);
  if (answer.ok)
    batch(() => {
      list.value = without(list.value, key);
      pinned.value = pinned.value.filter((one) => one.key !== key);
      hits.value = hits.value.filter(({ sessionKey }) => sessionKey !== key);
    });
  return problemOf(answer);
}

/** Gives the file to the browser, which keeps it where downloads go. */
export async function saveExport(key: string, format: string): Promise<string | null> {
  const answer = await exportSession(key, format);
  if (!answer.ok) return answer.error.message;
  const { name, mimeType, text } = answer.value;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: mimeType }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
  return null;
}

function problemOf(answer: Answer<unknown>): string | null {
  return answer.ok ? null : answer.error.message;
}
