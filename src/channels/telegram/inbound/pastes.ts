/**
 * A long text comes as several messages: Telegram's clients cut it into pieces of at most 4096 characters and send them one after the other.
 * Decides which messages are pieces of one text, and joins them. Pure.
 */
import type { Arrived } from "./arrived.ts";

type Piece = Pick<Arrived, "text" | "date">;

export const PIECE_CHARS = 4_096;
/** Clients cut at the end of a word where they can, and a mention at the beginning is left out: a cut piece may be shorter. */
export const MIN_CUT_CHARS = 3_500;
/** Pieces are sent at once; the next second may have begun. */
const MAX_GAP_S = 1;

/** What pieces of one text have in common: their author and their topic. Null: it is no text, or somebody else's. */
export function pasteKey({ kind, sender, address, files, album, press, quoted }: Arrived): string | null {
  const isOwnText = kind === "message" && files.length === 0 && album === null && press === null;
  if (!isOwnText || quoted.some(({ how }) => how !== "reply")) return null;
  return `paste ${sender.principal} ${address.thread ?? ""}`;
}

/** Long enough to be a piece that another one follows. */
export function isCut({ text }: Pick<Piece, "text">): boolean {
  return text.length >= MIN_CUT_CHARS;
}

export function follows(before: Piece, next: Piece): boolean {
  return isCut(before) && next.date >= before.date && next.date - before.date <= MAX_GAP_S;
}

/** A piece of full length was cut inside a word or a line; where a shorter one ends, Telegram has taken away the space. */
export function joinPieces(texts: readonly string[]): string {
  return texts
    .filter((text) => text !== "")
    .map((text, at, all) => (at === all.length - 1 || text.length >= PIECE_CHARS ? text : `${text}\n`))
    .join("");
}
