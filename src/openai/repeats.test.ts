/** A request with an Idempotency-Key that comes to two gateways on one Postgres database. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { OPERATOR } from "../contracts/ids.ts";
import { systemClock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";
import { testPostgres } from "../testing/postgres/database.ts";
import { createPostgresWorlds } from "../testing/postgres/store-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createRepeats } from "./repeats.ts";

setDefaultTimeout(30_000);

const never = new AbortController().signal;
const ASKED = { principal: OPERATOR, idempotencyKey: "k", digest: "d" };

describe.skipIf((await testPostgres()) === null)("a request with an Idempotency-Key at two gateways", () => {
  const worlds = createPostgresWorlds();
  afterAll(() => worlds[Symbol.asyncDispose]());

  async function twoDoors() {
    const world = await worlds.open();
    const second = await world.openSecond();
    const [one, other] = [world.store, second].map(({ idempotentAnswers }) =>
      createRepeats<string>({ clock: systemClock, log: recordingLog(), idempotentAnswers }, "completions"),
    );
    if (!one || !other) throw new Error("two doors");
    return { one, other, first: world.store, second, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
  }

  test("the answer of one gateway is told by the other one, and another request with the key is refused", async () => {
    await using doors = await twoDoors();
    expect(await doors.one.once(ASKED, async () => "by one", never)).toBe("by one");
    expect(await doors.other.once(ASKED, async () => "by other", never)).toBe("by one");
    const other = doors.other.once({ ...ASKED, digest: "other" }, async () => "by other", never);
    expect(await other.catch((error: unknown) => error)).toMatchObject({ code: "key_reused" });
  });

  test("a repeat waits while the other gateway answers, and is answered here when that one fails", async () => {
    await using doors = await twoDoors();
    const [answer, failure] = [deferred<string>(), deferred<string>()];
    const begun = deferred<void>();
    const first = doors.one.once(ASKED, () => (begun.resolve(), answer.promise), never);
    await begun.promise;
    const second = doors.other.once(ASKED, async () => "by other", never);
    answer.resolve("by one");
    expect([await first, await second]).toEqual(["by one", "by one"]);

    const again = deferred<void>();
    const asked = { ...ASKED, idempotencyKey: "failing" };
    const failing = doors.one.once(asked, () => (again.resolve(), failure.promise), never);
    await again.promise;
    const waiting = doors.other.once(asked, async () => "by other", never);
    failure.reject(new Error("hung up"));
    expect(await failing.catch(String)).toBe("Error: hung up");
    expect(await waiting).toBe("by other");
  });

  test("a request that comes to both at the same moment is answered by one of them", async () => {
    await using doors = await twoDoors();
    for (let round = 0; round < 4; round++) {
      const asked = { ...ASKED, idempotencyKey: `k${round}` };
      const runs: string[] = [];
      const by = (name: string) => async () => (runs.push(name), name);
      const [one, other] = [doors.one.once(asked, by("one"), never), doors.other.once(asked, by("other"), never)];
      expect<readonly string[]>([await one, await other]).toEqual([...runs, ...runs]);
    }
  });

  test("a request whose gateway died is answered by the one that takes over", async () => {
    await using doors = await twoDoors();
    const begun = deferred<void>();
    const lost = doors.one.once(ASKED, () => (begun.resolve(), deferred<string>().promise), never);
    void lost.catch(() => undefined); // its gateway is gone
    await begun.promise;
    const second = doors.other.once(ASKED, async () => "by other", never);
    await doors.first[Symbol.asyncDispose]();
    expect(await second).toBe("by other");
  });
});
