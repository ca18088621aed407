/** Third fresh list of delivery bugs, all written before the first of them was tried: limits in a burst, stops, what is forgotten or kept too long, doubt, delegated turns, questions. */
import type { SeededBug } from "../seeded-bug.ts";

const outbox = ["src/delivery"] as const;
const turns = ["src/queue", "src/flow"] as const;
const rows = ["src/store", "src/delivery"] as const;

export const THIRD_DELIVERY_BUGS: readonly SeededBug[] = [
  {
    what: "Messages that arrive in many conversations at once slip past the limit of the whole gateway.",
    file: "src/queue/admission.ts",
    in: "refusal",
    find: "lanes.stats().waiting + arrivingTotal",
    replace: "lanes.stats().waiting",
    tests: turns,
  },
  {
    what: "What is said after a stop is steered into the turn that is being stopped, and lost with it.",
    file: "src/queue/lanes.ts",
    in: "offer",
    find: "|| running.turn.stop.signal.aborted",
    replace: "",
    tests: turns,
  },
  {
    what: "After one message has waited too long, the next one that does so is noticed only when something new arrives.",
    file: "src/queue/lane-table.ts",
    in: "sweepExpired",
    find: "table.nextExpiryAt = Math.min(table.nextExpiryAt, expiryOf(head));",
    replace: "",
    tests: turns,
  },
  {
    what: "What joined a running turn is remembered for ever as being at work.",
    file: "src/queue/batch.ts",
    in: "createBatch",
    find: "world.forget(grown);",
    replace: "world.forget(work);",
    tests: turns,
  },
  {
    what: "A stop is forgotten when it comes while the store cannot take the beginning of its turn.",
    file: "src/queue/queue.ts",
    in: "takeNext",
    find: "const stopped = running.stop.signal.aborted;",
    replace: "const stopped = false;",
    tests: turns,
  },
  {
    what: "A long message counts as not deleted when its last piece was gone already, and stays in the transcript.",
    file: "src/delivery/chat-messages.ts",
    in: "onPlatform",
    find: 'results.find(({ kind }) => kind === "done") ?? results[0]',
    replace: "results.at(-1)",
    tests: outbox,
  },
  {
    what: "A reply of which one message was left in doubt is listed as sent.",
    file: "src/delivery/rules.ts",
    in: "afterSkip",
    find: "doubt: true",
    replace: "doubt: part.doubt",
    tests: outbox,
  },
  {
    what: "A stop of the outbox does not wait for the reading that is under way.",
    file: "src/delivery/outbox.ts",
    in: "startOutbox",
    find: "await following;",
    replace: "",
    tests: outbox,
  },
  {
    what: "A part that has ended ends once more, and what is known about its end is overwritten.",
    file: "src/store/rows/outbox.ts",
    in: "marking",
    find: 'provider_id: p("providerId"), ended_at: p("at") }).where("id", "=", p("id")).where("ended_at", "is", null)',
    replace: 'provider_id: p("providerId"), ended_at: p("at") }).where("id", "=", p("id"))',
    tests: rows,
  },
  {
    what: "A delegated turn goes on, and is paid for, after the agent that asked for it has ended.",
    file: "src/flow/delegation/delegations.ts",
    in: "runFor",
    find: "AbortSignal.any([signal, asking.signal, asking.over.signal])",
    replace: "AbortSignal.any([signal, asking.signal])",
    tests: turns,
  },
  {
    what: "A question whose time ran out while the machine slept can still be answered.",
    file: "src/flow/questions/open-questions.ts",
    in: "give",
    find: 'may === "over" || deps.clock.now() >= one.about.expiresAt',
    replace: 'may === "over"',
    tests: turns,
  },
  {
    what: "A turn ends before it is certain which messages have become part of it.",
    file: "src/flow/steering.ts",
    in: "startSteering",
    find: "await done;",
    replace: "",
    tests: turns,
  },
];
