/** Whatever arrives in whatever mode: every accepted message ends in exactly one turn, in order, and nobody waits for ever. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { InboxId, Principal, Role } from "../contracts/ids.ts";
import { type Batch } from "../contracts/queue.ts";
import { QUEUE_MODES, type QueueMode } from "../contracts/session-settings.ts";
import type { Store } from "../contracts/store.ts";
import { silentLog } from "../kit/log.ts";
import { assemble } from "../store/assemble.ts";
import { createSql } from "../store/sqlite-sql.ts";
import { blankDisk } from "../testing/disk.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { entry } from "../testing/messages.ts";
import { DONE, keyOf, ROOMY } from "../testing/worlds/queue-world.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { createQueue } from "./index.ts";
import { createReadyLine, MAX_OVERTAKEN_MS, RISE_EVERY_MS } from "./ready-line.ts";

/** Each is a world with a database of its own. `npm run sim -- --seeds 1000` plays more of them. */
const WORLDS = 60;
/** Tables are made once: making them takes longer than playing a world. */
const BLANK = blankDisk();
const LINES = 150;
const TTL_MS = 3_600_000;
const AT_ONCE = 500;
const BACK = { outcome: "aborted" as const, reply: [{ part: 0, message: { kind: "notice" as const, text: "back" } }] };

type Step =
  | {
      readonly do: "say";
      readonly session: number;
      readonly person: number;
      readonly keep: boolean;
      readonly steer: boolean;
    }
  | { readonly do: "take" }
  | { readonly do: "takeCommand" }
  | { readonly do: "finish" | "retry" | "hear" | "decline"; readonly which: number }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "choose"; readonly session: number; readonly mode: QueueMode | null }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "restart" };

const step = (): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant("say" as const),
        session: fc.integer({ min: 1, max: 3 }),
        person: fc.integer({ min: 1, max: 2 }),
        keep: fc.boolean(),
        steer: fc.boolean(),
      }),
    },
    { weight: 4, arbitrary: fc.constantFrom<Step>({ do: "take" }, { do: "takeCommand" }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom("finish" as const, "retry" as const, "hear" as const, "decline" as const),
        which: fc.nat(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("choose" as const),
        session: fc.integer({ min: 1, max: 3 }),
        mode: fc.constantFrom(...QUEUE_MODES, null),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(10, 1_000, TTL_MS) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  );

/** A queue on a database in memory, and what was promised to whom. */
function world(mode: QueueMode) {
  const db = Database.deserialize(BLANK);
  const ids = createSeqIds();
  const clock = createFakeClock();
  const open = (): Store => assemble({ clock, ids, log: silentLog }, { ...createSql(db), close: () => undefined }, "");
  const settings = { ...ROOMY, mode, maxPerSession: 4, maxOverflow: 2, collectMs: 100, ttlMs: TTL_MS };
  const opened = () =>
    createQueue({ clock, ids, log: silentLog, store: open(), workKind: () => "talk" }, () => settings);
  let queue = opened();
  let running: Batch[] = [];
  const accepted: InboxId[] = [];
  let said = 0;

  /** What is there now; null when nothing is. */
  const taken = async (sort: "take" | "takeCommand"): Promise<Batch | null> => {
    const stop = new AbortController();
    const wait = queue[sort](stop.signal);
    for (let n = 0; n < 3; n++) await new Promise(setImmediate);
    stop.abort(new Error("nothing there"));
    return wait.catch(() => null);
  };
  const end = async (batch: Batch | undefined): Promise<void> => {
    if (!batch) return;
    running = running.filter((one) => one !== batch);
    await batch.finish(batch.expired ? { ...DONE, outcome: "failed" } : DONE);
  };

  const act = async (one: Step): Promise<void> => {
    if (one.do === "say") {
      const asked = entry(String(one.session), `<${++said}>`, { priority: one.session * 3, role: roleOf(one.person) });
      const sender = { principal: `p${one.person}` as Principal, name: "" };
      const message = { ...asked.message, sender, steer: one.steer, receivedAt: clock.now() };
      const answer = await queue.accept({ ...asked, message, whenFull: one.keep ? "keep" : "refuse" });
      if (answer.kind === "queued") accepted.push(answer.id);
      if (answer.kind === "full" && one.keep) throw new Error("refused what cannot be refused");
      return;
    }
    if (one.do === "take" || one.do === "takeCommand") {
      const batch = await taken(one.do);
      if (batch) running.push(batch);
      return;
    }
    if (one.do === "cancel") {
      const id = accepted[one.which % Math.max(1, accepted.length)];
      for (const by of ["p1", "p2"]) if (id) await queue.cancel(id, by as Principal, BACK);
      return;
    }
    if (one.do === "choose") return queue.choose(keyOf(String(one.session)), one.mode);
    if (one.do === "wait") return clock.advance(one.ms);
    if (one.do === "restart") {
      running = [];
      queue = opened();
      await queue.recover();
      return;
    }
    const batch = running[one.which % Math.max(1, running.length)];
    if (!batch) return;
    if (one.do === "finish") return end(batch);
    if (one.do === "decline") return batch.decline();
    if (one.do === "hear") {
      const stop = new AbortController();
      const offered = batch.offered(stop.signal);
      setImmediate(() => stop.abort(new Error("nothing there")));
      return batch.join(await offered);
    }
    if (batch.expired) return; // it is never tried again
    running = running.filter((other) => other !== batch);
    await batch.retry("says the test");
  };

  const drain = async (): Promise<void> => {
    for (let idle = 0; idle < 3;) {
      for (const batch of [...running]) await end(batch);
      const batch = (await taken("take")) ?? (await taken("takeCommand"));
      if (batch) running.push(batch);
      else await clock.advance(500);
      idle = batch ? 0 : idle + 1;
    }
  };
  return { db, accepted, act, drain, stats: () => queue.stats() };
}

const roleOf = (person: number): Role => (person === 1 ? "owner" : "guest");

interface Row {
  readonly id: InboxId;
  readonly session_key: string;
  readonly sender: string;
  readonly overflow: number;
  readonly done: number;
  readonly turn: number | null;
  readonly state: string | null;
  readonly notice: number;
}

describe("the queue", () => {
  test("ends every accepted message in exactly one turn with something to show, and keeps the order of a session", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...QUEUE_MODES), fc.array(step(), { maxLength: 60 }), async (mode, steps) => {
        const fx = world(mode);
        for (const one of steps) await fx.act(one);
        await fx.drain();
        const rows = fx.db
          .query<Row, []>(
            `select inbox.id, inbox.session_key, sender, overflow, done, turns.seq as turn, turns.state,
               (select count(*) from outbox where outbox.turn_id = turns.id) as notice
             from inbox left join turns on turns.id = inbox.turn_id order by inbox.seq`,
          )
          .all();
        expect(rows.map(({ id }) => id).toSorted()).toEqual(fx.accepted.toSorted());
        expect(rows.filter(({ done, turn, notice }) => done !== 1 || turn === null || notice === 0)).toEqual([]);
        expect(fx.stats()).toEqual({ waiting: 0, running: 0 });
        const inOrder = rows.filter(({ overflow, state }) => overflow < 2 && state !== "aborted");
        for (const one of Map.groupBy(inOrder, (row) => row.session_key).values()) {
          const turns = one.map(({ turn }) => turn ?? 0);
          expect(turns).toEqual(turns.toSorted((a, b) => a - b));
        }
        fx.db.close();
      }),
      { numRuns: WORLDS },
    );
  }, 120_000);

  test("lets nobody be overtaken by what came much later, however important it is and however much of it comes", () => {
    const highest = 12;
    const item = fc.record({
      priority: fc.integer({ min: 0, max: highest }),
      gapMs: fc.integer({ min: 0, max: 20_000 }),
      isOpen: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 3 }),
        (items, perServed) => {
          type Standing = { priority: number; since: number; isOpen: boolean };
          const line = createReadyLine<Standing>();
          const waiting = new Set<Standing>();
          let now = 0;
          const serve = (): void => {
            const served = line.shift(now, ({ isOpen }) => isOpen);
            if (!served) return;
            waiting.delete(served);
            for (const { priority, since } of waiting) {
              const patience = (highest - priority + 1) * RISE_EVERY_MS;
              expect(served.since - since).toBeLessThanOrEqual(patience);
              if (priority === served.priority) expect(served.since - since).toBeLessThan(MAX_OVERTAKEN_MS);
            }
          };
          for (const [at, { priority, gapMs, isOpen }] of items.entries()) {
            now += gapMs;
            const one = { priority, since: now, isOpen };
            waiting.add(one);
            line.push(one, priority, now);
            if (at % perServed === 0) serve(); // more may come than is served
          }
          while (line.size > 0) serve();
          expect(waiting.size).toBe(0);
        },
      ),
      { numRuns: LINES },
    );
  });
});

test("ten thousand sessions that have been answered cost nothing: no lane, no timer, nothing that waits", async () => {
  const db = Database.deserialize(BLANK);
  const clock = createFakeClock();
  const ids = createSeqIds();
  const ofStore = { clock: createFakeClock(), ids, log: silentLog }; // what the store does later is none of the queue's affair
  const store = assemble(ofStore, { ...createSql(db), close: () => undefined }, "");
  const queue = createQueue({ clock, ids, log: silentLog, store, workKind: () => "talk" }, () => ({
    ...ROOMY,
    maxTotal: 20_000,
    mode: "collect",
    collectMs: 800,
    ttlMs: TTL_MS,
  }));
  const stop = new AbortController();
  const commands = queue.takeCommand(stop.signal).catch(() => null);
  const sessions = Array.from({ length: 10_000 }, (_, n) => `s${n}`);
  await Promise.all(
    sessions.map((name) =>
      queue.accept({ ...entry(name, "hello"), message: { ...entry(name, "hello").message, receivedAt: clock.now() } }),
    ),
  );
  expect(queue.stats()).toEqual({ waiting: 10_000, running: 0 });
  for (let left = sessions.length; left > 0; left -= AT_ONCE) {
    const turns = await Promise.all(Array.from({ length: AT_ONCE }, () => queue.take(stop.signal)));
    await Promise.all(turns.map((turn) => turn.finish(DONE)));
  }
  const talk = queue.take(stop.signal).catch(() => null);
  await new Promise(setImmediate);
  expect([queue.stats(), clock.pending()]).toEqual([{ waiting: 0, running: 0 }, 0]);
  stop.abort(new Error("over"));
  expect([await commands, await talk]).toEqual([null, null]);
  db.close();
}, 60_000);
