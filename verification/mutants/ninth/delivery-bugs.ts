/** Ninth fresh list of delivery bugs, all written before the first of them was tried: reactions, gateways that are told, order in a chat, parts that have gone, who is told of gaps, costs of attempts, ends in the background, ledgers, late files, words of errors, failed posts, secrets in progress. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/delivery"] as const;
const flow = ["src/flow"] as const;

export const NINTH_DELIVERY_BUGS: readonly SeededBug[] = [
  {
    what: "One reaction that is taken away takes all others of the message with it.",
    file: "src/delivery/chat-messages.ts",
    in: "changed",
    find: "had.filter((one) => !emoji.includes(one))",
    replace: "[]",
    tests: [...room],
  },
  {
    what: "A gateway that was handed a reply part is not told, and the part waits there until it looks by itself.",
    file: "src/delivery/deliver-part.ts",
    in: "handOver",
    find: "others.handed(deliverer.node);",
    replace: "",
    tests: [...room, "test/several-gateways.test.ts"],
  },
  {
    what: "An older part that comes from another gateway takes the place of the one that is being sent, which is then sent twice.",
    file: "src/delivery/outbox.ts",
    in: "add",
    find: "Math.max(1, after)",
    replace: "after",
    tests: [...room],
  },
  {
    what: "A part that was sent while the outbox is read again from its beginning is taken up once more.",
    file: "src/delivery/part-reading.ts",
    in: "page",
    find: "!isKnown(id) && !reading.gone.has(id)",
    replace: "!isKnown(id)",
    tests: [...room],
  },
  {
    what: "A chat is not told that a part of an answer may be missing there; the owner is told instead.",
    file: "src/delivery/rules.ts",
    in: "doubtful",
    find: 'tell: "chat"',
    replace: 'tell: "owner"',
    tests: [...room],
  },
  {
    what: "What other agents cost in an attempt that failed is missing from the usage of the turn.",
    file: "src/flow/attempt.ts",
    in: "answerMessage",
    find: "world.lost.set(batch.turnId, world.cost.besides);",
    replace: "",
    tests: [...flow, "test/budget.test.ts"],
  },
  {
    what: "The second end of a tool in the background is taken for the first one, and its session never hears of it.",
    file: "src/flow/background-end.ts",
    in: "reportBackgroundEnd",
    find: "id: `tool:${id}`",
    replace: "id: `tool:${tool}`",
    tests: [...flow, "test/running-commands.test.ts"],
  },
  {
    what: "The cost of an interrupted attempt has the place of the turn's own in the ledger.",
    file: "src/flow/billing.ts",
    in: "recordLost",
    find: "id: `${batch.turnId}:${batch.attempt}`",
    replace: "id: batch.turnId",
    tests: [...flow, "test/budget.test.ts"],
  },
  {
    what: "A file that the owner allows after the reply has gone is never sent.",
    file: "src/flow/ending/media-lines.ts",
    in: "callAll",
    find: "isOpen = false;",
    replace: "",
    tests: [...flow, "test/media-lines.test.ts"],
  },
  {
    what: "A chat is told the general sentence about an error instead of what the error says about this one.",
    file: "src/flow/ending/thrown-error.ts",
    in: "endOfError",
    find: "failure(error.code, detail, { say: error.say })",
    replace: "failure(error.code, detail)",
    tests: [...flow],
  },
  {
    what: "A turn whose only message could not be sent by its tool ends without a word.",
    file: "src/flow/ending/turn-ending.ts",
    in: "isPost",
    find: "!event.isError && POSTING_TOOLS.includes(event.tool)",
    replace: "POSTING_TOOLS.includes(event.tool)",
    tests: [...flow],
  },
  {
    what: "A secret with colour codes in the middle of it is shown in the progress of a tool.",
    file: "src/flow/live-turns.ts",
    in: "newestLine",
    find: "withoutSecrets(line, mask)",
    replace: "line",
    tests: [...flow, "test/tool-progress.test.ts"],
  },
];
