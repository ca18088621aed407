/** What can be done to messages of the web console: edit and delete our own, react, pin. The gateway's own store is the platform. */
import type { ActionResult, Channel, MessageTarget } from "../../contracts/channel.ts";
import type { Events } from "../../contracts/events.ts";
import type { MessageStore, ReactionChange, StoredMessage } from "../../contracts/store/messages.ts";
import type { Store } from "../../contracts/store.ts";
import type { Clock } from "../../kit/clock.ts";
import { toTranscriptItem } from "./outbound.ts";

interface WebChatRecord {
  readonly outbox: Pick<Store["outbox"], "rewrite" | "react">;
  readonly messages: Pick<MessageStore, "find" | "mark">;
}

export interface AbilityDeps {
  readonly clock: Clock;
  readonly events: Pick<Events, "emit">;
  readonly store: WebChatRecord;
}

const DONE: ActionResult = { kind: "done" };
const NOT_OURS: ActionResult = {
  kind: "refused",
  because: "There is no message of yours with that id in this chat. Only your own messages can be edited or deleted.",
};
const NO_SUCH: ActionResult = { kind: "refused", because: "There is no message with that id in this chat." };

export function webChatAbilities(deps: AbilityDeps): Required<Pick<Channel, "edit" | "delete" | "react" | "pin">> {
  const { clock, store } = deps;
  const rewrite = async ({ sessionKey, messageId }: MessageTarget, text: string | null): Promise<ActionResult> => {
    const row = await store.outbox.rewrite(sessionKey, messageId, text, clock.now());
    if (!row) return NOT_OURS;
    deps.events.emit("message", { sessionKey, item: toTranscriptItem(row) });
    return DONE;
  };
  const mark = async (
    target: MessageTarget,
    marks: (found: StoredMessage) => Parameters<MessageStore["mark"]>[1],
  ): Promise<ActionResult> => {
    const found = await store.messages.find(target, target.messageId);
    const item = found && (await store.messages.mark(found.id, marks(found), clock.now()));
    if (!item) return NO_SUCH;
    deps.events.emit("message", { sessionKey: target.sessionKey, item });
    return DONE;
  };
  return {
    edit: (target, text) => rewrite(target, text),
    delete: (target) => rewrite(target, null),
    react: (target, { emoji, remove }) =>
      mark(target, ({ reactions: had }) => ({
        reactions: remove ? had.filter((one) => !emoji.includes(one)) : [...new Set([...had, ...emoji])],
      })),
    pin: (target, unpin) => mark(target, () => ({ pinned: !unpin })),
  };
}

/** A reaction of a person in the console to a message of ours. False: there is no such message. */
export async function takeReaction(deps: AbilityDeps, messageId: string, change: ReactionChange): Promise<boolean> {
  const row = await deps.store.outbox.react(messageId, change, deps.clock.now());
  if (!row) return false;
  const { reaction = "" } = row;
  deps.events.emit("message", { sessionKey: row.sessionKey, item: { ...toTranscriptItem(row), reaction } });
  return true;
}
