/** How much may be spent: in a day and in a month, in all, by an agent, a person or an origin, and by what begins by itself. */
import { Type } from "typebox";
import { USAGE_ORIGINS } from "../../contracts/store/usage.ts";
import { closed, named, wholeNumber } from "./kinds.ts";

const MAX_USD = 1_000_000;
const MAX_TOKENS = 1_000_000_000_000;

const usd = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: MAX_USD, description }));
const tokens = (description: string) => Type.Optional(wholeNumber({ minimum: 0, maximum: MAX_TOKENS }, description));

const four = (who: string) => ({
  dailyUsd: usd(`US dollars a day${who}.`),
  monthlyUsd: usd(`US dollars a month${who}.`),
  dailyTokens: tokens(`Tokens a day${who}, in and out.`),
  monthlyTokens: tokens(`Tokens a month${who}, in and out.`),
});

const limits = (who: string) => Type.Object(four(who), { additionalProperties: false });
const origins = Object.fromEntries(
  USAGE_ORIGINS.map((origin) => [origin, Type.Optional(limits(` for ${origin}`))]),
) as Record<(typeof USAGE_ORIGINS)[number], ReturnType<typeof optionalLimits>>;

function optionalLimits() {
  return Type.Optional(limits(""));
}

export const BudgetSection = Type.Object(
  {
    ...four(" for the whole gateway"),
    unattendedDailyUsd: usd("US dollars a day for what begins by itself: jobs, heartbeats, webhooks, delegated tasks."),
    unattendedMonthlyUsd: usd("US dollars a month for the same."),
    unattendedDailyTokens: tokens("Tokens a day for the same."),
    unattendedMonthlyTokens: tokens("Tokens a month for the same."),
    unattendedShare: Type.Number({
      default: 0.8,
      minimum: 0,
      maximum: 1,
      description:
        "What begins by itself stops at this share of every limit of the gateway, an agent or a person, and leaves the rest to people.",
    }),
    agents: named("^[a-z0-9-]{1,64}$", limits(" for this agent"), "Limits for an agent, by its id."),
    principals: named(
      "^(\\*|operator|[a-z][a-z0-9-]*:user:[^\\s:]{1,190})$",
      limits(" for this person"),
      'Limits for a person, by id such as "telegram:user:1". "*" is everybody who has no entry, each.',
    ),
    origins: Type.Object(origins, { ...closed, description: "Limits for where turns have their beginning." }),
  },
  {
    ...closed,
    security: true,
    description:
      "How much may be spent. Days and months are those of the machine's time zone. Without a limit nothing is ever refused; everything is counted all the same.",
  },
);
