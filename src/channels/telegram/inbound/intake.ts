/**
 * Takes one update in: who it is from is looked at before any work is done, then files are fetched, then it is stored. True: stored, or there
 * is nothing to store, so Telegram may forget it. False: not now.
 */
import type { Update } from "grammy/types";
import type { InboundMessage, MediaRef } from "../../../contracts/chat.ts";
import type { Receipt } from "../../../contracts/channel.ts";
import type { Door, InboundFiles } from "../../../contracts/channels/platform.ts";
import type { InboxId, Role } from "../../../contracts/ids.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Log } from "../../../kit/log.ts";
import { appendWords } from "../../../kit/marks/quoted.ts";
import type { BotApi } from "../api/bot-api.ts";
import type { Albums } from "./albums.ts";
import { type Arrived, type Here, moveOf, readUpdate } from "./arrived.ts";
import type { FileSpec } from "./files.ts";

export interface IntakeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly api: BotApi;
  readonly door: Door;
  readonly files: InboundFiles;
  readonly albums: () => Albums;
  readonly here: () => Here;
  /** One plain sentence to a chat; never rejects. */
  say(arrived: Pick<Arrived, "address" | "messageId">, text: string): Promise<void>;
  /** It is stored, under this id. */
  accepted(arrived: Arrived, id: InboxId, role: Role): void;
  press(arrived: Arrived, role: Role, signal: AbortSignal): Promise<void>;
  /** A group has another number now; durable when it resolves. */
  moved(from: string, to: string): Promise<void>;
}

export interface Intake {
  take(update: Update, signal: AbortSignal): Promise<boolean>;
  /** The pieces of an album, which were let in one by one. */
  takeAlbum(pieces: readonly Update[], signal: AbortSignal): Promise<boolean>;
}

const CHANGED = "[Changed an earlier message to:]";
const MIB = 1_048_576;
/** Refused for now, and worth bringing again. */
const LATER: readonly string[] = ["stopping", "gateway_full"];

export function createIntake(deps: IntakeDeps, limits: { readonly mediaMaxMb: number }): Intake {
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
      const arrived = read(update);
      if (!arrived) return true;
      const { kind, address, scope, sender, mentioned } = arrived;
      const answer = await deps.door.look({ kind, address, scope, sender, mentioned });
      if (answer.kind === "stay") {
        if (answer.say !== null) await deps.say(arrived, answer.say);
        return true;
      }
      if (arrived.press) {
        await deps.press(arrived, answer.role, signal);
        return true;
      }
      if (arrived.album !== null) {
        await deps.albums().add(address.chat, arrived.album, update);
        return true;
      }
      await deps.albums().flush(address.chat);
      return store(deps, { arrived, role: answer.role, mediaMaxMb: limits.mediaMaxMb }, signal);
    },
    async takeAlbum(pieces, signal) {
      const all = pieces.map(read).filter((piece) => piece !== null);
      const [first] = all;
      if (!first) return true;
      const { kind, address, scope, sender } = first;
      const mentioned = all.some((piece) => piece.mentioned);
      const answer = await deps.door.look({ kind, address, scope, sender, mentioned });
      if (answer.kind === "stay") return true;
      const text = all.map((piece) => piece.text).filter((words) => words !== "");
      const files = all.flatMap((piece) => piece.files);
      const arrived = { ...first, mentioned, text: text.join("\n"), quoted: quotedInAll(all), files };
      return store(deps, { arrived, role: answer.role, mediaMaxMb: limits.mediaMaxMb }, signal);
    },
  };
}

/** An album is forwarded as a whole, and its caption is in one of its pieces: each text is told once. */
function quotedInAll(pieces: readonly Arrived[]): Arrived["quoted"] {
  const all = new Map(pieces.flatMap(({ quoted }) => quoted).map((one) => [JSON.stringify(one), one]));
  const worded = [...all.values()].filter(({ text }) => text !== "");
  return worded.length > 0 ? worded : [...all.values()];
}

interface Storing {
  readonly arrived: Arrived;
  readonly role: Role;
  readonly mediaMaxMb: number;
}

async function store(deps: IntakeDeps, { arrived, role, mediaMaxMb }: Storing, signal: AbortSignal): Promise<boolean> {
  const kept: Kept[] = [];
  for (const file of arrived.files) kept.push(await keep(deps, { arrived, file, mediaMaxMb }, signal));
  const { text: words, quoted } = appendWords(
    arrived,
    kept.flatMap((one) => one.words),
  );
  const text = arrived.kind === "edit" ? `${CHANGED}\n${words}`.trim() : words;
  const attachments = kept.flatMap(({ media }) => media);
  const { address, scope, sender, mentioned, eventId, updateId } = arrived;
  const message: InboundMessage = {
    eventId,
    address,
    scope,
    sender,
    mentioned,
    text,
    quoted,
    attachments,
    fingerprint: digest(
      JSON.stringify([
        arrived.text,
        ...arrived.quoted.map((one) => one.text),
        arrived.files.map(({ name, bytes }) => [name, bytes]),
      ]),
    ),
    receivedAt: deps.clock.now(),
    ...(arrived.answering ? { answering: arrived.answering } : {}),
  };
  const first = await deps.door.receive(message, signal);
  const receipt = isChange(arrived, first)
    ? await deps.door.receive({ ...message, eventId: String(updateId) }, signal)
    : first;
  if (receipt.kind === "answered") return true;
  if (receipt.kind !== "refused") {
    if (receipt.kind === "queued") for (const { tell } of kept) if (tell !== null) await deps.say(arrived, tell);
    deps.accepted(arrived, receipt.id, role);
    return true;
  }
  return refused(deps, arrived, receipt);
}

/** Of a message that was taken in before. A change that comes before its message stands for it, so that the two make one turn. */
function isChange({ kind }: Arrived, receipt: Awaited<ReturnType<Door["receive"]>>): boolean {
  return kind === "edit" && receipt.kind === "duplicate" && !receipt.sameContent;
}

async function refused(
  deps: IntakeDeps,
  arrived: Arrived,
  { because, say }: Extract<Receipt, { kind: "refused" }>,
): Promise<boolean> {
  if (LATER.includes(because)) return false;
  if (because !== "ignored" && say !== "") await deps.say(arrived, say);
  return true;
}

interface Kept {
  readonly media: readonly MediaRef[];
  readonly words: readonly string[];
  /** For the sender. */
  readonly tell: string | null;
}

async function keep(
  { files, api }: IntakeDeps,
  { arrived, file, mediaMaxMb }: Pick<Storing, "arrived" | "mediaMaxMb"> & { readonly file: FileSpec },
  signal: AbortSignal,
): Promise<Kept> {
  const { name, mimeType, bytes, fileId, spoken } = file;
  const missing = (note: string): Kept => ({ media: [], words: [`[${note}]`], tell: note });
  if ((bytes ?? 0) > mediaMaxMb * MIB)
    return missing(`The file ${name.slice(0, 100)} is larger than ${mediaMaxMb} MB and was not fetched.`);
  const open = (until: AbortSignal) => api.download(fileId, until);
  const kept = await files.keep({ owner: arrived.sender.principal, name, mimeType, bytes, open }, signal);
  if (kept.kind === "refused") return missing(kept.note);
  const media = [kept.media];
  if (!spoken) return { media, words: [], tell: null };
  const heard = await files.transcribe(kept.media, signal);
  if (heard.kind === "words") return { media, words: [heard.text], tell: null };
  return { media, words: ["[Voice message]"], tell: heard.kind === "failed" ? heard.say : null };
}

function digest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
