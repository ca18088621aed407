/** Eighth fresh list of delivery bugs, all written before the first of them was tried: parts for other gateways, reading again, costs, heartbeats, reviews, results in the background, doubts, budgets, actions in the web chat, waiting, replies in groups, lost records. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/delivery"] as const;
const flow = ["src/flow"] as const;

export const EIGHTH_DELIVERY_BUGS: readonly SeededBug[] = [
  {
    what: "A reply part that another gateway could not take over any more is forgotten here until the next start.",
    file: "src/delivery/deliver-part.ts",
    in: "handOver",
    find: "if (handed.value.length === 0) return waits;",
    replace: "",
    tests: [...room],
  },
  {
    what: "A second look at the outbox ends with its first page, so that older parts behind it are never sent.",
    file: "src/delivery/part-reading.ts",
    in: "page",
    find: "if (isLast) again = null;",
    replace: "again = null;",
    tests: [...room],
  },
  {
    what: "What a turn had cost before it asked other agents is not in its usage.",
    file: "src/flow/attempt.ts",
    in: "adoptDelegated",
    find: "cost.besides = addUsage(cost.besides, delegated.usage);",
    replace: "cost.besides = delegated.usage;",
    tests: [...flow],
  },
  {
    what: "A heartbeat whose words are exactly as long as what counts as nothing is shown.",
    file: "src/flow/ending/quiet-turns.ts",
    in: "withoutAck",
    find: "rest.length <= maxChars",
    replace: "rest.length < maxChars",
    tests: [...flow],
  },
  {
    what: "A second plugin that checks replies sees the words from before the first one changed them, and its answer undoes that.",
    file: "src/flow/ending/reply-review.ts",
    in: "reviewPart",
    find: "to: first.message.address, text }",
    replace: "to: first.message.address, text: part.message.text }",
    tests: [...flow],
  },
  {
    what: "The real result of a tool that ended in the background is kept, although a plugin wanted another text to be.",
    file: "src/flow/background-end.ts",
    in: "backgroundEndText",
    find: "kept: sentence(outcome.kept ?? text)",
    replace: "kept: sentence(text)",
    tests: [...flow],
  },
  {
    what: "A reply whose first message is in doubt counts as sent when its second and third arrive.",
    file: "src/delivery/rules.ts",
    in: "onward",
    find: "part.doubt || (part.lost > 0 && isRisky(part, channel, now))",
    replace: "part.lost > 0 && isRisky(part, channel, now)",
    tests: [...room],
  },
  {
    what: "What a turn has cost does not count against the budget before the next start.",
    file: "src/flow/turn.ts",
    in: "endTurn",
    find: "if (bill) world.budget.count(bill);",
    replace: "",
    tests: [...flow, "test/budget.test.ts"],
  },
  {
    what: "An action on a message of the web chat that is being delivered waits for ten seconds.",
    file: "src/delivery/chat-messages.ts",
    in: "act",
    find: "waits: !channel.ownIds",
    replace: "waits: true",
    tests: [...room],
  },
  {
    what: "A console that is opened while a tool runs still says that the turn waits for its provider.",
    file: "src/flow/live-turns.ts",
    in: "toolStarted",
    find: "turn.waitsFor = null;",
    replace: "",
    tests: [...flow],
  },
  {
    what: "In a group an answer to several messages points at the oldest of them.",
    file: "src/flow/ending/turn-ending.ts",
    in: "withReplyTo",
    find: "entries.findLast(",
    replace: "entries.find(",
    tests: [...flow],
  },
  {
    what: "The notice that a conversation goes on without its record takes the place of the reply.",
    file: "src/flow/prompt/started-over.ts",
    in: "withStartedOver",
    find: "const part = end.reply.length;",
    replace: "const part = 0;",
    tests: [...flow],
  },
];
