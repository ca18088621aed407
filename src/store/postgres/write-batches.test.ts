/** Batches of writes over a scripted connection: what is run again, what is refused, and how long anybody waits. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../contracts/errors.ts";
import type { InstanceId } from "../../contracts/ids.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import { createFakeClock, type FakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { advanceUntil } from "../../testing/wait-for.ts";
import type { Query, Steps } from "../steps.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost } from "./faults.ts";
import { createWriteBatches } from "./write-batches.ts";

const ask = (text: string): Query => ({ text, values: [], name: null });

function* add(text: string): Steps<number> {
  return (yield ask(text)).count;
}

/** What the server says to each statement: nothing, or an error, as often as it is listed. */
function fixture() {
  const clock = createFakeClock();
  const said: string[] = [];
  const errors = new Map<string, Error[]>();
  let away: Error | null = null;
  let lost = false;
  const answer = async (text: string): Promise<void> => {
    const short = text.startsWith("update batches") ? "commit" : text;
    said.push(short);
    const error = errors.get(short)?.shift();
    if (error instanceof ConnectionLost) lost = true;
    if (error) throw error;
  };
  const committed = { batch: 0 };
  const connection: Connection = {
    pid: 7,
    isPooled: false,
    async ask({ text }) {
      if (text.startsWith("with ended")) return { rows: [committed], count: 1 };
      await answer(text);
      return { rows: [], count: 1 };
    },
    control: answer,
    isLost: () => lost,
    lost: deferred<void>().promise,
    close: async () => undefined,
  };
  const writer = {
    async connection(signal: AbortSignal) {
      lost = false;
      return away === null ? connection : orAborted(new Promise<Connection>(() => undefined), signal);
    },
    fault: () => away,
    close: async () => undefined,
  };
  const log = recordingLog();
  const commits = createWriteBatches({ clock, log, writer, instanceId: "gateway_1" as InstanceId });
  const fail = (text: string, ...given: Error[]) => void errors.set(text, given);
  return { clock, said, commits, committed, fail, log, setAway: (error: Error | null) => void (away = error) };
}

/** Moves the clock on until the promise has settled. */
async function settled(clock: FakeClock, promise: Promise<unknown>): Promise<void> {
  let over = false;
  void promise.catch(() => undefined).then(() => (over = true));
  await advanceUntil({ clock, stepMs: 50 }, "the writes", () => over);
}

const state = (code: string) => Object.assign(new Error(`state ${code}`), { code });

test("writes of one tick share one transaction and are told after its commit", async () => {
  const { commits, said } = fixture();
  expect(await Promise.all(["a", "b", "c"].map((text) => commits.write(() => add(text))))).toEqual([1, 1, 1]);
  expect(said).toEqual(["begin isolation level serializable", "a", "b", "c", "commit"]);
});

test.each(["40001", "40P01", "55P03"])(
  "a batch that meets another transaction (%s) runs again as a whole",
  async (code) => {
    const { commits, said, fail, clock } = fixture();
    fail("b", state(code));
    fail("commit", state(code));
    const both = Promise.all(["a", "b"].map((text) => commits.write(() => add(text))));
    await settled(clock, both);
    expect(said.filter((text) => text === "a" || text === "commit")).toEqual(["a", "a", "commit", "a", "commit"]);
    expect(commits.fault()).toBeNull();
  },
);

test("a batch that meets others again and again is refused after thirty attempts", async () => {
  const { commits, said, fail, clock } = fixture();
  fail("a", ...Array.from({ length: 50 }, () => state("40001")));
  const refused = commits.write(() => add("a")).catch((error: unknown) => error);
  await settled(clock, refused);
  expect(await refused).toMatchObject({ code: "store_failed", cause: { code: "40001" } });
  expect(said.filter((text) => text === "a")).toHaveLength(30);
});

test("a write that is wrong loses only itself, and what row code throws on purpose stays what it is", async () => {
  const { commits, fail } = fixture();
  fail("b", ...Array.from({ length: 2 }, () => state("23514")));
  const changedItsMind = () =>
    (function* (): Steps<number> {
      yield* add("d");
      throw new GatewayError("conflict", "changed its mind");
    })();
  const results = await Promise.allSettled([
    ...["a", "b", "c"].map((text) => commits.write(() => add(text))),
    commits.write(changedItsMind),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
  expect(results[1]).toMatchObject({ reason: { code: "store_failed", cause: { code: "23514" } } });
  expect(results[3]).toMatchObject({ reason: { code: "conflict" } });
});

test("a full disk of the server refuses the batch at once, and health hears of it until a write succeeds", async () => {
  const { commits, fail, log } = fixture();
  fail("commit", state("53100"));
  await expect(commits.write(() => add("a"))).rejects.toMatchObject({ code: "store_failed" });
  expect(commits.fault()?.code).toBe("store_failed");
  await commits.write(() => add("a"));
  expect(commits.fault()).toBeNull();
  expect(log.lines.map(({ words }) => words)).toEqual(["store cannot write", "store writes again"]);
});

test.each([
  ["was made", 1, ["a", "commit"]],
  ["was not made", 0, ["a", "commit", "a", "commit"]],
])("a commit without an answer that %s is not guessed", async (_, batch, expected) => {
  const { commits, said, fail, committed, clock } = fixture();
  committed.batch = batch;
  fail("commit", new ConnectionLost("cut"));
  const written = commits.write(() => add("a"));
  await settled(clock, written);
  expect(await written).toBe(1);
  expect(said.filter((text) => !text.startsWith("begin"))).toEqual(expected);
});

test("writes wait ten seconds for a connection and are then refused, also those that came in the meantime", async () => {
  const { commits, setAway, clock } = fixture();
  setAway(new ConnectionLost("connection refused"));
  const first = commits.write(() => add("a")).catch((error: unknown) => error);
  await clock.advance(6_000);
  const second = commits.write(() => add("b")).catch((error: unknown) => error);
  const before = clock.elapsed();
  await settled(clock, Promise.all([first, second]));
  expect(await first).toMatchObject({ code: "store_failed" });
  expect(await second).toMatchObject({ code: "store_failed" });
  expect(clock.elapsed() - before).toBeLessThanOrEqual(10_000);
  setAway(null);
  expect(await commits.write(() => add("c"))).toBe(1);
});

test("a batch in doubt waits until the server answers; what waits behind it is refused after ten seconds", async () => {
  const { commits, setAway, fail, committed, clock } = fixture();
  committed.batch = 1;
  fail("commit", new ConnectionLost("cut"));
  const doubtful = commits.write(() => add("a"));
  await new Promise(setImmediate);
  setAway(new ConnectionLost("connection refused"));
  const behind = commits.write(() => add("b")).catch((error: unknown) => error);
  await settled(clock, behind);
  expect([await behind, clock.elapsed() < 12_000]).toMatchObject([{ code: "store_failed" }, true]);
  setAway(null);
  await settled(clock, doubtful);
  expect(await doubtful).toBe(1);
});

test("closing commits what waits and takes nothing more", async () => {
  const { commits, said } = fixture();
  const last = commits.write(() => add("a"));
  await commits.close();
  expect(await last).toBe(1);
  await expect(commits.write(() => add("b"))).rejects.toMatchObject({ code: "stopping" });
  expect(said.at(-1)).toBe("commit");
});
