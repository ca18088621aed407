/** Bugs on purpose, one line each: a simulation that does not notice them proves nothing. `npm run sim -- --mutants` tries them all. */
export interface Mutant {
  readonly name: string;
  /** Below src/. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The first seed that shows it, where none of the first few hundred does. */
  readonly seed?: number;
  /** Shows with the shipped pool (`--pool`). */
  readonly pool?: true;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "a message is accepted before it is stored",
    file: "queue/queue.ts",
    find: "await world.store.inbox.accept({ ...row, id, ...overflow });",
    replace:
      'await Promise.race([world.store.inbox.accept({ ...row, id, ...overflow }), Promise.resolve({ kind: "stored", mode: null, hidden: null } as const)]);',
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
    find: "const turnId = row.turn?.turnId ?? null;",
    replace: "const turnId = null;",
  },
  {
    name: "the lane opens before the end of its turn is stored",
    file: "queue/batch.ts",
    find: "const written = work.expired",
    replace: "reopen(); const written = work.expired",
  },
  {
    name: "a second attempt drops the work",
    file: "queue/batch.ts",
    find: 'lanes.add({ ...grown, turnId: running.turnId, stopped }, "head", clock.elapsed());',
    replace: "",
  },
  {
    name: "a second attempt goes to the end of its lane",
    file: "queue/batch.ts",
    find: 'turnId: running.turnId, stopped }, "head"',
    replace: 'turnId: running.turnId, stopped }, "end"',
  },
  {
    name: "a turn that could not be begun is dropped",
    file: "queue/queue.ts",
    find: 'lanes.add({ ...work, stopped }, "head", clock.elapsed()); // nothing was written',
    replace: "// nothing was written",
  },
  {
    name: "a new message does not interrupt",
    file: "queue/queue.ts",
    find: 'const interrupts = kind === "talk" && byPerson && !entry.message.steer;',
    replace: "const interrupts = false;",
  },
  {
    name: "what different people said is joined",
    file: "queue/work.ts",
    find: "&& personAndPlace(next) === personAndPlace(head)",
    replace: "",
  },
  {
    name: "a lane with a running turn is in line",
    file: "queue/lane-table.ts",
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
    find: "outcomes: batch.map(() => ({ ok: false, error }))",
    replace: 'outcomes: batch.map(() => ({ ok: true, value: { kind: "stored" } }))',
  },
  {
    name: "a write that fails in company is not undone",
    file: "store/group-commit.ts",
    find: 'sql.control("rollback to one_write");',
    replace: "",
    seed: 525,
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
  {
    name: "what was not heard counts as part of the turn",
    file: "flow/steering.ts",
    find: 'if (how === "too_late") return;',
    replace: "",
  },
  {
    name: "what joined a turn waits for the next one as well",
    file: "queue/batch.ts",
    find: "grown = lanes.join(sessionKey, ids) ?? grown;",
    replace: "",
  },
  {
    name: "the end of a turn forgets what joined it and could not be noted before",
    file: "store/rows/turns.ts",
    find: "for (const inboxId of end.joined ?? [])",
    replace: "for (const inboxId of [])",
  },
  {
    name: "a second attempt forgets what joined the first and could not be noted then",
    file: "store/rows/turns.ts",
    find: "for (const inboxId of turn.inboxIds) queries.claim.run({ inboxId, turnId: known.id, key: known.session_key });",
    replace: "",
  },
  {
    name: "what another person says is said into the turn",
    file: "queue/take-from.ts",
    find: "if (work.overflow || !joins(running, work)) break;",
    replace: "if (work.overflow || work.turnId !== null) break;",
  },
  {
    name: "what is said into the turn overtakes what waits before it",
    file: "queue/lanes.ts",
    find: "lane.waiting.slice(0, count).flatMap((work) => work.entries);",
    replace: "lane.waiting.slice(0, count).filter(wanted).flatMap((work) => work.entries);",
  },
  {
    name: "the mode of a session is not kept",
    file: "queue/queue.ts",
    find: "await deps.store.sessions.setQueueMode(sessionKey, mode);",
    replace: "",
  },
  {
    name: "a restart forgets the modes of sessions",
    file: "queue/queue.ts",
    find: "for (const { sessionKey, mode } of rows) lanes.setMode(sessionKey, mode);",
    replace: "",
  },
  {
    name: "a message brings the mode of its session along wrongly",
    file: "queue/queue.ts",
    find: "lanes.setMode(sessionKey, stored.mode);",
    replace: "lanes.setMode(sessionKey, null);",
  },
  {
    name: "overflow that is only counted is never finished",
    file: "store/rows/turns.ts",
    find: "if (!known && turn.overflow) overflow.claim({ ...turn, ...turn.overflow });",
    replace: "",
  },
  {
    name: "overflow that is not shown is not counted either",
    file: "queue/lanes.ts",
    find: "const hidden = work.overflow.hidden + 1;",
    replace: "const hidden = work.overflow.hidden;",
  },
  {
    name: "a restart forgets how much overflow is only counted",
    file: "queue/recovered.ts",
    find: "overflow: { through: id, hidden: overflow.hidden } };",
    replace: "overflow: { through: id, hidden: 0 } };",
  },
  {
    name: "overflow acts with the rights of whoever speaks before it",
    file: "queue/work.ts",
    find: "return RANK[head.role] <= RANK[overflow.role] && ",
    replace: "return ",
  },
  {
    name: "overflow is refused where nobody can be",
    file: "flow/receive.ts",
    find: '?.canRefuse === false ? "keep" : "refuse"',
    replace: '?.canRefuse === false ? "refuse" : "refuse"',
  },
  {
    name: "nothing expires",
    file: "queue/take-from.ts",
    find: "const expired = isExpired(head, now);",
    replace: "const expired = false;",
  },
  {
    name: "what has expired is begun before it is ended",
    file: "queue/queue.ts",
    find: "work.expired ? NOT_BEGUN : await beginTurn(world, work, running);",
    replace: "await beginTurn(world, work, running);",
  },
  {
    name: "what has expired takes along what has not",
    file: "queue/take-from.ts",
    find: "if (expired !== isExpired(next, now)) return false;",
    replace: "",
  },
  {
    name: "what was taken back still waits",
    file: "queue/queue.ts",
    find: "held.gone(clock.elapsed());",
    replace: "held.letGo(clock.elapsed());",
  },
  {
    name: "what could not be taken back is dropped",
    file: "queue/queue.ts",
    find: "held.letGo(clock.elapsed());",
    replace: "",
  },
  {
    name: "anybody can take a message back",
    file: "queue/queue.ts",
    find: "if ((await world.store.inbox.senderOf(id)) !== by) return",
    replace: "if ((await world.store.inbox.senderOf(id)) === null) return",
  },
  {
    name: "a message that an agent is being told can be taken back",
    file: "queue/lanes.ts",
    find: "if (!work || lane.held.has(id) || lane.running?.offered.has(id)) continue;",
    replace: "if (!work || lane.held.has(id)) continue;",
  },
  {
    name: "an outbox that is empty does not say so, and a stop waits for it",
    file: "delivery/outbox.ts",
    find: "quiet?.resolve();",
    replace: "",
  },
  {
    name: "a turn that is begun again has the rights of whoever spoke first in it",
    file: "queue/recovered.ts",
    find: "role: lesserRole(known.role, role) }",
    replace: "role: known.role }",
    seed: 1499,
  },
  {
    name: "what joined a turn is noted alone, without what joined it before and could not be noted",
    file: "queue/batch.ts",
    find: "inboxIds: [...joined] }",
    replace: "inboxIds: ids }",
    seed: 9435,
  },
];
