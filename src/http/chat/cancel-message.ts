/** Taking a message back, the same for the API and the socket. */
import { GatewayError } from "../../contracts/errors.ts";
import type { InboxId, Principal } from "../../contracts/ids.ts";
import type { HttpDeps } from "../types.ts";

/** Throws `not_found` for what this person never sent, and `conflict` for what does not wait any more. */
export async function cancelMessage(
  deps: Pick<HttpDeps, "takeBack">,
  id: string,
  by: Principal,
): Promise<{ readonly cancelled: true; readonly turnId: string }> {
  const done = await deps.takeBack.cancel(id as InboxId, by);
  if (done.kind === "cancelled") return { cancelled: true, turnId: done.turnId };
  if (done.kind === "unknown")
    throw new GatewayError("not_found", "no such message", { say: "There is no such message of yours." });
  throw new GatewayError("conflict", "not waiting", {
    say: "The message is being answered already, or has been. /stop ends an answer that is being written.",
  });
}
