/**
 * Shows that an answer is being written: typing, and a preview that is edited at most once a second, the newest text only. The message of the
 * preview is written down, so that the answer goes into it even when the gateway died in between.
 */
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { Events } from "../../../contracts/events.ts";
import type { InboxId, TurnId } from "../../../contracts/ids.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { ChatCooldowns } from "../api/chat-cooldowns.ts";
import { Fault, isRefused } from "../api/faults.ts";
import type { MovedChats } from "../api/moved-chats.ts";
import {
  type AccountState,
  createTasks,
  emptyView,
  hearTurns,
  type LeftPreviews,
  previewKey,
  startLeftPreviews,
  type StreamMode,
  type Tasks,
  type TurnView,
} from "../../kit/index.ts";
import type { Chunk } from "../render/split.ts";
import { BEGUN, previewInDoubt, previewRemoval, TAKEN } from "./left-previews.ts";
import { editText, sendText, targetOf } from "./message-calls.ts";
import { PREVIEW_CHARS, previewOf } from "./preview-text.ts";
import { chunkKey, GONE, type Previews, UNCHANGED } from "./send.ts";

export interface LiveDeps {
  readonly account: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<Events, "on">;
  readonly api: BotApi;
  readonly cooldowns: ChatCooldowns;
  readonly facts: AccountState;
  readonly moved: Pick<MovedChats, "now" | "first">;
  /** Something said earlier in this chat is still to be delivered. */
  owes(to: ChatAddress): boolean;
}

interface Live extends Previews, Disposable {
  /** This message was stored; when its turn begins, it is shown in this chat. */
  expect(id: InboxId, to: ChatAddress, asked: Asked): void;
  settled(): Promise<void>;
}

/** The message that is answered. */
interface Asked {
  readonly scope: "dm" | "group";
  readonly messageId: number;
}

const EDIT_MS = 1_000;
/** Groups have a smaller allowance, and more readers who are not asked. */
const GROUP_EDIT_MS = 3_000;
/** A short answer needs no preview. */
const FIRST_MS = 700;
/** Telegram shows it for five seconds. */
const TYPING_MS = 4_500;
const TICK_MS = 1_000;
/** How soon it is looked again whether what was said before has been delivered. */
const OWED_MS = 300;

type Spot = Asked & { readonly to: ChatAddress };

interface Watching extends TurnView {
  readonly turnId: TurnId;
  readonly to: ChatAddress;
  /** In a group the preview replies to this, because it becomes the answer. */
  readonly replyTo: number | null;
  readonly gapMs: number;
  messageId: string | null;
  /** What its chat was called when the message was shown. */
  where: string;
  /** What was last tried to be shown, as `chunkKey` names it. */
  shown: string;
  /** What Telegram has taken; null: not known. */
  confirmed: string | null;
  ended: boolean;
  /** Ends the loops of this turn. */
  readonly over: AbortController;
  work: Promise<void>;
}

interface Board {
  readonly deps: LiveDeps;
  readonly mode: StreamMode;
  readonly signal: AbortSignal;
  readonly turns: Map<TurnId, Watching>;
  /** Never fails: a preview that does, with the disk for example, is no reason to hold back the reply, or to end anything else. */
  readonly tasks: Tasks;
}

export function startLive(deps: LiveDeps, mode: StreamMode, signal: AbortSignal): Live {
  const tasks = createTasks((error) => deps.log.warn("preview given up", { error }));
  const board: Board = { deps, mode, signal, turns: new Map(), tasks };
  const { turns } = board;
  const left = startLeftPreviews(deps, previewRemoval(deps), signal);
  const views = hearTurns<Spot>(deps.events, {
    maxChars: PREVIEW_CHARS,
    begun: left.begun,
    show: (turnId, spot) => watch(board, begunTurn(turnId, spot)),
    viewOf: (turnId) => turns.get(turnId),
    over: (turnId) => void tasks.add(ended(board, turnId, left)),
  });
  return {
    expect: (id, to, { scope, messageId }) => views.expect(id, { to, scope, messageId }),
    async finish(turnId, chat) {
      await left.claim(turnId);
      const one = turns.get(turnId);
      one?.over.abort();
      await one?.work;
      turns.delete(turnId);
      const noted = await deps.facts.get(previewKey(turnId));
      const known = one?.messageId ? `${one.messageId}@${one.where}` : noted;
      if (known !== null && known !== BEGUN && !known.endsWith(TAKEN))
        await deps.facts.put(previewKey(turnId), known + TAKEN);
      const messageId = shownIn(deps, known, chat);
      return { messageId, inDoubt: known === BEGUN, shown: messageId === null ? null : (one?.confirmed ?? null) };
    },
    async drop(turnId, until) {
      const one = turns.get(turnId);
      if (!one) return;
      one.over.abort();
      await one.work;
      await remove(board, turnId, until);
      if (one.ended) turns.delete(turnId);
      // what follows is shown below what is said now
      else watch(board, { ...one, text: "", shown: "", confirmed: null, messageId: null, over: new AbortController() });
    },
    async forget(turnId) {
      turns.delete(turnId);
      await deps.facts.forget(previewKey(turnId));
    },
    async settled() {
      await Promise.all([tasks.settled(), left.settled()]);
    },
    [Symbol.dispose]: () => views[Symbol.dispose](),
  };
}

function begunTurn(turnId: TurnId, { to, scope, messageId }: Spot): Watching {
  return {
    ...emptyView(),
    turnId,
    to,
    replyTo: scope === "group" ? messageId : null,
    gapMs: scope === "dm" ? EDIT_MS : GROUP_EDIT_MS,
    messageId: null,
    where: "",
    shown: "",
    confirmed: null,
    ended: false,
    over: new AbortController(),
    work: Promise.resolve(),
  };
}

function watch(board: Board, one: Watching): void {
  board.turns.set(one.turnId, one);
  const until = AbortSignal.any([board.signal, one.over.signal]);
  one.work = board.tasks.add(showPreview(board.deps, one, board.mode, until));
  void board.tasks.add(showTyping(board.deps, one, until));
}

async function remove({ deps, turns }: Board, turnId: TurnId, until: AbortSignal): Promise<void> {
  const to = turns.get(turnId)?.to;
  const messageId = to ? shownIn(deps, await deps.facts.get(previewKey(turnId)), to.chat) : null;
  if (messageId === null || !to) return;
  await deps.api.call("deleteMessage", { chat_id: to.chat, message_id: Number(messageId) }, until).catch(note(deps));
  await deps.facts.forget(previewKey(turnId));
}

async function ended({ turns }: Board, turnId: TurnId, left: LeftPreviews): Promise<void> {
  const one = turns.get(turnId);
  if (one) one.ended = true;
  one?.over.abort();
  await left.over(turnId, one?.work ?? null);
  if (turns.get(turnId) === one) turns.delete(turnId);
}

/** A message that was shown before its group moved has no number where the group is now. */
function shownIn({ moved }: LiveDeps, known: string | null, chat: string): string | null {
  if (known === null || known === BEGUN) return null;
  const [messageId = "", where = moved.now(chat)] = known.split("@");
  return where === moved.now(chat) ? messageId : null;
}

const note =
  ({ log }: LiveDeps) =>
  (error: unknown): void =>
    log.debug("preview not changed", { because: error instanceof Fault ? error.message : "unknown" });

/** Latest wins: what came while a call was under way, or during the pause, is shown with the next one. */
async function showPreview(deps: LiveDeps, one: Watching, mode: StreamMode, until: AbortSignal): Promise<void> {
  if (mode === "off") return;
  const known = await deps.facts.get(previewKey(one.turnId)); // of an attempt that a previous process made
  if (known === BEGUN) return previewInDoubt(deps, one.turnId);
  one.messageId = shownIn(deps, known, one.to.chat);
  one.where = deps.moved.now(one.to.chat);
  const goOn = (ms: number) =>
    deps.clock.sleep(ms, until).then(
      () => true,
      () => false, // the turn is over
    );
  let pauseMs = FIRST_MS;
  while (await goOn(Math.max(pauseMs, deps.cooldowns.leftMs(one.to.chat)))) {
    if (one.where !== deps.moved.now(one.to.chat)) one.messageId = null; // it has no number where the group is now
    const early = one.messageId === null && deps.owes(one.to);
    pauseMs = early ? OWED_MS : one.gapMs;
    const chunk = early ? null : previewOf(mode, one);
    if (!chunk || chunkKey(chunk) === one.shown) continue;
    // A call that was begun is waited for: the message it makes must be known, or the reply would stand beside it.
    const failed = await showOnce(deps, one, chunk).then(
      () => null,
      (error: unknown) => deps.cooldowns.note(one.to.chat, error),
    );
    one.shown = chunkKey(chunk);
    one.confirmed = failed === null || isRefused(failed, UNCHANGED) ? one.shown : null;
    if (failed === null || isRefused(failed, UNCHANGED)) continue;
    note(deps)(failed);
    if (isRefused(failed, GONE)) one.messageId = null;
    const lost = !(failed instanceof Fault) || failed.info.kind === "lost";
    if (one.messageId === null && lost) return previewInDoubt(deps, one.turnId);
    if (one.messageId === null) await deps.facts.forget(previewKey(one.turnId));
    if (failed instanceof Fault && failed.info.kind === "refused" && !isRefused(failed, GONE)) return;
  }
}

async function showOnce({ api, facts, moved }: LiveDeps, one: Watching, chunk: Chunk): Promise<void> {
  const signal = new AbortController().signal; // ended by the call's own limit
  if (one.messageId !== null) {
    return editText(api, { chat: one.to.chat, messageId: one.messageId }, chunk, signal);
  }
  await facts.put(previewKey(one.turnId), BEGUN);
  one.messageId = await sendText(api, { to: one.to, chunk, replyTo: one.replyTo, silent: true }, signal);
  one.where = moved.now(one.to.chat);
  await facts.put(previewKey(one.turnId), `${one.messageId}@${one.where}`);
}

async function showTyping(deps: LiveDeps, one: Watching, until: AbortSignal): Promise<void> {
  let typedAt = -Infinity;
  while (!until.aborted) {
    const now = deps.clock.elapsed();
    if (one.messageId === null && now - typedAt >= TYPING_MS && deps.cooldowns.leftMs(one.to.chat) === 0) {
      typedAt = now;
      await deps.api
        .call("sendChatAction", { ...targetOf(one.to), action: "typing" }, until)
        .catch((error: unknown) => note(deps)(deps.cooldowns.note(one.to.chat, error)));
    }
    await deps.clock.sleep(TICK_MS, until).catch(() => undefined); // the turn is over
  }
}
