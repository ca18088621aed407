/**
 * The marks of the gateway's own blocks in what a model reads: `<name CODE …> … </name CODE>`. The code is 128 random bits, made for one block,
 * so nobody can write it in advance; and whatever looks like a mark in somebody's words is changed so that it does not.
 */
import type { Ids } from "../ids.ts";

type BlockName = "gateway-facts" | "untrusted-text";

const CODE_BYTES = 16;
const MAX_LABEL_CHARS = 80;
const REMOVED = "[removed]"; // no character of a code is in the brackets, so taking one out cannot put another together

/** Characters that are not seen could stand between the letters, and a model reads past them. Bounded: a long row of them is no mark. */
const UNSEEN = "\\u00ad\\u034f\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff";
const GAP = `[${UNSEEN}]{0,8}`;
const HYPHEN = "[-_\\s\\u2010-\\u2015]?";
const spelled = (word: string): string => [...word].map((letter) => (letter === "-" ? HYPHEN : letter)).join(GAP);
/** The opening bracket in its usual and its look-alike forms, perhaps a slash, and one of the names. */
const LOOKS_LIKE_A_MARK = new RegExp(
  `[<\\uff1c\\u2039\\u3008\\u27e8](?=[\\s/\\\\${UNSEEN}]{0,16}(?:${spelled("gateway-facts")}|${spelled("untrusted-text")}))`,
  "giu",
);

/** The gateway's note about a file begins like this, and only inside its own block. */
const LOOKS_LIKE_A_NOTE = new RegExp(
  `[\\[\\uff3b\\u3010](?=[\\s${UNSEEN}]{0,16}${spelled("media")}[\\s${UNSEEN}]{1,16}${spelled("attached")})`,
  "giu",
);

/** Ordinary text comes back as it is; in a look-alike the bracket becomes `&lt;`, or a round one. */
export function withoutMarks(text: string): string {
  return text.replace(LOOKS_LIKE_A_MARK, "&lt;").replace(LOOKS_LIKE_A_NOTE, "(");
}

export function hasMarks(text: string): boolean {
  return withoutMarks(text) !== text;
}

/** `label` is for the first mark; `body` may be anything at all. */
export function block(
  ids: Ids,
  name: BlockName,
  { label = "", body }: { readonly label?: string; readonly body: string },
): string {
  const code = ids.secret(CODE_BYTES);
  const whole = body.replaceAll(code, REMOVED);
  // in its own block the gateway's notes are its own; names in them have no square brackets left
  const safe = name === "gateway-facts" ? whole.replace(LOOKS_LIKE_A_MARK, "&lt;") : withoutMarks(whole);
  return `<${name} ${code}${label}>\n${safe}\n</${name} ${code}>`;
}

/** A name that somebody else chose: one short line without anything that could end a quotation or hide. */
export function oneLine(text: string): string {
  const plain = text
    .slice(0, MAX_LABEL_CHARS * 4)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .replace(/["<>\\`]/g, "'")
    .replaceAll("[", "(")
    .replaceAll("]", ")")
    .trim();
  return plain.length <= MAX_LABEL_CHARS ? plain : `${plain.slice(0, MAX_LABEL_CHARS).toWellFormed()}…`;
}
