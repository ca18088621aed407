/**
 * Decides whether a message is a command or text for the model. Pure. A slash directly before one word at the very beginning is a command,
 * also when no command has that name; a path (`/usr/bin`), a word with punctuation (`/new.`) and two slashes are text.
 */
import type { InboundMessage } from "../contracts/chat.ts";
import { passesOn } from "../kit/marks/quoted.ts";

type Parsed =
  | { readonly kind: "command"; readonly name: string; readonly args: string }
  /** Looks like a command, and none has that name. `word` is as it was written. */
  | { readonly kind: "unknown"; readonly word: string }
  /** Looks like a command in a group where the gateway is not mentioned: it may be meant for another bot. */
  | { readonly kind: "unaddressed" }
  | { readonly kind: "text"; readonly text: string };

type Said = Pick<InboundMessage, "text" | "scope" | "mentioned" | "quoted">;

const COMMAND = /^\/(\p{L}[\p{L}\p{N}_-]*)(?:\s+([^]*))?$/u;
/** Two slashes directly before a word; a path, an address or a comment with a space is left as it is. */
const ESCAPED = /^\/\/\p{L}/u;

export function parseCommand({ text, scope, mentioned, quoted }: Said, known: (name: string) => boolean): Parsed {
  if (passesOn(quoted)) return { kind: "text", text }; // whoever forwards a command has not given it
  const [, word = "", args = ""] = COMMAND.exec(text) ?? [];
  if (scope !== "dm" && !mentioned) return word === "" ? { kind: "text", text } : { kind: "unaddressed" };
  if (ESCAPED.test(text)) return { kind: "text", text: text.slice(1) };
  if (word === "") return { kind: "text", text };
  const name = word.toLowerCase();
  return known(name) ? { kind: "command", name, args: args.trim() } : { kind: "unknown", word };
}
