/** One conversation as the web console shows it: a value and the pure functions that change it. Talks to nobody. */
import type { TranscriptItem } from "../../src/contracts/chat.ts";
import type { GatewayEvents } from "../../src/contracts/events.ts";
import type { LiveTool } from "../../src/contracts/flow.ts";
import type { TurnCost } from "../../src/contracts/store/activity.ts";
import type { SessionView, WireEvent } from "../../src/contracts/wire.ts";

export interface Live {
  readonly turnId: string;
  readonly text: string;
  /** What the model has thought so far. */
  readonly reasoning: string;
  readonly tools: readonly LiveTool[];
  /** What it waits for, as a sentence; null: nothing. */
  readonly waiting: string | null;
  /** The turn is over and its last words are on their way as a `message`; until then they stay as they are. */
  readonly ended: boolean;
}

/**
 * loading ──opened──▶ ready ──read again──▶ ready
 *    └────failed────▶ failed ──opened──▶ ready
 */
export interface Chat {
  readonly key: string;
  readonly phase: "loading" | "ready" | "failed";
  readonly items: readonly TranscriptItem[];
  readonly live: Live | null;
  readonly next: string | null;
  readonly seq: number;
  readonly mediaUrls: Readonly<Record<string, string>>;
  /** What was chosen for it; null: as the agent's settings say. */
  readonly settings: { readonly model: string | null; readonly thinking: string | null };
  /** What turns took and cost that have ended, by their ids. */
  readonly turns: ReadonlyMap<string, TurnCost>;
  /** While the gateway is being asked for the conversation: events that may be newer than its answer. */
  readonly waiting: readonly WireEvent[] | null;
}

/** A conversation that takes this long to open has lost events anyway and is read again. */
const MAX_WAITING_EVENTS = 5_000;
const PARTIAL = "partial:";

export function emptyChat(key: string): Chat {
  return {
    key,
    phase: "loading",
    items: [],
    live: null,
    next: null,
    seq: 0,
    mediaUrls: {},
    settings: { model: null, thinking: null },
    turns: new Map(),
    waiting: null,
  };
}

/** To be called before asking the gateway, so that nothing falls between its answer and the events. */
export function beginRead(chat: Chat): Chat {
  return { ...chat, phase: chat.phase === "ready" ? "ready" : "loading", waiting: [] };
}

/** The conversation as the gateway knows it; events that overtook the answer are applied on top. */
export function openChat(chat: Chat, view: SessionView): Chat {
  const older = chat.phase === "ready" ? keepOlder(chat.items, view.items) : [];
  const opened: Chat = {
    key: chat.key,
    phase: "ready",
    items: [...older, ...withoutLiveTools(view)],
    live: view.live && liveFrom(view.live),
    next: older.length > 0 ? chat.next : (view.next ?? null),
    seq: view.seq,
    mediaUrls: { ...chat.mediaUrls, ...view.mediaUrls },
    settings: { model: view.session?.model ?? null, thinking: view.session?.thinking ?? null },
    turns: new Map([...chat.turns, ...Object.entries(view.turns)]),
    waiting: null,
  };
  return (chat.waiting ?? []).reduce(applyEvent, opened);
}

function liveFrom({ turnId, text, reasoning = "", tools, waiting }: NonNullable<SessionView["live"]>): Live {
  return { turnId, text, reasoning, tools, waiting: waiting?.text ?? null, ended: false };
}

/** Re-reading the newest page must not throw away earlier pages, as long as the two still touch. */
function keepOlder(had: readonly TranscriptItem[], page: readonly TranscriptItem[]): readonly TranscriptItem[] {
  const first = page[0];
  const meets = first ? had.findIndex((item) => item.id === first.id) : -1;
  return meets > 0 ? had.slice(0, meets) : [];
}

/** Calls of a running turn are in the answer twice, under different ids: as stored rows and as live cards. The cards stay. */
function withoutLiveTools({ items, live }: Pick<SessionView, "items" | "live">): readonly TranscriptItem[] {
  if (!live) return items;
  const shown = live.tools.map((call) => call.tool);
  return items
    .toReversed()
    .filter((item) => {
      const card = item.role === "tool" && item.turnId === live.turnId ? shown.lastIndexOf(item.tool ?? "") : -1;
      if (card >= 0) shown.splice(card, 1);
      return card < 0;
    })
    .toReversed();
}

/**
 * The order of reading: every turn as one piece, in the order the turns began, with messages that still wait for theirs at the end.
 * By time alone, a question asked during an answer would stand above that answer.
 */
export function arrange(items: readonly TranscriptItem[]): {
  readonly settled: readonly TranscriptItem[];
  readonly queued: readonly TranscriptItem[];
} {
  const queued = items.filter((item) => item.role === "user" && item.turnId === null);
  const turns = Map.groupBy(
    items.filter((item) => !queued.includes(item)),
    (item) => item.turnId ?? item.id,
  );
  return { settled: [...turns.values()].flat(), queued };
}

export function addEarlier(chat: Chat, view: Pick<SessionView, "items" | "next" | "mediaUrls" | "turns">): Chat {
  const known = new Set(chat.items.map((item) => item.id));
  const items = [...view.items.filter((item) => !known.has(item.id)), ...chat.items];
  const mediaUrls = { ...view.mediaUrls, ...chat.mediaUrls };
  return {
    ...chat,
    items,
    next: view.next ?? null,
    mediaUrls,
    turns: new Map([...Object.entries(view.turns), ...chat.turns]),
  };
}

/** The conversation after `event`. Events of other sessions and those already applied change nothing. */
export function applyEvent(chat: Chat, event: WireEvent): Chat {
  if (event.event === "resync" || event.event === "status") return chat;
  if (event.event === "cron.run" || event.event === "approval" || event.event === "question") return chat;
  if (event.data.sessionKey !== chat.key) return chat;
  const waiting = chat.waiting && [...chat.waiting, event].slice(-MAX_WAITING_EVENTS);
  if (chat.phase !== "ready") return waiting ? { ...chat, waiting } : chat;
  if (event.seq <= chat.seq) return chat;
  const now = { ...chat, seq: event.seq, waiting };
  switch (event.event) {
    case "message":
      return onMessage(now, event.data.item);
    case "turn.started":
      return onStarted(now, event.data);
    case "turn.joined":
      return { ...now, items: claimed(now.items, event.data) };
    case "turn.delta":
      return onDelta(now, event.data);
    case "turn.thought": {
      const live = liveFor(now, event.data.turnId);
      return { ...now, live: { ...live, reasoning: live.reasoning + event.data.text, waiting: null } };
    }
    case "turn.tool":
      return onTool(now, event.data);
    case "turn.waiting":
      return { ...now, live: { ...liveFor(now, event.data.turnId), waiting: event.data.text } };
    case "turn.ended":
      return onEnded(now, event.data);
  }
}

function onMessage(chat: Chat, item: TranscriptItem): Chat {
  if (item.deleted) return { ...chat, items: withoutDeleted(chat.items, item) };
  // what a tool says in the middle of a turn, or a change of something shown before, does not end the words that are being written
  const changed = chat.items.some(({ id }) => id === item.id);
  if (item.extra || changed) return { ...chat, items: insert(chat.items, item) };
  const ours = chat.live !== null && chat.live.turnId === item.turnId;
  if (item.role === "tool")
    return { ...chat, items: insert(chat.items, item), live: ours ? dropTool(chat.live, item) : chat.live };
  if (item.role === "user" || !ours) return { ...chat, items: insert(withoutPartial(chat.items, item), item) };
  // The final words take the place of the streamed ones in the same step, so nothing flickers.
  const settled = settle(chat, { keepText: item.kind === "notice", at: item.at });
  const reply: TranscriptItem = chat.live?.reasoning ? { ...item, reasoned: true } : item;
  return { ...settled, items: insert(withoutPartial(settled.items, reply), reply) };
}

/** What a person said goes with its whole turn: it was sent again. Tool calls of a turn that was followed live have other ids than stored ones. */
function withoutDeleted(items: readonly TranscriptItem[], { id }: TranscriptItem): readonly TranscriptItem[] {
  const deleted = items.find((one) => one.id === id);
  const turn = deleted?.role === "user" ? deleted.turnId : null;
  return items.filter((one) => one.id !== id && (turn === null || one.turnId !== turn));
}

function onStarted(chat: Chat, data: GatewayEvents["turn.started"]): Chat {
  const before = chat.live && chat.live.turnId !== data.turnId ? settle(chat, { keepText: true, at: null }) : chat;
  return {
    ...before,
    items: claimed(before.items, data),
    live: { turnId: data.turnId, text: "", reasoning: "", tools: [], waiting: null, ended: false },
  };
}

/** The items with those of the turn marked as its own. */
function claimed(items: readonly TranscriptItem[], data: GatewayEvents["turn.joined"]): readonly TranscriptItem[] {
  return items.map((item) =>
    item.inboxId && data.inboxIds.includes(item.inboxId) ? { ...item, turnId: data.turnId } : item,
  );
}

function onDelta(chat: Chat, data: GatewayEvents["turn.delta"]): Chat {
  const live = liveFor(chat, data.turnId);
  return { ...chat, live: { ...live, text: live.text + data.text, waiting: null } };
}

function onTool(chat: Chat, data: GatewayEvents["turn.tool"]): Chat {
  const live = liveFor(chat, data.turnId);
  const { sessionKey: _session, turnId: _turn, ...tool } = data;
  const known = live.tools.some((one) => one.callId === tool.callId);
  // The end of a call does not repeat its input, so what is known stays.
  const tools = known
    ? live.tools.map((one) => (one.callId === tool.callId ? changed(one, tool) : one))
    : [...live.tools, tool];
  return { ...chat, live: { ...live, tools, waiting: null } };
}

/** Progress is of a running call only. */
function changed({ progress, ...known }: LiveTool, news: LiveTool): LiveTool {
  const stays = progress !== undefined && news.status === "running" ? { progress } : {};
  return { ...known, ...stays, ...news };
}

function onEnded(chat: Chat, data: GatewayEvents["turn.ended"]): Chat {
  const { turnId, ms, usage } = data;
  const now = { ...chat, turns: new Map([...chat.turns, [turnId, { ms, usage }]]) };
  if (!chat.live || chat.live.turnId !== turnId) return now;
  return { ...now, live: { ...chat.live, ended: true } };
}

function liveFor(chat: Chat, turnId: string): Live {
  if (chat.live?.turnId === turnId) return chat.live;
  return { turnId, text: "", reasoning: "", tools: [], waiting: null, ended: false };
}

/** Moves what the live turn showed into the lasting items. The text stays only when no reply replaces it. */
function settle(chat: Chat, how: { readonly keepText: boolean; readonly at: number | null }): Chat {
  const live = chat.live;
  if (!live) return chat;
  const at = how.at ?? chat.items.at(-1)?.at ?? 0;
  const turnId = live.turnId as TranscriptItem["turnId"];
  const tools = live.tools.map(({ callId, progress: _progress, ...tool }): TranscriptItem => ({
    id: callId,
    role: "tool",
    text: "",
    at,
    turnId,
    ...tool,
  }));
  const partial: TranscriptItem = { id: PARTIAL + live.turnId, role: "assistant", text: live.text, at, turnId };
  const kept = how.keepText && live.text.trim() ? [...tools, partial] : tools;
  const known = new Set(chat.items.map((item) => item.id));
  return { ...chat, live: null, items: [...chat.items, ...kept.filter((item) => !known.has(item.id))] };
}

function withoutPartial(items: readonly TranscriptItem[], by: TranscriptItem): readonly TranscriptItem[] {
  if (by.role !== "assistant" || by.kind === "notice") return items;
  return items.filter((item) => item.id !== PARTIAL + by.turnId);
}

function dropTool(live: Live | null, item: TranscriptItem): Live | null {
  return live && { ...live, tools: live.tools.filter((tool) => tool.callId !== item.id) };
}

/** By id once, by time in order; what arrives at the same time stays in the order of arrival. */
function insert(items: readonly TranscriptItem[], item: TranscriptItem): readonly TranscriptItem[] {
  if (items.some((one) => one.id === item.id)) return items.map((one) => (one.id === item.id ? item : one));
  const after = items.findLastIndex((one) => one.at <= item.at);
  return [...items.slice(0, after + 1), item, ...items.slice(after + 1)];
}
