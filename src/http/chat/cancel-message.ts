/** Taking a message back or changing it, the same for the API and the socket. */
import { GatewayError } from "../../contracts/errors.ts";
import type { InboxId, Principal } from "../../contracts/ids.ts";
import type { HttpDeps } from "../types.ts";

/** Throws `not_found` for what this person never sent, and `conflict` for what does not wait any more. */
export async function cancelMessage(
  deps: Pick<HttpDeps, "messages">,
  id: string,
  by: Principal,
): Promise<{ readonly cancelled: true; readonly turnId: string }> {
  const done = await deps.messages.waiting.cancel(id as InboxId, by);
  if (done.kind === "cancelled") return { cancelled: true, turnId: done.turnId };
  if (done.kind === "unknown") throw notYours();
  throw new GatewayError("conflict", "not waiting", {
    say: "The message is being answered already, or has been. /stop ends an answer that is being written.",
  });
}

/** Throws `not_found` for what this person never sent, and `conflict` for what can be changed no more. */
export async function editMessage(
  deps: Pick<HttpDeps, "messages">,
  { id, text, maxChars }: { readonly id: string; readonly text: string; readonly maxChars: number },
  by: Principal,
): Promise<{ readonly edited: true }> {
  if (text.trim() === "") throw new GatewayError("empty_message", "empty");
  if (text.length > maxChars) throw new GatewayError("too_large", "message too long");
  const done = await deps.messages.waiting.rewrite(id as InboxId, by, text);
  if (done.kind === "rewritten") return { edited: true };
  if (done.kind === "unknown") throw notYours();
  const say =
    done.kind === "command"
      ? "Commands cannot be changed. Cancel it, or send another message."
      : "The message is being answered already, or has been, so it cannot be changed. Send another one instead.";
  throw new GatewayError("conflict", "not changed", { say });
}

const notYours = () => new GatewayError("not_found", "no such message", { say: "There is no such message of yours." });
