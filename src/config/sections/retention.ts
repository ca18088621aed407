/** How long what people say, and what it leaves behind, is kept. */
import { Type } from "typebox";
import { closed, wholeNumber } from "./kinds.ts";

const TWO_YEARS = 730;
/** Two years and a bit: a year can be compared with the one before. */
const USAGE_DAYS = 800;

const days = (byDefault: number, description: string) =>
  wholeNumber({ default: byDefault, minimum: 0, maximum: 36_500 }, `${description} 0 keeps them for ever.`);

export const RetentionSection = Type.Object(
  {
    messagesDays: days(
      TWO_YEARS,
      "Days for which messages, replies and turns are kept. What waits for an answer, a delivery or an approval stays, and so do pinned sessions.",
    ),
    sessionsDays: days(
      TWO_YEARS,
      "Days without a message after which a session is deleted, with its session file. Pinned sessions stay.",
    ),
    mediaDays: days(365, "Days for which files that people sent or got are kept. Those of pinned sessions stay."),
    usageDays: days(USAGE_DAYS, "Days for which usage records are kept; at least 62, which budgets need."),
  },
  {
    ...closed,
    security: true,
    description:
      "How long what grows with time is kept. Tool calls have tools.keepDays, logs have logging.retentionDays.",
  },
);
