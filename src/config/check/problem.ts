/** One thing that is wrong with a configuration text, and where. Never holds the value of a secret. */
export interface ConfigProblem {
  /** "gateway.port"; empty when it concerns the whole file. */
  readonly path: string;
  readonly line: number; // from 1
  readonly column: number; // from 1
  /** A whole sentence without the position. */
  readonly message: string;
  /** What was written, shortened; absent or "(hidden)" where it could be a secret. */
  readonly value?: string;
  /** The name or value that was probably meant. */
  readonly suggestion?: string;
  /** It is a whole section of the file that no setting belongs to. */
  readonly unknownSection?: true;
}

export const HIDDEN = "(hidden)";
const SHOWN_VALUE_MAX_CHARS = 60;
const SHOWN_KEY_MAX_CHARS = 64;
const PLAIN_KEY = /^[A-Za-z0-9_$-]{1,64}$/;

export function formatProblem(problem: ConfigProblem, file: string): string {
  return `${file}:${problem.line}:${problem.column} ${problem.message}`;
}

/** A key as it may stand in a sentence: odd ones are quoted and cut, so that they cannot disturb a terminal or a log. */
function showKey(key: string): string {
  return PLAIN_KEY.test(key) ? key : printable(key, SHOWN_KEY_MAX_CHARS);
}

export function showText(text: string): string {
  if (text.includes("://") && text.includes("@")) return HIDDEN; // an address with a name and password inside
  return printable(text, SHOWN_VALUE_MAX_CHARS);
}

function printable(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  return JSON.stringify(cut).replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
}

export function joinPath(parent: string, key: string): string {
  return parent === "" ? showKey(key) : `${parent}.${showKey(key)}`;
}
