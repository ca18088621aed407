/** What a message is: a command, or words for the model. Pure; a slash in front of anything unknown is nothing special. */
import type { InboundMessage } from "../contracts/chat.ts";
import { passesOn } from "../kit/marks/quoted.ts";

export type Parsed =
  | { readonly kind: "command"; readonly name: string; readonly args: string }
  | { readonly kind: "text"; readonly text: string };

type Said = Pick<InboundMessage, "text" | "scope" | "mentioned" | "quoted">;

const COMMAND = /^\/([a-z]+)(?:\s+([^]*))?$/i;
/** Two slashes directly before a word; a path, an address or a comment with a space is left as it is. */
const ESCAPED = /^\/\/[a-z]/i;

export function parseCommand({ text, scope, mentioned, quoted }: Said, known: (name: string) => boolean): Parsed {
  if (scope !== "dm" && !mentioned) return { kind: "text", text };
  if (passesOn(quoted)) return { kind: "text", text }; // whoever forwards a command has not given it
  if (ESCAPED.test(text)) return { kind: "text", text: text.slice(1) };
  const [, word = "", args = ""] = COMMAND.exec(text) ?? [];
  const name = word.toLowerCase();
  return name !== "" && known(name) ? { kind: "command", name, args: args.trim() } : { kind: "text", text };
}
