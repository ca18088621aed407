/**
 * Sends a stored reply part as the messages it takes, one after the other; the first goes into the preview of its turn if there is one. How far
 * it came is written down after each, so that after a crash or a limit it goes on with the next one.
 */
import type { PartMessages, SendError, SendReceipt } from "../../contracts/channel.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import { orAborted } from "../../kit/deferred.ts";
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

export function createPartSender<Piece>(
  { facts, previews }: PartSenderDeps,
  platform: PartPlatform<Piece>,
): PartSender {
  const read = async (part: OutboxRow): Promise<Progress | null> => {
    const stored = await facts.get(keyOf(part));
    if (stored === null) return null;
    const progress = JSON.parse(stored) as Progress | readonly string[]; // written below
    return "sent" in progress ? progress : { sent: progress, preview: null }; // a list: of an earlier version, for Discord
  };
  const write = (part: OutboxRow, progress: Progress): Promise<void> =>
    facts.put(keyOf(part), JSON.stringify(progress));
  const begin = async (part: OutboxRow, signal: AbortSignal): Promise<Progress> => {
    if (part.part < 0) await previews.drop(part.turnId);
    if (part.part !== 0) return { sent: [], preview: null };
    const { message, inDoubt, shown } = await orAborted(previews.take(part.turnId, part.to), signal);
    return { sent: [], preview: message, inDoubt, shown };
  };
  const sendPieces = async (part: OutboxRow, begun: Progress, signal: AbortSignal): Promise<Progress> => {
    const { preview, shown = null } = begun;
    const pieces = await platform.piecesOf(part, preview !== null);
    let progress = begun;
    for (const [at, piece] of pieces.entries()) {
      if (at < progress.sent.length) continue;
      const taken = at === 0 && preview !== null ? { message: preview, shown } : null;
      const ids = await platform.send({ part, piece, at, preview: taken }, signal);
      progress = { ...progress, sent: [...progress.sent, ids.join(BETWEEN_IDS)] };
      if (at + 1 < pieces.length) await write(part, progress);
    }
    return progress;
  };
  const giveUp = async (part: OutboxRow): Promise<void> => {
    await facts.forget(keyOf(part));
    if (part.part === 0) await previews.release(part.turnId);
  };

  return {
    async send(part, signal) {
      platform.check(part.to);
      const begun = (await read(part)) ?? (await begin(part, signal));
      const done = await sendPieces(part, begun, signal).catch(async (error: unknown) => {
        const failure = platform.toSendError(error, part);
        if (failure.kind === "permanent") await giveUp(part);
        throw failure;
      });
      await facts.forget(keyOf(part));
      if (part.part === 0) await previews.forget(part.turnId);
      return receiptOf(done);
    },
    messages: {
      delivered: async (part) => (await read(part))?.sent.length ?? 0,
      async skip(part, signal) {
        const progress = (await read(part)) ?? (await begin(part, signal));
        const sent = [...progress.sent, SKIPPED];
        const pieces = await platform.piecesOf(part, progress.preview !== null);
        if (sent.length >= pieces.length) return false;
        await write(part, { ...progress, sent });
        return true;
      },
    },
  };
}

function receiptOf({ sent, inDoubt }: Progress): SendReceipt {
  const providerIds = sent.filter((ids) => ids !== SKIPPED).flatMap((ids) => ids.split(BETWEEN_IDS));
  const [first] = providerIds;
  return {
    ...(first === undefined ? {} : { providerId: first, providerIds }),
    ...(inDoubt ? { doubt: DOUBT } : {}),
  };
}
