/** Words on their way to and from the wire: no formatting in, no control characters out, and pieces that fit a line. Pure. */
import { MAX_LINE_BYTES } from "./line.ts";

/** `:nick!~user@host ` as the server puts it before our words, at its longest. */
const LONGEST_PREFIX_BYTES = ":".length + 30 + "!".length + 11 + "@".length + 63 + " ".length;
const LINE_END_BYTES = 2;
const CTCP = "\u0001";
// oxlint-disable-next-line no-control-regex
const FORMATTING =
  /\u0003(?:\d{1,2}(?:,\d{1,2})?)?|\u0004(?:[0-9a-fA-F]{6}(?:,[0-9a-fA-F]{6})?)?|[\u0002\u000f\u0011\u0016\u001d\u001e\u001f]/g;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

export const isCtcp = (text: string): boolean => text.startsWith(CTCP);

/** What somebody said, without colours and the like. */
export const plainText = (text: string): string => text.replace(FORMATTING, "").replace(CONTROL, "").trim();

/** The room for words in a message to this target, whatever our own name is. */
export function roomFor(command: string, target: string): number {
  return MAX_LINE_BYTES - LINE_END_BYTES - LONGEST_PREFIX_BYTES - Buffer.byteLength(`${command} ${target} :`);
}

/** The last place up to `wanted` where a text may be cut without breaking a character. */
type CutCharacters = (text: string, from: number, wanted: number) => number;

/** The lines a text takes. The same text always gives the same lines. Characters are never divided; words only when one is too long. */
export function linesOf(text: string, roomBytes: number, cut: CutCharacters): readonly string[] {
  const lines = text
    .split(/\r\n|\r|\n|\u2028|\u2029/)
    .map((line) => line.replaceAll("\t", "  ").replace(CONTROL, "").trimEnd())
    .filter((line) => line.trim() !== "");
  return lines.flatMap((line) => piecesOf(line, roomBytes, cut));
}

function piecesOf(line: string, roomBytes: number, cut: CutCharacters): readonly string[] {
  const pieces: string[] = [];
  let rest = line;
  while (Buffer.byteLength(rest) > roomBytes) {
    const fits = fitting(rest, roomBytes);
    const space = rest.charAt(fits) === " " ? fits : rest.lastIndexOf(" ", fits - 1);
    const end = space > 0 ? space : cut(rest, 0, fits);
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? pieces : [...pieces, rest];
}

/** How many UTF-16 units of it fit, without dividing a character. */
function fitting(text: string, roomBytes: number): number {
  let bytes = 0;
  let units = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > roomBytes) break;
    units += character.length;
  }
  return units;
}
