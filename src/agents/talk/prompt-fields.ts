/** What a person said, in the fields that pi's `prompt` and `steer` share. */
import type { PromptInput } from "../../contracts/agent.ts";
import type { Fields } from "./protocol.ts";

/** Ours, never a person's. */
const BRIDGE_COMMANDS = "gw-";

/** A text that begins with a slash would be a command to pi. One space in front makes it text again. */
export function asPlainText(text: string): string {
  return text.trimStart().startsWith("/") ? ` ${text}` : text;
}

/** `/name …` where the owner has listed a prompt template of that name: pi puts the template in its place. */
function callsTemplate(text: string, templates: ReadonlySet<string>): boolean {
  const [, name] = /^\/([\w.-]+)(?:\s|$)/.exec(text) ?? [];
  return name !== undefined && !name.startsWith(BRIDGE_COMMANDS) && templates.has(name);
}

/** Half a character is stored as U+FFFD. pi would drop it; the model reads what the transcript shows. */
export function inputFields(input: PromptInput, templates: ReadonlySet<string>): Fields {
  const images = input.images.map(({ mimeType, base64 }) => ({ type: "image", data: base64, mimeType }));
  const message = messageOf(input.text.toWellFormed(), input.preface, templates);
  return { message, ...(images.length > 0 ? { images } : {}) };
}

function messageOf(text: string, preface: string | undefined, templates: ReadonlySet<string>): string {
  if (callsTemplate(text, templates)) return text;
  return preface === undefined ? asPlainText(text) : `${preface}\n\n${text}`;
}
