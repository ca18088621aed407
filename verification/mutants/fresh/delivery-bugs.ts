/** Second list of delivery bugs, all written before the first of them was tried: stop, doubt, pauses, notices, posts of tools. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/delivery"] as const;
const rows = ["src/store/contract.test.ts"] as const;

export const FRESH_DELIVERY_BUGS: readonly SeededBug[] = [
  {
    what: "The owner is told of a reply that was withheld because the owner took the access back.",
    file: "src/delivery/deliver-part.ts",
    in: "withheld",
    find: "return { state, because };",
    replace: 'return { state, because, tell: "owner" };',
    tests: room,
  },
  {
    what: "The pause that a platform asked for is forgotten when the part it was said about expires.",
    file: "src/delivery/outbox.ts",
    in: "step",
    find: "lane.pausedUntil = done.pausedUntil ?? lane.pausedUntil;",
    replace: "lane.pausedUntil = done.pausedUntil ?? 0;",
    tests: room,
  },
  {
    what: "A channel that throws where it must not is called again without a pause.",
    file: "src/delivery/outbox.ts",
    in: "deliver",
    find: 'return { kind: "wait", part, ms: STORE_RETRY_MS };',
    replace: 'return { kind: "wait", part, ms: STORE_RETRY_MS * 0 };',
    tests: room,
  },
  {
    what: "Parts in line are announced as being sent while the outbox stops, so that the next process doubts them.",
    file: "src/delivery/gates.ts",
    in: "pump",
    find: "while (gate.running < maxRunning && !signal.aborted) {",
    replace: "while (gate.running < maxRunning) {",
    tests: room,
  },
  {
    what: "Streamed text that was held back is shown after its turn has ended.",
    file: "src/delivery/delta-stream.ts",
    in: "flushLater",
    find: "if (!signal.aborted) flush();",
    replace: "flush();",
    tests: room,
  },
  {
    what: "A doubt that the channel itself reports about a sent reply is dropped.",
    file: "src/delivery/rules.ts",
    in: "afterSend",
    find: "if (receipt.doubt !== undefined)",
    replace: "if (receipt.doubt !== undefined && part.lost > 0)",
    tests: room,
  },
  {
    what: "Beyond the limit the count of undelivered replies keeps the oldest ones, and is too low a day later.",
    file: "src/delivery/recent-trouble.ts",
    in: "recent",
    find: ".slice(-MAX_RECENT)",
    replace: ".slice(0, MAX_RECENT)",
    tests: room,
  },
  {
    what: "The reason why a reply waits is stored with the secret that the platform repeated in it.",
    file: "src/store/rows/outbox.ts",
    in: "createOutbox",
    find: "because: mask(because), firstTriedAt",
    replace: "because, firstTriedAt",
    tests: rows,
  },
  {
    what: "A tool can post under the turn of another session.",
    file: "src/store/rows/posts.ts",
    in: "post",
    find: 'if ((yield* turn.first({ id: turnId }))?.session_key !== sessionKey) return { kind: "no_turn" };',
    replace: 'if (!turn.first({ id: turnId })) return { kind: "no_turn" };',
    tests: rows,
  },
  {
    what: "A chat that was told once of a reply that was given up is never told again.",
    file: "src/store/rows/part-notices.ts",
    in: "statements",
    find: '.where("ended_at", "is", null)',
    replace: "",
    tests: rows,
  },
  {
    what: "Nobody is told of a reply that was given up when its chat cannot be told.",
    file: "src/delivery/deliver-part.ts",
    in: "tell",
    find: "if (!told || told.value) return told !== null;",
    replace: "return told !== null;",
    tests: room,
  },
  {
    what: "How a send failed is not written down when the outbox stops meanwhile, so that the next process doubts it.",
    file: "src/delivery/deliver-part.ts",
    in: "tryOnce",
    find: "if (signal.aborted && !(error instanceof SendError)) return STOPPED;",
    replace: "if (signal.aborted) return STOPPED;",
    tests: room,
  },
];
