/** Bugs on purpose, one line each: a simulation that does not notice them proves nothing. `npm run sim -- --mutants` tries them all. */
export interface Mutant {
  readonly name: string;
  /** Below src/. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "a message is accepted before it is stored",
    file: "queue/queue.ts",
    find: "await deps.store.inbox.accept({ ...entry, id });",
    replace:
      'await Promise.race([deps.store.inbox.accept({ ...entry, id }), Promise.resolve({ kind: "stored" } as const)]);',
  },
  {
    name: "a repeat is recognised by its event id alone, whatever its channel",
    file: "store/rows/inbox.ts",
    find: '.where("channel", "=", p("channel"))',
    replace: "",
  },
  {
    name: "a restart forgets interrupted turns",
    file: "queue/queue.ts",
    find: "for (const work of unfinished) {",
    replace: "for (const work of unfinished.filter((one) => one.turnId === null)) {",
  },
  {
    name: "a restart forgets that a turn had begun",
    file: "queue/recovered.ts",
    find: "turnId: row.turn?.turnId ?? null,",
    replace: "turnId: null,",
  },
  {
    name: "the lane opens before the end of its turn is stored",
    file: "queue/queue.ts",
    find: "const written = await deps.store.turns.finish({",
    replace: "reopen(); const written = await deps.store.turns.finish({",
  },
  {
    name: "a second attempt drops the work",
    file: "queue/queue.ts",
    find: 'lanes.add({ ...work, turnId: running.turnId, stopped }, "head", deps.clock.elapsed());',
    replace: "",
  },
  {
    name: "a second attempt goes to the end of its lane",
    file: "queue/queue.ts",
    find: 'turnId: running.turnId, stopped }, "head"',
    replace: 'turnId: running.turnId, stopped }, "end"',
  },
  {
    name: "a turn that could not be begun is dropped",
    file: "queue/queue.ts",
    find: 'lanes.add({ ...work, stopped }, "head", deps.clock.elapsed()); // nothing was written',
    replace: "// nothing was written",
  },
  {
    name: "a new message does not interrupt",
    file: "queue/queue.ts",
    find: 'if (kind === "talk" && modeOf(entry.message) === "interrupt") stop(entry.sessionKey, "interrupted");',
    replace: "",
  },
  {
    name: "what different people said is joined",
    file: "queue/lanes.ts",
    find: "&& place(next) === place(head)",
    replace: "",
  },
  {
    name: "a lane with a running turn is in line",
    file: "queue/lanes.ts",
    find: "if (!head || lane.running || lane.inLine",
    replace: "if (!head || lane.inLine",
  },
  {
    name: "the queue counts an ended turn as running",
    file: "queue/lanes.ts",
    find: "running--;",
    replace: "",
  },
  {
    name: "a late attempt may end its turn",
    file: "store/rows/turns.ts",
    find: " || turn.attempt !== end.attempt",
    replace: "",
  },
  {
    name: "reply parts are written after the transaction",
    file: "store/rows/turns.ts",
    find: "for (const row of replyRows(turn, end)) queries.addReply.run(row);",
    replace: "setImmediate(() => { for (const row of replyRows(turn, end)) queries.addReply.run(row); });",
  },
  {
    name: "reply parts are stored in reverse",
    file: "store/rows/turns.ts",
    find: "a.part - b.part",
    replace: "b.part - a.part",
  },
  {
    name: "the end of a turn leaves its messages open",
    file: "store/rows/turns.ts",
    find: "queries.endMessages.run({ turnId: turn.id });",
    replace: "",
  },
  {
    name: "the end of a turn does not note how long its session is",
    file: "store/rows/turns.ts",
    find: "queries.settle.run({ key: turn.session_key, file: turn.file, settledBytes: end.settledBytes });",
    replace: "",
  },
  {
    name: "a tool that must not run twice leaves no mark",
    file: "store/tool-calls/tool-calls.ts",
    find: "if (!call.waiting && !call.idempotent) queries.markUnsafe.run({ id: call.turnId });",
    replace: "",
  },
  {
    name: "a failed commit is reported as done",
    file: "store/group-commit.ts",
    find: "return batch.map(() => ({ ok: false, error }));",
    replace: 'return batch.map(() => ({ ok: true, value: { kind: "stored" } }));',
  },
  {
    name: "a write that fails in company is not undone",
    file: "store/group-commit.ts",
    find: 'sql.control("rollback to one_write");',
    replace: "",
  },
  {
    name: "a turn is tried again after a tool that must not run twice",
    file: "flow/turn.ts",
    find: "if (batch.unsafeToRetry)",
    replace: "if (batch.attempt < 0)",
  },
  {
    name: "a stop of the gateway ends running turns as if somebody had stopped them",
    file: "flow/turn.ts",
    find: 'if (world.leaving.aborted && ending.type !== "done") return { kind: "leave" };',
    replace: "",
  },
  {
    name: "a reply that cannot be stored is dropped",
    file: "flow/turn.ts",
    find: 'log.error("turn could not be stored yet", { error });',
    replace: "return false;",
  },
  {
    name: "the outbox is not woken",
    file: "flow/turn.ts",
    find: "world.outbox.wake();",
    replace: "",
  },
  {
    name: "an agent that died gets no second attempt",
    file: "flow/turn-ending.ts",
    find: "attempt < MAX_ATTEMPTS",
    replace: "attempt < 1",
  },
  {
    name: "a part is marked as sent before it is sent",
    file: "delivery/deliver-part.ts",
    find: "receipt = await send(deps, channel, row, signal);",
    replace:
      "await stored(deps, () => store.markSent([id], clock.now()), signal); receipt = await send(deps, channel, row, signal);",
  },
  {
    name: "a send that must not be repeated is not announced",
    file: "delivery/deliver-part.ts",
    find: "await stored(deps, () => store.markSending(id, { attempts, lost, at: clock.now() }), signal);",
    replace: "true;",
  },
  {
    name: "a lost answer counts as nothing sent",
    file: "delivery/rules.ts",
    find: 'failure.kind === "lost" ? part.lost + 1 : part.lost',
    replace: "part.lost",
  },
  {
    name: "a send that a crash cut off counts as nothing sent",
    file: "delivery/rules.ts",
    find: 'state: "pending", lost: part.lost + 1 } : part',
    replace: 'state: "pending", lost: part.lost } : part',
  },
  {
    name: "the pause a platform asks for is not kept",
    file: "delivery/rules.ts",
    find: "if (askedMs !== null) return askedMs;",
    replace: "if (askedMs === -1) return askedMs;",
  },
  {
    name: "what is to be held back is sent again",
    file: "delivery/rules.ts",
    find: 'part.lost > 1 || channel.whenLost === "hold"',
    replace: "part.lost > 1",
  },
  {
    name: "a platform is trusted to drop repeats for ever",
    file: "delivery/rules.ts",
    find: "return dedupeMs !== undefined && firstTriedAt !== null && now - firstTriedAt >= dedupeMs;",
    replace: "return false;",
  },
  {
    name: "the outbox reads the same parts again",
    file: "delivery/outbox.ts",
    find: "after = row.seq;",
    replace: "",
  },
  {
    name: "a turn has no deadline",
    file: "flow/turn.ts",
    find: "AbortSignal.any([batch.cancelled, deadline.signal, world.leaving]);",
    replace: "AbortSignal.any([batch.cancelled, world.leaving]);",
  },
  {
    name: "a stop waits for running turns however long they take",
    file: "flow/turn.ts",
    find: "AbortSignal.any([batch.cancelled, deadline.signal, world.leaving]);",
    replace: "AbortSignal.any([batch.cancelled, deadline.signal]);",
  },
  {
    name: "room that a message took on arrival is never given back",
    file: "queue/admission.ts",
    find: "count(entry.sessionKey, -1);",
    replace: "",
  },
  {
    name: "a part that waits is overtaken in its chat",
    file: "delivery/outbox.ts",
    find: "lane.parts[0] = done.part;",
    replace: "lane.parts.shift(); lane.parts.push(done.part);",
  },
];
