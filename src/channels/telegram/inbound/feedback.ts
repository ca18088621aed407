/** What people see at once of what they sent: a sentence of the gateway, or the reaction that says "stored". Neither holds anything up. */
import type { ChatAddress } from "../../../contracts/chat.ts";
import type { Log } from "../../../kit/log.ts";
import type { BotApi } from "../api/bot-api.ts";
import { faultOf } from "../api/faults.ts";
import { messageAt, sendText } from "../outbound/message-calls.ts";
import type { Arrived } from "./arrived.ts";

interface FeedbackDeps {
  readonly api: BotApi;
  readonly log: Log;
}

/** Never rejects: a sentence that did not arrive is no reason to take the update in once more. */
export async function sayTo(
  { api, log }: FeedbackDeps,
  to: ChatAddress,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  await sendText(api, { to, chunk: { text, entities: [] } }, signal).catch((error: unknown) =>
    log.warn("sentence not delivered", { because: faultOf(error).message }),
  );
}

/** Never rejects: some chats take no reactions. */
export async function acknowledge(
  { api, log }: FeedbackDeps,
  emoji: string,
  { address, messageId }: Arrived,
  signal: AbortSignal,
): Promise<void> {
  if (emoji === "") return;
  const reaction = [{ type: "emoji" as const, emoji: emoji as never }];
  await api
    .call("setMessageReaction", { ...messageAt(address.chat, String(messageId)), reaction }, signal)
    .catch((error: unknown) => log.debug("message not acknowledged", { because: faultOf(error).message }));
}
