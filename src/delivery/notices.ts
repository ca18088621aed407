/** What a chat is told about an answer that did not arrive, or not surely. */

/** A message of an answer was sent, its response was lost, and it is not sent again. */
export const GAP_NOTICE =
  "Part of the answer above may be missing here: the connection broke while it was being sent. Ask again if something is missing; the web console has all of it.";

/** An answer waited for its platform for too long. */
export const EXPIRED_NOTICE =
  "An answer could not be delivered here in time and was not sent. Ask again if you still need it; the web console has it.";
