/** What may wait, and how a busy session goes on. */
import { Type } from "typebox";
import { QUEUE_MODES, type QueueMode } from "../../contracts/session-settings.ts";
import { closed, duration } from "./kinds.ts";

const queueModes = QUEUE_MODES.map((mode) => Type.Literal(mode));
const DAY_MS = 86_400_000;

export const QueueSection = Type.Object(
  {
    mode: Type.Unsafe<QueueMode>({
      anyOf: queueModes,
      default: "collect",
      description:
        "Messages that arrive while their session is being answered: collect makes one turn of all that wait, steer says them into the running turn, followup gives each its own turn, interrupt stops the running turn. An idle session starts at once.",
    }),
    collectMs: duration(
      800,
      0,
      "After a busy turn, wait this long for more messages before the next one (collect only). 0 goes on at once.",
    ),
    channels: Type.Unsafe<Record<string, QueueMode>>(
      Type.Record(Type.String({ pattern: "^[a-z0-9-]{1,64}$" }), Type.Union(queueModes), {
        default: {},
        description:
          "Another mode for a channel, by its name. What /queue chooses for a conversation goes before both.",
      }),
    ),
    maxPerSession: Type.Integer({
      default: 20,
      minimum: 1,
      maximum: 10_000,
      description:
        "Messages one session may have waiting. More are refused before they are accepted; a channel that cannot refuse keeps them as overflow.",
    }),
    maxTotal: Type.Integer({
      default: 500,
      minimum: 1,
      maximum: 100_000,
      description: "Messages waiting in the whole gateway.",
    }),
    maxOverflow: Type.Integer({
      default: 50,
      minimum: 1,
      maximum: 1_000,
      description: "Overflow of one chat that its next turn is shown, shortened. Older overflow is only counted.",
    }),
    ttlMs: duration(
      DAY_MS,
      60_000,
      "A message that has waited longer than this is not answered any more; its chat is told so.",
    ),
    maxMessageChars: Type.Integer({
      default: 200_000,
      minimum: 1_000,
      maximum: 900_000,
      description: "Characters in one message.",
    }),
  },
  { ...closed, description: "What may wait." },
);
