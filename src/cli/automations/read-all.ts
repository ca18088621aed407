/** The whole standard input as one text, up to a limit. */
import { GatewayError } from "../../contracts/errors.ts";

const MAX_CHARS = 1024 * 1024;

export async function readAll(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of input) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > MAX_CHARS)
      throw new GatewayError("bad_request", "input too long", { say: "The standard input is longer than 1 MB." });
  }
  return text;
}
