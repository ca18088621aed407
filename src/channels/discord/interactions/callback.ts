/** What an interaction is answered, in Discord's numbers. */
import type { InteractionAnswer } from "./interactions.ts";

const PONG = 1;
const MESSAGE = 4;
const NOTED = 6;
const UPDATE = 7;
const ONLY_FOR_THEM = 1 << 6;
const NO_MENTIONS = { parse: [] };

interface Callback {
  readonly type: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Null: Discord is answered nothing. */
export function callbackOf(answer: InteractionAnswer): Callback | null {
  switch (answer.kind) {
    case "pong":
      return { type: PONG };
    case "whisper":
      return { type: MESSAGE, data: { content: answer.text, flags: ONLY_FOR_THEM, allowed_mentions: NO_MENTIONS } };
    case "replace":
      return { type: UPDATE, data: { content: answer.text, components: [], allowed_mentions: NO_MENTIONS } };
    case "noted":
      return { type: NOTED };
    case "busy":
    case "nothing":
      return null;
  }
}
