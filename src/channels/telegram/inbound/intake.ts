/**
 * Takes one update in: who it is from is looked at before any work is done, then files are fetched, then it is stored. True: stored, or there
 * is nothing to store, so Telegram may forget it. False: not now.
 */
import type { Update } from "grammy/types";
import type { ChatAddress, InboundMessage } from "../../../contracts/chat.ts";
import type { Receipt } from "../../../contracts/channel.ts";
import type { MessageIntake, InboundFiles } from "../../../contracts/channels/platform.ts";
import type { InboxId, Role } from "../../../contracts/ids.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import { appendText } from "../../../kit/marks/quoted.ts";
import type { BotApi } from "../api/bot-api.ts";
import { keepFiles } from "../../kit/index.ts";
import type { Albums } from "./albums.ts";
import { type Arrived, type Here, moveOf, readUpdate } from "./arrived.ts";
import { createEarlyEdits } from "./early-edits.ts";
import { reactionOf } from "./reaction.ts";
import { follows, isCut, joinPieces, pasteKey } from "./pastes.ts";

export interface IntakeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly api: BotApi;
  readonly door: MessageIntake;
  readonly files: InboundFiles;
  readonly albums: () => Albums;
  readonly here: () => Here;
  /** One plain sentence to a chat; never rejects. */
  say(to: ChatAddress, text: string): Promise<void>;
  /** It is stored, under this id. */
  accepted(arrived: Arrived, id: InboxId, role: Role): void;
  press(arrived: Arrived, role: Role, signal: AbortSignal): Promise<void>;
  /** A group has another number now; durable when it resolves. */
  moved(from: string, to: string): Promise<void>;
}

interface Intake {
  take(update: Update, signal: AbortSignal): Promise<boolean>;
  /** The pieces of an album, each of which passed the access check. */
  takeAlbum(pieces: readonly Update[], signal: AbortSignal): Promise<boolean>;
}

const CHANGED = "[Changed an earlier message to:]";
/** Refused for now, and worth bringing again. */
const LATER: readonly string[] = ["stopping", "gateway_full"];

export function createIntake(deps: IntakeDeps, limits: { readonly mediaMaxMb: number }): Intake {
  const early = createEarlyEdits(deps.clock);
  const read = (update: Update): Arrived | null => {
    try {
      return readUpdate(update, deps.here());
    } catch (error) {
      deps.log.error("update not understood", { updateId: update.update_id, error });
      return null; // it will not be understood next time either, and must not keep the others waiting
    }
  };
  return {
    async take(update, signal) {
      const move = moveOf(update);
      if (move) {
        await deps.moved(move.from, move.to);
        return true;
      }
      const reaction = reactionOf(update, deps.here());
      if (reaction) {
        await deps.door.react(reaction);
        return true;
      }
      const first = read(update);
      if (!first) return true;
      const arrived = early.apply(first);
      const { chat } = arrived.address;
      const { part, next } = partOf(deps, arrived, read);
      const answer = await look(deps, { ...arrived, mentioned: arrived.mentioned || next });
      if (answer.kind === "stay") {
        if (arrived.edits !== null) early.note(arrived);
        if (answer.say !== null) await deps.say(arrived.address, answer.say);
        return true;
      }
      if (arrived.press) {
        await deps.press(arrived, answer.role, signal);
        return true;
      }
      if (!next) await deps.albums().flush(chat);
      if (part) {
        await deps.albums().add(chat, part.key, update, part.last);
        return true;
      }
      return store(deps, { arrived, role: answer.role, mediaMaxMb: limits.mediaMaxMb }, signal);
    },
    async takeAlbum(pieces, signal) {
      const all = pieces.map(read).filter((piece) => piece !== null);
      const [first] = all;
      if (!first) return true;
      const mentioned = all.some((piece) => piece.mentioned);
      const answer = await look(deps, { ...first, mentioned });
      if (answer.kind === "stay") return true;
      const text = joinPieces(all.map((piece) => piece.text));
      const files = all.flatMap((piece) => piece.files);
      const messageIds = all.map(({ messageId }) => messageId);
      const whole = { ...first, mentioned, text, quoted: quotedInAll(all), files, messageIds };
      const arrived = { ...whole, answering: first.answering ? { ...first.answering, text } : null };
      const fingerprint = fingerprintOf(first.album === null ? first : whole); // an edit is of one piece
      return store(deps, { arrived, fingerprint, role: answer.role, mediaMaxMb: limits.mediaMaxMb }, signal);
    },
  };
}

function look({ door }: IntakeDeps, arrived: Arrived): ReturnType<MessageIntake["look"]> {
  const { kind, address, scope, sender, mentioned, edits } = arrived;
  const edited = edits === null ? {} : { edited: { eventId: edits, fingerprint: fingerprintOf(arrived) } };
  const { eventId, text, date } = arrived;
  return door.look({ kind, address, scope, sender, mentioned, said: { eventId, text, at: date * 1_000 }, ...edited });
}

interface PartOf {
  /** What it is a piece of; null: it is a message of its own. */
  readonly part: { readonly key: string; readonly last: boolean } | null;
  /** The pieces before it are here. In a group only the first one mentions the bot. */
  readonly next: boolean;
}

function partOf({ albums }: IntakeDeps, arrived: Arrived, read: (update: Update) => Arrived | null): PartOf {
  const key = arrived.edits === null ? (arrived.album ?? pasteKey(arrived)) : null;
  if (key === null) return { part: null, next: false };
  const newest = albums().newest(arrived.address.chat, key);
  const before = newest ? read(newest) : null;
  const isAlbum = arrived.album !== null;
  const next = before?.sender.principal === arrived.sender.principal && (isAlbum || follows(before, arrived));
  return { part: isAlbum || next || isCut(arrived) ? { key, last: !isAlbum && !isCut(arrived) } : null, next };
}

/** An album is forwarded as a whole, and its caption is in one of its pieces: each text is told once. */
function quotedInAll(pieces: readonly Arrived[]): Arrived["quoted"] {
  const all = new Map(pieces.flatMap(({ quoted }) => quoted).map((one) => [JSON.stringify(one), one]));
  const worded = [...all.values()].filter(({ text }) => text !== "");
  return worded.length > 0 ? worded : [...all.values()];
}

interface Storing {
  /** `messageIds`: of an album or a text that was cut, whose pieces are messages of their own. */
  readonly arrived: Arrived & { readonly messageIds?: readonly number[] };
  /** Left out: that of the message. */
  readonly fingerprint?: string;
  readonly role: Role;
  readonly mediaMaxMb: number;
}

async function store(deps: IntakeDeps, storing: Storing, signal: AbortSignal): Promise<boolean> {
  const { arrived, role, mediaMaxMb } = storing;
  const files = arrived.files.map(({ fileId, ...file }) => ({
    ...file,
    open: (until: AbortSignal) => deps.api.download(fileId, until),
  }));
  const kept = await keepFiles({ files: deps.files, mediaMaxMb }, arrived.sender.principal, files, signal);
  const { text: words, quoted } = appendText(arrived, kept.words);
  const text = arrived.kind === "edit" ? `${CHANGED}\n${words}`.trim() : words;
  const { address, scope, sender, mentioned, eventId } = arrived;
  const message: InboundMessage = {
    eventId,
    address,
    scope,
    sender,
    mentioned,
    text,
    quoted,
    attachments: kept.media,
    messageIds: (arrived.messageIds ?? [arrived.messageId]).map(String),
    fingerprint: storing.fingerprint ?? fingerprintOf(arrived),
    receivedAt: deps.clock.now(),
    ...(arrived.answering ? { answering: arrived.answering } : {}),
  };
  const receipt = await deps.door.receive(message, signal);
  if (receipt.kind === "answered") return true;
  if (receipt.kind !== "refused") {
    if (receipt.kind === "queued") for (const sentence of kept.tell) await deps.say(arrived.address, sentence);
    deps.accepted(arrived, receipt.id, role);
    return true;
  }
  return refused(deps, arrived, receipt);
}

async function refused(
  deps: IntakeDeps,
  arrived: Arrived,
  { because, say }: Extract<Receipt, { kind: "refused" }>,
): Promise<boolean> {
  if (LATER.includes(because)) return false;
  if (because !== "ignored" && say !== "") await deps.say(arrived.address, say);
  return true;
}

/** Tells a change from none. Without the message it replies to, which is not its own, and without the other pictures of its album. */
function fingerprintOf({ text, quoted, files, album }: Arrived): string {
  const passedOn = quoted.filter(({ how }) => how !== "reply").map((one) => one.text);
  const attached = album === null ? files.map(({ name, bytes }) => [name, bytes]) : [];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify([text, ...passedOn, attached])).digest("hex");
}
