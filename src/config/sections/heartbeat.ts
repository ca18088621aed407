/** The heartbeat: an agent that looks after its checklist from time to time. */
import { Type } from "typebox";
import { closed, duration, flag, text, wholeNumber } from "./kinds.ts";

const time = (description: string) =>
  Type.Optional(
    text({ pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$", expects: 'a time such as "08:30"' }, description),
  );

const EVERY_MS = 1_000;
const hours = {
  start: time("Not before. Default: any time."),
  end: time("Not from then on; earlier than start means the next day. Default: any time."),
  timezone: Type.Optional(text({ maxLength: 64 }, 'Such as "Europe/Berlin". Default: the zone of the machine.')),
};
const retries = { minimum: 0, maximum: 5 };
const ackMaxChars = { minimum: 0, maximum: 10_000 };
const prompt = { minLength: 1, maxLength: 8_000 };

export const HeartbeatSection = Type.Object(
  {
    enabled: flag({ default: false }, "Every agent that has something to look after does so by itself."),
    every: duration({ default: 1_800_000, minimum: EVERY_MS }, "How often."),
    activeHours: Type.Object(hours, { ...closed, description: "When it may." }),
    retries: wholeNumber(
      { ...retries, default: 1 },
      "A beat that failed is tried again so often, a minute later, before the next one is due.",
    ),
    skipWhenBusy: flag({ default: true }, "A beat that falls into a conversation is left out."),
    ackMaxChars: wholeNumber(
      { ...ackMaxChars, default: 300 },
      "A reply that begins or ends with HEARTBEAT_OK is not shown when it has at most so many characters besides.",
    ),
    prompt: Type.Optional(text(prompt, "What the agent is asked instead of the usual words.")),
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
      enabled: Type.Optional(flag({}, "true: it has a heartbeat, with or without a checklist. false: it has none.")),
      every: Type.Optional(duration({ minimum: EVERY_MS }, "Instead of heartbeat.every.")),
      activeHours: Type.Optional(
        Type.Object(hours, { additionalProperties: false, description: "Instead of heartbeat.activeHours." }),
      ),
      retries: Type.Optional(wholeNumber(retries, "Instead of heartbeat.retries.")),
      skipWhenBusy: Type.Optional(flag({}, "Instead of heartbeat.skipWhenBusy.")),
      ackMaxChars: Type.Optional(wholeNumber(ackMaxChars, "Instead of heartbeat.ackMaxChars.")),
      prompt: Type.Optional(text(prompt, "Instead of heartbeat.prompt.")),
    },
    { additionalProperties: false, description: "The heartbeat of this agent, where it differs from heartbeat." },
  ),
);
