/** The chat that the words of a new job go to: where the turn is, or where the first of those turns is that led to it by asking agents. */
import type { Caller } from "../../../contracts/agent.ts";
import type { Maker } from "../../../contracts/automation/jobs.ts";

export function placeOf({ askedBy, sessionKey, origin }: Caller): Pick<Maker, "to" | "sessionKey"> {
  return askedBy ? placeOf(askedBy) : { sessionKey, to: origin };
}
