/** The OpenAI-compatible door of a port whose tests do not use it. */
import { GatewayError } from "../../contracts/errors.ts";
import type { OpenAiDoor } from "../../contracts/openai.ts";

export function noCompletions(): OpenAiDoor {
  const none = (): never => {
    throw new GatewayError("not_found", "no completions in this test");
  };
  return { models: () => [], read: none, admit: none, answer: none };
}
