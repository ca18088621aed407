/** Second fresh list of delivery bugs, all written before the first of them was tried: pages, signals, ids of platforms, holds, joined messages, previews. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/delivery"] as const;
const queue = ["src/queue", "src/flow"] as const;
const rows = ["src/store", "src/delivery"] as const;

export const SECOND_DELIVERY_BUGS: readonly SeededBug[] = [
  {
    what: "Of more replies than one page only the first page is sent until something new is stored.",
    file: "src/delivery/outbox.ts",
    in: "follow",
    find: "if (page?.isLast === false) continue;",
    replace: "",
    tests: room,
  },
  {
    what: "A send that took too long is not told to stop, so that it goes on beside its repeat.",
    file: "src/delivery/deliver-part.ts",
    in: "send",
    find: "channel.send(row, AbortSignal.any([signal, limit.signal]))",
    replace: "channel.send(row, signal)",
    tests: room,
  },
  {
    what: "A reply to a message that has no id on the platform is sent with our own id of it, which the platform refuses.",
    file: "src/delivery/deliver-part.ts",
    in: "withPlatformReply",
    find: "answered === undefined ? message :",
    replace: "answered === undefined ? row.message :",
    tests: room,
  },
  {
    what: "A tool changes a message of another chat of the same conversation.",
    file: "src/delivery/chat-messages.ts",
    in: "act",
    find: "if (!found || !isSameChat(found.to, chat.to)) return NO_SUCH;",
    replace: "if (!found) return NO_SUCH;",
    tests: room,
  },
  {
    what: "A notice to the owner that cannot be delivered makes another notice to the owner.",
    file: "src/delivery/undelivered.ts",
    in: "tellOwnerOfUndelivered",
    find: "if (part.turnId.startsWith(PREFIX)) return;",
    replace: "",
    tests: room,
  },
  {
    what: "A withdrawal that could not be stored keeps its conversation waiting for ever.",
    file: "src/queue/queue.ts",
    in: "cancel",
    find: "held.letGo(clock.elapsed()); throw error;",
    replace: "throw error;",
    tests: queue,
  },
  {
    what: "A conversation forgets the queue mode that was chosen for it as soon as it is idle.",
    file: "src/queue/queue.ts",
    in: "store",
    find: "lanes.setMode(sessionKey, stored.mode);",
    replace: "",
    tests: queue,
  },
  {
    what: "What joined a running turn and could not be stored with it is not stored with the next one that joins.",
    file: "src/queue/batch.ts",
    in: "join",
    find: "inboxIds: [...joined] }",
    replace: "inboxIds: ids }",
    tests: queue,
  },
  {
    what: "A turn whose end cannot be stored keeps its agent process from everybody else while the disk is full.",
    file: "src/flow/turn.ts",
    in: "storeEnd",
    find: "await world.held.disposeAsync();",
    replace: "",
    tests: queue,
  },
  {
    what: "An attempt that closes late takes away what the next attempt shows.",
    file: "src/flow/live-turns.ts",
    in: "close",
    find: "if (shown.get(sessionKey) === turn) shown.delete(sessionKey);",
    replace: "shown.delete(sessionKey);",
    tests: queue,
  },
  {
    what: "A question that ended while it was being shown stays open in its chat.",
    file: "src/flow/questions/open-questions.ts",
    in: "show",
    find: "if (one.ended) takeAway(one, one.ended);",
    replace: "",
    tests: queue,
  },
  {
    what: "A message that was deleted comes back when it is edited.",
    file: "src/store/rows/posts.ts",
    in: "statements",
    find: '.where("deleted_at", "is", null),',
    replace: ",",
    tests: rows,
  },
];
