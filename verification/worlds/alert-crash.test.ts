/** Every slot has one row and the owner is told of trouble once, wherever between two steps the gateway dies: every place is tried. */
import { afterAll, describe, expect, test } from "bun:test";
import type { JobStore } from "../../src/contracts/automation/job.ts";
import type { RunOutcome } from "../../src/automation/runs/run-start.ts";
import { assemble } from "../../src/store/assemble.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { recordingLog } from "../../src/testing/recording-log.ts";
import { alertsWanted, createOwner, wrongAlerts } from "./alerts-told.ts";
import { job } from "../../src/testing/automation/job-fixture.ts";
import { deadly } from "./mortal-store.ts";
import { createSeqIds } from "../../src/testing/seq-ids.ts";
import { createChance } from "../../src/testing/chance.ts";
import { blankDisk, createDisk } from "../../src/testing/disk.ts";
import { startEngine } from "../../src/automation/engine.ts";
import { createTimes } from "../../src/automation/times/times.ts";
import { NO_REPORTS } from "../../src/testing/automation/quiet-jobs.ts";

const MINUTE_MS = 60_000;
const IDLE_TURNS = 100;
const refused: RunOutcome = { kind: "failed", because: "the key is wrong", again: false };

/** Until everything has been said that is going to be said: a dead life never rests, so it is not asked whether it does. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < IDLE_TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

interface Death {
  /** With this call of the store, counted from the start of the first life. */
  readonly call: number;
  readonly when: "before" | "after";
}

/** One for all of them: to prepare its statements takes longer than the two lives. */
const disk = createDisk(createChance(1), blankDisk());
alertsWanted(disk.db);
afterAll(() => disk[Symbol.dispose]());
const TABLES = ["outbox", "turns", "sessions", "job_alerts", "job_runs", "jobs", "wanted_alerts"] as const;

/** Three jobs that are each one run away from an alert; the first life ends as `death` says, the second goes on. */
async function twoLives(death: Death, flaw: (store: JobStore) => JobStore = (store) => store) {
  for (const table of TABLES) disk.db.exec(`delete from ${table}`);
  const clock = createFakeClock(0);
  const base = { clock, ids: createSeqIds(), log: recordingLog() };
  const first = assemble(
    base,
    disk.sqlFor(() => true),
    "",
  ).jobs;
  const about = { schedule: { kind: "every", expr: "1m" }, nextAt: MINUTE_MS } as const;
  await first.add(job({ ...about, id: "again", failures: 1 }));
  await first.add(job({ ...about, id: "last", failures: 9 }));
  await first.add(job({ ...about, id: "well", failures: 4 }));

  let calls = 0;
  let deaths = 0;
  const live = (mortal: boolean) => {
    let alive = true;
    const store = assemble(
      base,
      disk.sqlFor(() => alive),
      "",
    );
    const mortality = {
      alive: () => alive,
      die: () => void ((alive = false), deaths++),
      fate: () => (mortal && ++calls === death.call ? death.when : null),
    };
    const engine = startEngine({
      ...base,
      store: flaw(deadly(store.jobs, mortality)),
      times: createTimes(() => "UTC"),
      starter: {
        unpaid: () => null,
        check: async () => null,
        start: async (_run, { id }) => ({
          kind: "ended",
          outcome: id === "well" ? { kind: "ran" } : refused,
          turnId: null,
        }),
      },
      ...NO_REPORTS,
      tellOwner: createOwner(clock, deadly(store.sessionChats, mortality)),
    });
    return () => {
      alive = false;
      void engine[Symbol.asyncDispose](); // takes its timer along; a dead process says nothing
    };
  };
  const end = live(true);
  await clock.advance(MINUTE_MS);
  await idle();
  end();
  const endSecond = live(false);
  await idle();
  for (let minute = 0; minute < 2; minute++) {
    await clock.advance(MINUTE_MS);
    await idle();
  }
  const { alerts, wrong } = wrongAlerts(disk.db);
  const rows = disk.db
    .query<{ text: string }, []>(
      "select job_id || ' ' || (slot / 60000) || ': ' || count(*) as text from job_runs group by job_id, slot order by 1",
    )
    .all();
  endSecond();
  return { alerts, wrong, rows: rows.map(({ text }) => text), died: deaths > 0 };
}

/** Dies with the first call of the store, with the second and so on, until a life is over before that. */
async function* everyDeath(when: Death["when"], flaw?: (store: JobStore) => JobStore) {
  for (let call = 1; ; call++) {
    const life = await twoLives({ call, when }, flaw);
    yield { call, ...life };
    if (!life.died) return;
  }
}

/** Three minutes of each; the one that is switched off has no more slots. */
const ONE_ROW_EACH = ["again 1: 1", "again 2: 1", "again 3: 1", "last 1: 1", "well 1: 1", "well 2: 1", "well 3: 1"];

describe("every slot has one row, and the owner is told once", () => {
  test.each(["before", "after"] as const)("when the gateway dies %s any call of its store", async (when) => {
    let last = 0;
    for await (const { call, alerts, wrong, rows } of everyDeath(when)) {
      expect([call, alerts, wrong, rows]).toEqual([call, 3, [], ONE_ROW_EACH]);
      last = call;
    }
    expect(last).toBeGreaterThan(20); // every pair of steps had its turn
  });

  test("which this world notices: noted before it is told, it is not told at all", async () => {
    const early = (store: JobStore): JobStore => {
      const alerts = async (limit: number) => {
        const found = await store.alerts(limit);
        for (const { id } of found) await store.alertTold(id);
        return found;
      };
      return new Proxy(store, { get: (target, name) => (name === "alerts" ? alerts : target[name as keyof JobStore]) });
    };
    const found: string[] = [];
    for await (const { wrong } of everyDeath("before", early)) found.push(...wrong);
    expect(found).toContain("again failing: told 0 times instead of 1");
  });
});
