/** One thing that is wrong with a configuration text, and where. Never holds the value of a secret. */
import { quotedText } from "../../kit/schema/problem.ts";

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

export function formatProblem(problem: ConfigProblem, file: string): string {
  return `${file}:${problem.line}:${problem.column} ${problem.message}`;
}

export function showText(text: string): string {
  if (text.includes("://") && text.includes("@")) return HIDDEN; // an address with a name and password inside
  return quotedText(text);
}
