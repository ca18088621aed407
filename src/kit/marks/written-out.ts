/**
 * Text for somebody who has to decide on exactly this: whatever is hidden, or changes how the rest is read, is written out as `\u202e`. Every
 * approval and every question passes here once, before any channel, console or command shows it.
 */

/**
 * Controls, marks of direction, characters without a shape, foreign spaces and blanks. Line ends, tabs and plain spaces stay, and so do emoji
 * of several characters, which are seen.
 */
const HIDDEN = /\p{RGI_Emoji}|(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}\p{DI}\u2800]/gv;
const SEEN = /^\p{RGI_Emoji}$/v;
const WRITTEN = /(?:\\u[0-9a-f]{4})+/g;

export function writeOut(text: string): string {
  return text.replace(HIDDEN, (found) => (SEEN.test(found) ? found : escaped(found)));
}

/** A value in full, as JSON that reads back as the same value. */
export function writeOutJson(value: unknown): string {
  return writeOut(JSON.stringify(value, null, 2) ?? "nothing");
}

/** The way back, for words that a person got written out and sends again; what could not have been made here stays. */
export function readBack(text: string): string {
  return text.replace(WRITTEN, (found) => {
    const units = found.match(/[0-9a-f]{4}/g) ?? [];
    const read = String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16)));
    return writeOut(read) === found ? read : found;
  });
}

/** Unit by unit, so that JSON stays JSON. */
function escaped(found: string): string {
  return found
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
