/** The heartbeat: an agent that looks around from time to time. */
import { Type } from "typebox";
import { closed, duration } from "./kinds.ts";

const time = (description: string) =>
  Type.Optional(
    Type.String({ pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$", expects: 'a time such as "08:30"', description }),
  );

export const HeartbeatSection = Type.Object(
  {
    enabled: Type.Boolean({
      default: false,
      description: "Every agent that has something to look after does so by itself.",
    }),
    every: duration(1_800_000, 1_000, "How often."),
    activeHours: Type.Object(
      {
        start: time("Not before. Default: any time."),
        end: time("Not from then on; earlier than start means the next day. Default: any time."),
        timezone: Type.Optional(Type.String({ maxLength: 64, description: "Default: the zone of the machine." })),
      },
      { additionalProperties: false, default: {}, description: "When it may." },
    ),
    retries: Type.Integer({
      default: 1,
      minimum: 0,
      maximum: 5,
      description: "A beat that failed is tried again so often, a minute later, before the next one is due.",
    }),
    skipWhenBusy: Type.Boolean({
      default: true,
      description: "A beat that falls into a conversation is left out.",
    }),
    ackMaxChars: Type.Integer({
      default: 300,
      minimum: 0,
      maximum: 10_000,
      description:
        "A reply that begins or ends with HEARTBEAT_OK is not shown when it has at most so many characters besides.",
    }),
    prompt: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 8_000,
        description: "What the agent is asked instead of the usual words.",
      }),
    ),
  },
  { ...closed, description: "An agent that looks around from time to time. Costs tokens: off until you want it." },
);
