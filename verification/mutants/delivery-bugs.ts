/** Bugs in the outbox and its rows: what is blocked, sent when it should not be, counted wrongly, or told to nobody. */
import type { SeededBug } from "./seeded-bug.ts";

const room = ["src/delivery"] as const;
const rows = ["src/store/store.test.ts"] as const;
const flow = ["src/flow/stopping.test.ts"] as const;

const OUTBOX_BUGS: readonly SeededBug[] = [
  {
    what: "Two bots in one chat share a lane, so that one blocks the other.",
    file: "src/delivery/outbox.ts",
    find: "return JSON.stringify([channel, account, chat]);",
    replace: "return JSON.stringify([channel, chat, account.length > 999]);",
    tests: room,
  },
  {
    what: "The outbox says that it is drained while a reply waits.",
    file: "src/delivery/outbox.ts",
    find: "if (!upToDate || lanes.pending > 0) return;",
    replace: "if (!upToDate) return;",
    tests: room,
  },
  {
    what: "The outbox says that it is drained before it has read what was just stored.",
    file: "src/delivery/outbox.ts",
    find: "quiet ??= deferred();",
    replace: "",
    tests: room,
  },
  {
    what: "A part is sent although the gateway is stopping.",
    file: "src/delivery/deliver-part.ts",
    find: "if (signal.aborted) return STOPPED; // nothing is sent any more",
    replace: "// nothing is sent any more",
    tests: room,
  },
  {
    what: "A chat that was answered once gets no second answer.",
    file: "src/delivery/outbox.ts",
    find: "else lanes.delete(lane.key);",
    replace: "",
    tests: room,
  },
  {
    what: "What is stored while the outbox reads is not read before the next wake.",
    file: "src/delivery/outbox.ts",
    find: "alarm = rung;",
    replace: "if (after === 0) alarm = rung;",
    tests: room,
  },
  {
    what: "A chat counts as quiet although its replies have not been read yet.",
    file: "src/delivery/outbox.ts",
    find: "owes: (to) => !upToDate || lanes.holds(to),",
    replace: "owes: (to) => lanes.holds(to),",
    tests: room,
  },
  {
    what: "A stop does not wait for what is being sent.",
    file: "src/delivery/outbox.ts",
    find: "await lanes.settled();",
    replace: "void lanes.settled();",
    tests: room,
  },
  {
    what: "Replies that an earlier process gave up are not counted.",
    file: "src/delivery/outbox.ts",
    find: "trouble.add(state, ...(ends?.value.toReversed() ?? []));",
    replace: "void ends;",
    tests: room,
  },
  {
    what: "A place to send from is lost with every send.",
    file: "src/delivery/gates.ts",
    find: "gate.inside--;",
    replace: "",
    tests: room,
  },
  {
    what: "A long reply keeps all others of its account waiting.",
    file: "src/delivery/outbox.ts",
    find: "else if (lane.parts.length > 0) gates.queue(lane);",
    replace: "else if (lane.parts.length > 0) return step(lane);",
    tests: room,
  },
  {
    what: "Posts of tools wait for the end of their turn.",
    file: "src/delivery/poster.ts",
    find: 'if (posted.kind === "posted") outbox.wake();',
    replace: "",
    tests: room,
  },
];

const RULE_BUGS: readonly SeededBug[] = [
  {
    what: "A reply outlives its hour by the pause that its platform asked for.",
    file: "src/delivery/rules.ts",
    find: "ms: Math.min(pauseMs, expiresInMs)",
    replace: "ms: pauseMs",
    tests: room,
  },
  {
    what: "A part that a crash cut off in the middle of its send is called undelivered.",
    file: "src/delivery/rules.ts",
    find: ' || part.state === "sending"',
    replace: "",
    tests: room,
  },
  {
    what: "An old reply is dropped on a channel that shows stored replies anyway, while that is away.",
    file: "src/delivery/rules.ts",
    find: 'if (channel.repeat === "safe" || part.createdAt',
    replace: "if (part.createdAt",
    tests: room,
  },
  {
    what: "A platform that asks for a pause of days gets it.",
    file: "src/delivery/rules.ts",
    find: "Math.min(Math.ceil(asked), REPLY_TTL_MS)",
    replace: "Math.ceil(asked)",
    tests: room,
  },
  {
    what: "Pauses between tries grow without a limit.",
    file: "src/delivery/rules.ts",
    find: "Math.min(FIRST_PAUSE_MS * 2 ** doublings, MAX_PAUSE_MS)",
    replace: "FIRST_PAUSE_MS * 2 ** doublings",
    tests: room,
  },
  {
    what: "A send that never comes back keeps its place for ever.",
    file: "src/delivery/deliver-part.ts",
    find: "orAborted(channel.send(row, AbortSignal.any([signal, limit.signal])), limit.signal)",
    replace: "channel.send(row, AbortSignal.any([signal, limit.signal]))",
    tests: room,
  },
  {
    what: "Only an owner is told of a reply whose chat could be told.",
    file: "src/delivery/deliver-part.ts",
    find: 'if (end.tell === "chat") {',
    replace: 'if (end.tell !== "chat" && end.tell !== "owner") {',
    tests: room,
  },
  {
    what: "A notice about a reply that was given up waits for the next reply.",
    file: "src/delivery/deliver-part.ts",
    find: "if (told?.value) deps.wake();",
    replace: "",
    tests: room,
  },
  {
    what: "What went wrong a day ago is still counted.",
    file: "src/delivery/recent-trouble.ts",
    find: "const since = clock.now() - RECENT_MS;",
    replace: "const since = clock.now() - 2 * RECENT_MS;",
    tests: room,
  },
];

const ROW_BUGS: readonly SeededBug[] = [
  {
    what: "The outbox reads a part twice when it reads on.",
    file: "src/store/rows/outbox.ts",
    find: '.where("seq", ">", p("after"))',
    replace: '.where("seq", ">=", p("after"))',
    tests: rows,
  },
  {
    what: "A part that waits for its next try looks as if it were being sent.",
    file: "src/store/rows/outbox.ts",
    find: /state: "pending",\n(\s+)\.\.\.p\.row\("attempts"/,
    replace: 'state: "sending",\n          ...p.row("attempts"',
    tests: rows,
  },
  {
    what: "When a part was tried first is forgotten with every try.",
    file: "src/store/rows/outbox.ts",
    find: 'first_tried_at: eb.fn.coalesce("first_tried_at", eb.val(p("at"))),',
    replace: 'first_tried_at: p("at"),',
    tests: rows,
  },
  {
    what: "A part that was sent says nothing about how often it was tried.",
    file: "src/store/rows/outbox.ts",
    find: 'attempts: eb("attempts", "+", 1), ended_at',
    replace: "ended_at",
    tests: room,
  },
  {
    what: "Of replies that were given up in the same millisecond a page leaves some out.",
    file: "src/store/rows/outbox.ts",
    find: '(outbox.ended_at, outbox.seq) < (${p("endedAt")}, ${p("seq")})',
    replace: 'outbox.ended_at < ${p("endedAt")} and ${p("seq")} > 0',
    tests: rows,
  },
  {
    what: "The doubt about a message is forgotten when the next one is sent.",
    file: "src/store/rows/outbox.ts",
    find: '...p.row("attempts", "lost", "delivered", "doubt"),',
    replace: '...p.row("attempts", "lost", "delivered"),',
    tests: rows,
  },
  {
    what: "A chat is told of every reply that was given up, one by one.",
    file: "src/store/rows/part-notices.ts",
    find: " || waiting.first({ channel, account, chat, text })",
    replace: "",
    tests: rows,
  },
  {
    what: "A chat is told of replies that nobody there asked for.",
    file: "src/store/rows/part-notices.ts",
    find: '.where("inbox.origin", "=", raw.lit("chat"))',
    replace: "",
    tests: rows,
  },
];

export const DELIVERY_BUGS: readonly SeededBug[] = [
  ...OUTBOX_BUGS,
  ...RULE_BUGS,
  ...ROW_BUGS,
  {
    what: "An answer that is finished while the gateway stops is thrown away and paid for again.",
    file: "src/flow/turn.ts",
    find: 'if (world.leaving.aborted && ending.type !== "done") return { kind: "leave" };',
    replace: 'if (world.leaving.aborted) return { kind: "leave" };',
    tests: flow,
  },
];
