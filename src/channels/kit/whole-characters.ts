/** Where a text may be cut without breaking what people see as one character: a family of emoji, a flag, a letter with its accents. Pure. */
const LONGEST_CHARACTER_UNITS = 64;
let characters: Intl.Segmenter | null = null; // made by the first long text: its tables take a few milliseconds of every start

/** The last such place after `from` and up to `wanted`. A character larger than all the room is cut, but never inside a code point. */
export function wholeCharacters(text: string, from: number, wanted: number): number {
  if (wanted >= text.length) return text.length;
  const near = text.slice(from, wanted + LONGEST_CHARACTER_UNITS);
  characters ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const start = characters.segment(near).containing(wanted - from)?.index ?? 0;
  if (start > 0) return from + start;
  const low = text.charCodeAt(wanted);
  const cutsPair = low >= 0xdc00 && low <= 0xdfff;
  return cutsPair && wanted - 1 > from ? wanted - 1 : wanted + (cutsPair ? 1 : 0);
}
