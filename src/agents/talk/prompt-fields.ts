/** What a person said, in the fields that pi's `prompt` and `steer` share. */
import type { PromptInput } from "../../contracts/agent.ts";
import type { Fields } from "./protocol.ts";

/** A text that begins with a slash would be a command to pi. One space in front makes it text again. */
export function asPlainText(text: string): string {
  return text.trimStart().startsWith("/") ? ` ${text}` : text;
}

/** Half a character is stored as U+FFFD. pi would drop it; the model reads what the transcript shows. */
export function inputFields(input: PromptInput): Fields {
  const images = input.images.map(({ mimeType, base64 }) => ({ type: "image", data: base64, mimeType }));
  return { message: asPlainText(input.text.toWellFormed()), ...(images.length > 0 ? { images } : {}) };
}
