/** A waiting message that its sender changes, or withdraws: ended in the store, then told to everyone who watches, then delivered like any other end. */
import type { Outbox } from "../contracts/delivery.ts";
import type { Events } from "../contracts/events.ts";
import type { WaitingMessages } from "../contracts/flow.ts";
import type { Queue } from "../contracts/queue.ts";
import { withQuoted } from "../kit/marks/quoted.ts";
import { NOTHING_USED, withdrawnEnd } from "./ending/turn-ending.ts";

export function createWaitingMessages(deps: {
  readonly events: Events;
  readonly queue: Queue;
  readonly outbox: Outbox;
}): WaitingMessages {
  const { events, queue, outbox } = deps;
  return {
    async cancel(id, by) {
      const done = await queue.cancel(id, by, withdrawnEnd());
      if (done.kind !== "cancelled") return done;
      const about = { sessionKey: done.sessionKey, turnId: done.turnId, inboxIds: [id] };
      events.emit("turn.joined", about);
      events.emit("turn.ended", { ...about, outcome: "aborted", ms: 0, usage: NOTHING_USED });
      outbox.wake();
      return done;
    },
    async rewrite(id, by, text) {
      const done = await queue.rewrite(id, by, text);
      if (done.kind !== "rewritten") return done;
      const { attachments, receivedAt, quoted } = done.message;
      const shown = withQuoted(text, quoted);
      const item = { id, inboxId: id, role: "user", text: shown, attachments, at: receivedAt, turnId: null } as const;
      events.emit("message", { sessionKey: done.sessionKey, item: { ...item, editedAt: done.at } });
      return done;
    },
  };
}
