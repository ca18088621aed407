/** The OpenAI-compatible doors of a port whose tests do not use it. */
import { GatewayError } from "../../contracts/errors.ts";
import type { OpenAiDoor } from "../../contracts/openai.ts";
import type { ResponsesDoor } from "../../contracts/responses.ts";

export function noResponses(): ResponsesDoor {
  const none = (): never => {
    throw new GatewayError("not_found", "no responses in this test");
  };
  return {
    read: none,
    create: none,
    begin: none,
    follow: none,
    find: async () => null,
    remove: async () => false,
    cancel: none,
    compact: none,
    recover: async () => 0,
    endLeft: async () => 0,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

export function noCompletions(): OpenAiDoor {
  const none = (): never => {
    throw new GatewayError("not_found", "no completions in this test");
  };
  return { models: () => [], read: none, admit: none, answer: none };
}
