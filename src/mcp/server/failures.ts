/** What a method that fails tells its client: the sentence for people, or the words of the plugin that failed, without known secrets. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { errorText, isGatewayError } from "../../contracts/errors.ts";
import type { SecretMask } from "../../kit/secret.ts";

const MAX_CHARS = 1_000;

/** The library sends on whatever an error says, and answers nothing when something else than an error was thrown. */
export async function withPlainFailures<T>(mask: SecretMask, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const words = isGatewayError(error) ? error.say : errorText(error);
    const text = mask.text(words.slice(0, MAX_CHARS).toWellFormed()) || "It failed without saying why.";
    throw new ProtocolError(ProtocolErrorCode.InternalError, text);
  }
}
