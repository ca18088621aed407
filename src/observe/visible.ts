/** Makes characters visible that could move a cursor, hide text or break a line. Ordinary text of any language passes unchanged. */

/** C0 and C1 controls, line and paragraph separators, and everything that changes the direction of writing. */
// oxlint-disable-next-line no-control-regex -- controls are what this is about
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
/** As above, but keeps line feeds and tabs, for text that has lines of its own. */
// oxlint-disable-next-line no-control-regex -- controls are what this is about
const UNSAFE_IN_LINES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

export function visible(text: string): string {
  return text.replace(UNSAFE, escape);
}

export function visibleLines(text: string): string {
  return text.replace(UNSAFE_IN_LINES, escape);
}

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
