/** The heartbeat: an agent that looks after its checklist from time to time. */
import { Type } from "typebox";
import { closed, duration, ownDuration } from "./kinds.ts";

const time = (description: string) =>
  Type.Optional(
    Type.String({ pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$", expects: 'a time such as "08:30"', description }),
  );

const EVERY_MS = 1_000;
const hours = {
  start: time("Not before. Default: any time."),
  end: time("Not from then on; earlier than start means the next day. Default: any time."),
  timezone: Type.Optional(
    Type.String({ maxLength: 64, description: 'Such as "Europe/Berlin". Default: the zone of the machine.' }),
  ),
};
const retries = { minimum: 0, maximum: 5 };
const ackMaxChars = { minimum: 0, maximum: 10_000 };
const prompt = { minLength: 1, maxLength: 8_000 };

export const HeartbeatSection = Type.Object(
  {
    enabled: Type.Boolean({
      default: false,
      description: "Every agent that has something to look after does so by itself.",
    }),
    every: duration(1_800_000, EVERY_MS, "How often."),
    activeHours: Type.Object(hours, { additionalProperties: false, default: {}, description: "When it may." }),
    retries: Type.Integer({
      ...retries,
      default: 1,
      description: "A beat that failed is tried again so often, a minute later, before the next one is due.",
    }),
    skipWhenBusy: Type.Boolean({
      default: true,
      description: "A beat that falls into a conversation is left out.",
    }),
    ackMaxChars: Type.Integer({
      ...ackMaxChars,
      default: 300,
      description:
        "A reply that begins or ends with HEARTBEAT_OK is not shown when it has at most so many characters besides.",
    }),
    prompt: Type.Optional(
      Type.String({
        ...prompt,
        description: "What the agent is asked instead of the usual words.",
      }),
    ),
  },
  {
    ...closed,
    description: "An agent that looks after its checklist from time to time. Costs tokens: off until you want it.",
  },
);

/** Of one agent: what it leaves out is taken from `heartbeat`. */
export const ownHeartbeat = Type.Optional(
  Type.Object(
    {
      enabled: Type.Optional(
        Type.Boolean({
          description: "true: it has a heartbeat, with or without a checklist. false: it has none.",
        }),
      ),
      every: ownDuration(EVERY_MS, "Instead of heartbeat.every."),
      activeHours: Type.Optional(
        Type.Object(hours, { additionalProperties: false, description: "Instead of heartbeat.activeHours." }),
      ),
      retries: Type.Optional(Type.Integer({ ...retries, description: "Instead of heartbeat.retries." })),
      skipWhenBusy: Type.Optional(Type.Boolean({ description: "Instead of heartbeat.skipWhenBusy." })),
      ackMaxChars: Type.Optional(Type.Integer({ ...ackMaxChars, description: "Instead of heartbeat.ackMaxChars." })),
      prompt: Type.Optional(Type.String({ ...prompt, description: "Instead of heartbeat.prompt." })),
    },
    { additionalProperties: false, description: "The heartbeat of this agent, where it differs from heartbeat." },
  ),
);
