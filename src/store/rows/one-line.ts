/** Text from outside made fit to show in one line: no control or direction characters, no line breaks, a known length. */
import type { InboundMessage } from "../../contracts/chat.ts";
import { withQuoted } from "../../kit/marks/quoted.ts";

const TITLE_CHARS = 80;
const NAME_CHARS = 120;
/** Enough to find the title in; the rest of a long message is not worth scanning. */
const TITLE_SOURCE_CHARS = 2_000;
/** Direction marks can make a text read as something it is not; the byte order mark is invisible. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const BREAKS = /[\p{Cc}\u2028\u2029\s]+/gu;

function oneLine(text: string, maxChars: number): string {
  const clean = text.toWellFormed().replace(DIRECTION, "").replace(BREAKS, " ").trim();
  const letters = [...clean]; // by code point, so that no character is cut in half
  return letters.length <= maxChars ? clean : letters.slice(0, maxChars).join("").trimEnd();
}

/** The first words of the message, or what its first attachment is called. */
export function titleOf(
  message: Pick<InboundMessage, "text" | "attachments"> & Partial<Pick<InboundMessage, "quoted">>,
): string {
  const words = message.text.trim() === "" ? withQuoted("", message.quoted ?? []) : message.text;
  const title = oneLine(words.slice(0, TITLE_SOURCE_CHARS), TITLE_CHARS);
  return title || oneLine(message.attachments[0]?.name ?? "", TITLE_CHARS);
}

/** A file name as people see it: the last part of whatever path its sender had. */
export function fileNameOf(name: string): string {
  return oneLine(name.slice(0, TITLE_SOURCE_CHARS).split(/[/\\]/).at(-1) ?? "", NAME_CHARS) || "file";
}

export function searchTextOf(title: string, key: string): string {
  return `${title}\n${key}`.toLowerCase();
}

/** A LIKE pattern that finds `search` anywhere and takes its % and _ literally. Used with `escape '\'`. */
export function containing(search: string): string {
  return `%${search.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
}
