/** What may wait, and how a busy session goes on. */
import { Type } from "typebox";
import { QUEUE_MODES } from "../../contracts/session-settings.ts";
import { choice, closed, duration, named, wholeNumber } from "./kinds.ts";

const DAY_MS = 86_400_000;

export const QueueSection = Type.Object(
  {
    mode: choice(
      { of: QUEUE_MODES, default: "collect" },
      "Messages that arrive while their session is being answered: collect makes one turn of all that wait, steer says them into the running turn, followup gives each its own turn, interrupt stops the running turn. An idle session starts at once.",
    ),
    collectMs: duration(
      { default: 800, minimum: 0 },
      "After a busy turn, wait this long for more messages before the next one (collect only). 0 goes on at once.",
    ),
    channels: named(
      "^[a-z0-9-]{1,64}$",
      choice({ of: QUEUE_MODES }, "How this channel goes on."),
      "Another mode for a channel, by its name. What /queue chooses for a conversation goes before both.",
    ),
    maxPerSession: wholeNumber(
      { default: 20, minimum: 1, maximum: 10_000 },
      "Messages one session may have waiting. More are refused before they are accepted; a channel that cannot refuse keeps them as overflow.",
    ),
    maxTotal: wholeNumber({ default: 500, minimum: 1, maximum: 100_000 }, "Messages waiting in the whole gateway."),
    maxOverflow: wholeNumber(
      { default: 50, minimum: 1, maximum: 1_000 },
      "Overflow of one chat that its next turn is shown, shortened. Older overflow is only counted.",
    ),
    ttlMs: duration(
      { default: DAY_MS, minimum: 60_000 },
      "A message that has waited longer than this is not answered any more; its chat is told so.",
    ),
    maxMessageChars: wholeNumber({ default: 200_000, minimum: 1_000, maximum: 900_000 }, "Characters in one message."),
  },
  { ...closed, description: "What may wait." },
);
