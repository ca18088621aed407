/** The chat that the words of a new job go to: where the turn is, or where the first of those turns is that led to it by asking agents. */
import type { Caller } from "../../../contracts/agent.ts";

export function jobChat({ askedBy, sessionKey, origin }: Caller): Pick<Caller, "sessionKey" | "origin"> {
  return askedBy ? jobChat(askedBy) : { sessionKey, origin };
}
