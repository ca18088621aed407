/** What is prepared for messages that may come, with real pi: the next turn finds it, and no turn waits for it. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Preparation } from "../contracts/agent.ts";
import type { TurnId } from "../contracts/ids.ts";
import { systemClock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";
import {
  type AgentConfig,
  type AgentFixture,
  agentFixture,
  caller,
  collect,
  providers,
} from "../testing/agent-fixture.ts";
import { until } from "../testing/agent-stage.ts";
import { type FakeProvider, startFakeProvider } from "../testing/fake-provider.ts";

setDefaultTimeout(120_000); // real pi on a busy machine

const A = "session-a.jsonl";
const B = "session-b.jsonl";
/** By which the gate knows a hint. */
const HINT = "hint" as TurnId;
const NEVER = new AbortController().signal;

interface World extends AsyncDisposable {
  readonly fx: AgentFixture;
  readonly provider: FakeProvider;
  /** Conversations have gone quiet from now on. */
  goQuiet(): void;
  /** Somebody may write in this session soon. */
  hint(who: string, sessionFile?: string | null): Promise<Preparation>;
  /** As `hint`, until it is done. */
  prepare(who: string, sessionFile?: string | null): Promise<string>;
  /** Hints wait from now on, until this is called. */
  hold(): () => void;
  bytesOf(sessionFile: string): number;
  used(): readonly boolean[];
}

async function world(pool: NonNullable<AgentConfig["pool"]>): Promise<World> {
  let skewMs = 0;
  const clock = { ...systemClock, elapsed: () => systemClock.elapsed() + skewMs };
  const provider = await startFakeProvider(() => ({ kind: "text", pieces: ["ok"] }));
  const fx = await agentFixture({ pool, clock }, providers(provider));
  const pathOf = (name: string) => join(fx.home, "sessions", name);
  const bytesOf = (name: string) => statSync(pathOf(name)).size;
  const hint: World["hint"] = (who, sessionFile = A) => {
    const session = sessionFile === null ? null : { sessionFile, settledBytes: bytesOf(sessionFile) };
    return fx.pool.prepare({ caller: { ...caller(who), turnId: HINT }, session }, NEVER);
  };
  return {
    fx,
    provider,
    goQuiet: () => void (skewMs += 61_000),
    hint,
    async prepare(who, sessionFile) {
      const { prepares, because, over } = await hint(who, sessionFile);
      await over;
      return `${prepares}: ${because}`;
    },
    hold() {
      const held = deferred<void>();
      const { offered } = fx.gate;
      fx.gate.offered = async (to, live) => {
        if (to?.turnId === HINT) await held.promise;
        return offered(to, live);
      };
      return () => {
        fx.gate.offered = offered;
        held.resolve();
      };
    },
    bytesOf,
    used: () => fx.happened.flatMap(({ event, data }) => (event === "agent.prepared" ? [usedOf(data)] : [])),
    async [Symbol.asyncDispose]() {
      await fx[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

const usedOf = (data: unknown): boolean => (data as { readonly used: boolean }).used;

test("a turn after a hint finds its session open, with all that was said in it, and the hint has written nothing", async () => {
  await using one = await world({ min: 0, max: 1, maxSwitches: 4 });
  const { fx } = one;
  await fx.turn("the first word", { sessionFile: A });
  await fx.turn("something else", { sessionFile: B });
  const before = readFileSync(join(fx.home, "sessions", A), "utf8");
  one.goQuiet();
  expect(await one.prepare("operator")).toBe("session: same_principal"); // the third session that its process opens
  expect(fx.pool.hasOpen(caller("operator").sessionKey)).toBe(true);
  expect(readFileSync(join(fx.home, "sessions", A), "utf8")).toBe(before);
  expect(visiting(fx.home)).toEqual([]);
  const [process] = fx.pool.processes();
  await fx.turn("the second word", { sessionFile: A, settledBytes: one.bytesOf(A) });
  expect(JSON.stringify(one.provider.requests.at(-1)?.body)).toContain("the first word");
  expect(fx.pool.processes().map(({ pid }) => pid)).toEqual([Number(process?.pid)]); // one that had opened a fourth would be replaced
  expect(one.used()).toEqual([false, true]);
});

test("a session keeps what is said after a hint: the next process reads all of it", async () => {
  await using one = await world({ min: 0, max: 1, maxSwitches: 3 });
  const { fx } = one;
  await fx.turn("the first word", { sessionFile: A });
  await fx.turn("something else", { sessionFile: B });
  one.goQuiet();
  await one.prepare("operator");
  await fx.turn("the second word", { sessionFile: A, settledBytes: one.bytesOf(A) }); // then it is replaced
  await fx.turn("the third word", { sessionFile: A, settledBytes: one.bytesOf(A) });
  const said = JSON.stringify(one.provider.requests.at(-1)?.body);
  for (const word of ["first", "second", "third"]) expect(said).toContain(`the ${word} word`);
});

test("a hint of one person leaves the process of another alone and the last spare for whoever comes", async () => {
  await using one = await world({ min: 1, max: 4 });
  const { fx } = one;
  const shared = { principal: "web:user:me", sessionFile: A };
  await fx.turn("hello", shared);
  await until("the next spare", () => fx.pool.stats().idle === 2);
  one.goQuiet();
  const before = fx.pool.processes();
  expect(await one.prepare("web:user:you")).toBe("process: room_left"); // in a group both speak in one session
  const of = (who: string | null) => fx.pool.processes().filter(({ person }) => person === who);
  expect(of("web:user:me").map(({ pid }) => pid)).toEqual(before.filter(({ person }) => person).map(({ pid }) => pid));
  expect(of(null)).toHaveLength(1);
  expect(fx.pool.hasOpen(caller("web:user:me").sessionKey)).toBe(true);
  expect(fx.pool.hasOpen(caller("web:user:you").sessionKey)).toBe(true);
  expect(one.used()).toEqual([false]);
});

/** The operator's one process has B open; A was said before. */
async function quietInB(one: World): Promise<void> {
  await one.fx.turn("hello", { sessionFile: A });
  one.goQuiet();
  await one.fx.turn("hello", { sessionFile: B });
  one.goQuiet();
}

test("turns do not wait for a hint that is under way; the turn it was for goes on with what it has begun", async () => {
  await using one = await world({ min: 1, max: 4 });
  const { fx } = one;
  await quietInB(one);
  await until("a spare", () => fx.pool.stats().idle === 2);
  const release = one.hold();
  const { prepares, because, over } = await one.hint("operator");
  expect([prepares, because]).toEqual(["session", "same_principal"]);
  await using others = await fx.lease({ principal: "web:user:you", sessionFile: "session-you.jsonl" });
  await until("the next spare", () => fx.pool.processes().some(({ state, person }) => state === "idle" && !person));
  await using another = await fx.lease({ sessionFile: "session-c.jsonl" });
  const own = fx.lease({ sessionFile: A, settledBytes: one.bytesOf(A) });
  expect(one.used()).toEqual([false, true]); // it has its process, which still reads
  release();
  await over;
  await using held = await own;
  expect(held.wasOpen).toBe(true);
  expect(new Set([others.pid, another.pid, held.pid]).size).toBe(3);
  expect((await collect(held, "and on")).at(-1)).toMatchObject({ type: "done" });
  expect(fx.happened.filter(({ event }) => event === "agent.spawned").length).toBeLessThanOrEqual(4);
});

test("in a pool of one, another session of the same person follows a hint in the same process", async () => {
  await using one = await world({ min: 0, max: 1 });
  const { fx } = one;
  await quietInB(one);
  const [before] = fx.pool.processes();
  const release = one.hold();
  const { over } = await one.hint("operator");
  const other = fx.lease({ sessionFile: "session-c.jsonl" });
  release();
  await over;
  await using held = await other;
  expect(held.pid).toBe(Number(before?.pid));
  expect((await collect(held, "hello")).at(-1)).toMatchObject({ type: "done" });
  expect(one.used()).toEqual([false]); // not what it was prepared for
});

test("in a full pool a turn of another person ends the process that a hint is under way in", async () => {
  await using one = await world({ min: 0, max: 1 });
  const { fx } = one;
  await quietInB(one);
  const before = readFileSync(join(fx.home, "sessions", A), "utf8");
  const release = one.hold();
  const { over } = await one.hint("operator");
  {
    await using held = await fx.lease({ principal: "web:user:you", sessionFile: "session-you.jsonl" });
    expect((await collect(held, "hello")).at(-1)).toMatchObject({ type: "done" });
  }
  release();
  await over;
  expect(fx.pool.stats()).toMatchObject({ idle: 1, busy: 0, starting: 0 });
  expect(readFileSync(join(fx.home, "sessions", A), "utf8")).toBe(before);
  expect(visiting(fx.home)).toEqual([]);
});

test("a session that a turn would have to mend first is left to the turn, and its process is there", async () => {
  await using one = await world({ min: 0, max: 1 });
  const { fx } = one;
  await fx.turn("hello", { sessionFile: A });
  const session = { sessionFile: A, settledBytes: one.bytesOf(A) }; // what comes after it was interrupted
  await quietInB(one);
  const { prepares, because } = await fx.pool.prepare({ caller: caller("operator"), session }, NEVER);
  expect([prepares, because]).toEqual(["nothing", "process_is_ready"]);
  expect(one.used()).toEqual([]);
});

test("a hint after the last word of a turn, whose process is not given back yet, starts no second process", async () => {
  await using one = await world({ min: 0, max: 3 });
  const { fx } = one;
  {
    await using lease = await fx.pool.lease({ caller: caller("operator"), sessionFile: A, settledBytes: 0 }, NEVER);
    await collect(lease, "hello");
    const session = { sessionFile: A, settledBytes: await lease.settledBytes() };
    const { prepares, because } = await fx.pool.prepare({ caller: caller("operator"), session }, NEVER);
    expect([prepares, because]).toEqual(["nothing", "session_in_use"]);
  }
  expect(await one.prepare("operator")).toBe("nothing: session_is_open");
  expect(fx.pool.processes()).toHaveLength(1);
});

test("a session in which nothing was said yet needs a process, which is started while there is room and memory", async () => {
  await using one = await world({ min: 0, max: 3 });
  expect(await one.prepare("operator", null)).toBe("process: room_left");
  expect(await one.prepare("web:user:you", null)).toBe("nothing: process_is_ready");
  expect(one.fx.pool.processes().map(({ state, person }) => [state, person])).toEqual([["idle", null]]);
  await one.fx.turn("hello", { sessionFile: A });
  expect(one.used()).toEqual([false, true]);
  await using poor = await agentFixture({ pool: { min: 0, max: 3 }, freeMb: 300 });
  const asked = await poor.pool.prepare({ caller: caller("operator"), session: null }, NEVER);
  expect([asked.prepares, asked.because]).toEqual(["nothing", "memory_scarce"]);
});

function visiting(home: string): readonly string[] {
  const folders = join(home, "run", "sessions");
  return readdirSync(folders).flatMap((folder) => readdirSync(join(folders, folder)));
}
