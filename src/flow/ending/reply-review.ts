/**
 * `message_sending`: replies pass the plugins before they are stored, so that what is shown and what is kept are the same. Fails closed: a
 * reply that a plugin could not check is held back, and the chat is told so.
 */
import type { ReplyPart } from "../../contracts/delivery.ts";
import type { HookEntry, Hooks } from "../../contracts/plugin-hooks.ts";
import type { Batch } from "../../contracts/queue.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { misfitOf, type Shape } from "../../kit/schema/shape.ts";

interface ReplyReviewDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly hooks: Pick<Hooks, "deciding">;
}

/** A plugin that checks replies is waited for this long. */
const REVIEW_MS = 15_000;
/** Any other answer may be a misspelt wish to change the reply, so it counts as a failed check. */
const ANSWER: Shape = { type: "object", keys: { text: { shape: { type: "string" }, optional: true } } };

type Reviewed = Pick<Batch, "sessionKey" | "entries">;

export async function reviewReply(
  deps: ReplyReviewDeps,
  batch: Reviewed,
  reply: readonly ReplyPart[],
): Promise<readonly ReplyPart[]> {
  const handlers = await deps.hooks.deciding("message_sending");
  return handlers.length === 0 ? reply : Promise.all(reply.map((part) => reviewPart(deps, batch, part, handlers)));
}

async function reviewPart(
  deps: ReplyReviewDeps,
  { sessionKey, entries: [first] }: Reviewed,
  part: ReplyPart,
  handlers: readonly HookEntry<"message_sending">[],
): Promise<ReplyPart> {
  if (!first || part.message.kind !== "reply") return part;
  let text = part.message.text;
  for (const { plugin, handler } of handlers) {
    using limit = deps.clock.deadline(REVIEW_MS, () => new Error(`it did not end within ${REVIEW_MS} ms`));
    try {
      const event = { sessionKey, to: first.message.address, text };
      const answer = await orAborted(Promise.resolve(handler(event, limit.signal)), limit.signal);
      const wrong = misfitOf(plugin, answer ?? {}, ANSWER);
      if (wrong !== null) throw new Error(wrong);
      if (answer?.text !== undefined) ({ text } = answer);
    } catch (error) {
      deps.log.warn("a plugin could not check a reply; it is held back", { plugin, error });
      const say = `The reply was held back because the plugin ${plugin} could not check it.`;
      return { ...part, message: { ...part.message, kind: "notice", text: say } };
    }
  }
  return { ...part, message: { ...part.message, text } };
}
