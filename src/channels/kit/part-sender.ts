/**
 * Sends a stored reply part as the messages it takes, one after the other; the first goes into the preview of its turn if there is one. How far
 * it came is written down after each, so that after a crash or a limit it goes on with the next one.
 */
import { type PartMessages, SendError, type SendReceipt } from "../../contracts/channel.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import { errorText } from "../../contracts/errors.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import type { AccountState } from "./account-state.ts";
import type { Previews } from "./previews.ts";

/** What is different on each platform. `Piece`: what one message, or one album, shows. */
export interface PartPlatform<Piece> {
  /** Throws a SendError when nothing can be sent to this chat, or not now: its preview stays as it is. */
  check(to: ChatAddress): void;
  /** The same part always gives the same list, so that a resend can go on in the middle. */
  piecesOf(part: OutboxRow, hasPreview: boolean): Promise<readonly Piece[]>;
  /** Resolves with the ids of the messages it took, in order. */
  send(sending: SendingPiece<Piece>, signal: AbortSignal): Promise<readonly string[]>;
  toSendError(error: unknown, part: OutboxRow): SendError;
}

export interface SendingPiece<Piece> {
  readonly part: OutboxRow;
  readonly piece: Piece;
  readonly at: number;
  /** For the first piece: the message of the preview, and what stands in it. */
  readonly preview: { readonly message: string; readonly shown: string | null } | null;
}

interface PartSenderDeps {
  readonly log: Pick<Log, "warn">;
  readonly facts: AccountState;
  readonly previews: Pick<Previews, "take" | "release" | "drop" | "forget">;
}

interface PartSender {
  send(part: OutboxRow, signal: AbortSignal): Promise<SendReceipt>;
  /** How far a part has come, for those who decide whether a message may be repeated. */
  readonly messages: PartMessages;
}

interface Progress {
  /** One entry for each piece: the ids of its messages. */
  readonly sent: readonly string[];
  /** The message of the preview. */
  readonly preview: string | null;
  readonly shown?: string | null;
  /** A preview of it may stand beside it. */
  readonly inDoubt?: boolean;
}

const DOUBT = "the answer to the send of its preview was lost; the beginning of it may stand in the chat as well";
/** An album is one piece and several messages. */
const BETWEEN_IDS = ",";
/** Stands for the id of a message that may be in the chat or not. */
const SKIPPED = "";

const keyOf = ({ id }: OutboxRow): string => `sent:${id}`;

/** How far a part has come, as it is written down. */
function createProgressNotes(facts: AccountState) {
  return {
    async read(part: OutboxRow): Promise<Progress | null> {
      const stored = await facts.get(keyOf(part));
      if (stored === null) return null;
      const progress = JSON.parse(stored) as Progress | readonly string[]; // written below
      return "sent" in progress ? progress : { sent: progress, preview: null }; // a list: of an earlier version, for Discord
    },
    write: (part: OutboxRow, progress: Progress): Promise<void> => facts.put(keyOf(part), JSON.stringify(progress)),
    forget: (part: OutboxRow): Promise<void> => facts.forget(keyOf(part)),
  };
}

export function createPartSender<Piece>(
  { log, facts, previews }: PartSenderDeps,
  platform: PartPlatform<Piece>,
): PartSender {
  const notes = createProgressNotes(facts);
  const begin = async (part: OutboxRow, signal: AbortSignal): Promise<Progress> => {
    if (part.part < 0) await previews.drop(part.turnId);
    if (part.part !== 0) return { sent: [], preview: null };
    const { message, inDoubt, shown } = await orAborted(previews.take(part.turnId, part.to), signal);
    return { sent: [], preview: message, inDoubt, shown };
  };
  const progressOf = async (part: OutboxRow, signal: AbortSignal): Promise<Progress> =>
    (await notes.read(part)) ?? (await begin(part, signal));
  const sendPieces = async (part: OutboxRow, begun: Progress, signal: AbortSignal): Promise<Progress> => {
    const { preview, shown = null } = begun;
    const pieces = await platform.piecesOf(part, preview !== null);
    let progress = begun;
    for (const [at, piece] of pieces.entries()) {
      if (at < progress.sent.length) continue;
      const taken = at === 0 && preview !== null ? { message: preview, shown } : null;
      const ids = await platform.send({ part, piece, at, preview: taken }, signal);
      progress = { ...progress, sent: [...progress.sent, ids.join(BETWEEN_IDS)] };
      if (at + 1 < pieces.length) await notes.write(part, progress).catch(sentUnnoted);
    }
    return progress;
  };
  const giveUp = async (part: OutboxRow): Promise<void> => {
    await notes.forget(part);
    if (part.part === 0) await previews.release(part.turnId);
  };
  /** Never rejects: the part stands in its chat, and a rejection would have it sent once more. Notes that are left do no harm. */
  const cleanUp = async (part: OutboxRow): Promise<void> => {
    try {
      await notes.forget(part);
      if (part.part === 0) await previews.forget(part.turnId);
    } catch (error) {
      log.warn("reply was sent, and notes about it could not be removed", { outboxId: part.id, error });
    }
  };

  return {
    async send(part, signal) {
      platform.check(part.to);
      const begun = await progressOf(part, signal).catch(notBegun);
      const done = await sendPieces(part, begun, signal).catch(async (error: unknown) => {
        const failure = error instanceof SendError ? error : platform.toSendError(error, part);
        if (failure.kind === "permanent") await giveUp(part).catch(notBegun);
        throw failure;
      });
      await cleanUp(part);
      return receiptOf(done);
    },
    messages: {
      delivered: async (part) => (await notes.read(part))?.sent.length ?? 0,
      async skip(part, signal) {
        const progress = await progressOf(part, signal);
        const sent = [...progress.sent, SKIPPED];
        const pieces = await platform.piecesOf(part, progress.preview !== null);
        if (sent.length >= pieces.length) return false;
        await notes.write(part, { ...progress, sent });
        return true;
      },
    },
  };
}

/** The store refused a step before the send or after its refusal, or the preview did not end in time: nothing was sent. */
function notBegun(error: unknown): never {
  throw error instanceof SendError ? error : new SendError("retry", errorText(error), { cause: error });
}

/** A message of the part was sent, and where to go on is not known after a crash, or after the next try. */
function sentUnnoted(error: unknown): never {
  throw new SendError("lost", "a message was sent, and that could not be written down", { cause: error });
}

function receiptOf({ sent, inDoubt }: Progress): SendReceipt {
  const providerIds = sent.filter((ids) => ids !== SKIPPED).flatMap((ids) => ids.split(BETWEEN_IDS));
  const [first] = providerIds;
  return {
    ...(first === undefined ? {} : { providerId: first, providerIds }),
    ...(inDoubt ? { doubt: DOUBT } : {}),
  };
}
