/** The renewal of a gateway's row over a scripted connection, on a clock that the test moves. */
import { expect, test } from "bun:test";
import type { InstanceId } from "../../contracts/ids.ts";
import { deferred } from "../../kit/deferred.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { advanceUntil } from "../../testing/wait-for.ts";
import { NODE_EXPIRY_MS, RENEW_MS } from "../node-expiry.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost } from "./faults.ts";
import { startRenewal } from "./renewal.ts";

/** `upSince`: since when the database answers. */
function fixture(upSince = -Infinity) {
  const fake = createFakeClock();
  /** The process stood still for so long: timers come late, and the time has passed. */
  const frozen = { ms: 0 };
  const clock = { ...fake, elapsed: () => fake.elapsed() + frozen.ms };
  const log = recordingLog();
  const codes: string[] = [];
  const server = {
    answers: "renewed" as "renewed" | "gone" | "nothing" | "error",
    asked: 0,
    connections: 0,
    closed: 0,
    over: 0,
    /** Who connects gets no answer before. */
    reachable: Promise.resolve() as Promise<void>,
  };
  const late = deferred<{ readonly rows: readonly unknown[]; readonly count: number }>();
  const connection: Connection = {
    pid: 1,
    isPooled: false,
    async ask({ text }) {
      if (text.startsWith("select")) return { rows: [{ count: server.over }], count: 1 };
      server.asked++;
      if (server.answers === "nothing") return late.promise;
      if (server.answers === "error") throw new ConnectionLost("cut");
      return { rows: [], count: server.answers === "renewed" ? 1 : 0 };
    },
    control: async () => undefined,
    isLost: () => false,
    lost: deferred<void>().promise,
    close: async () => void server.closed++,
  };
  const connect = async () => {
    server.connections++;
    await server.reachable;
    return connection;
  };
  const supersede = ({ code }: { readonly code: string }) => void codes.push(code);
  const deps = { clock, log, connect, instanceId: "gateway_1" as InstanceId, supersede };
  const renewal = startRenewal(deps, { at: clock.elapsed(), upSince });
  const pass = async (ms: number): Promise<void> => {
    const end = clock.elapsed() + ms;
    await advanceUntil({ clock, stepMs: RENEW_MS / 4 }, `${ms} ms`, () => clock.elapsed() >= end);
  };
  return { clock, frozen, log, server, renewal, codes, pass, late };
}

test("a gateway whose row is renewed is held for as long as it likes, over one connection", async () => {
  const { server, renewal, pass, codes } = fixture();
  await pass(5 * NODE_EXPIRY_MS);
  expect([renewal.isHeld(), server.connections, codes]).toEqual([true, 1, []]);
  expect(server.asked).toBeGreaterThanOrEqual(15);
  await renewal.close();
  await pass(NODE_EXPIRY_MS);
  expect(renewal.isHeld()).toBe(false);
});

test.each(["nothing", "error"] as const)(
  "a gateway that the server answers with %s is not held after its time, says so once, and is held again when it is heard of",
  async (answers) => {
    const { server, renewal, pass, log } = fixture();
    server.answers = answers;
    await pass(NODE_EXPIRY_MS + RENEW_MS);
    expect(renewal.isHeld()).toBe(false);
    server.answers = "renewed";
    await pass(3 * RENEW_MS);
    expect(renewal.isHeld()).toBe(true);
    expect(log.lines.map(({ words }) => words)).toEqual([
      "gateway could not renew its row in the database",
      "gateway renews its row in the database again",
    ]);
    await renewal.close();
  },
);

test("a gateway that gets no answer while it connects tries again with the next renewal, and closes what is answered too late", async () => {
  const { server, renewal, pass } = fixture();
  const found = deferred<void>();
  server.reachable = found.promise;
  await pass(3 * RENEW_MS); // a pause, and the time that a connection has
  expect([server.connections, server.asked]).toEqual([1, 0]);
  server.reachable = Promise.resolve();
  await pass(RENEW_MS);
  expect([server.connections, server.asked > 0, server.closed]).toEqual([2, true, 0]);
  found.resolve();
  await pass(RENEW_MS);
  expect(server.closed).toBe(1);
  await renewal.close();
});

test("a gateway whose row says that it is gone is told once, asks no more, and is not held", async () => {
  const { server, renewal, pass, codes } = fixture();
  server.answers = "gone";
  await pass(2 * NODE_EXPIRY_MS);
  expect([codes, server.asked, renewal.isHeld()]).toEqual([["superseded"], 1, false]);
  await renewal.close();
});

test("a gateway that closes while it is told that it is gone was not taken over", async () => {
  const { clock, renewal, codes, server, late } = fixture();
  server.answers = "nothing";
  await advanceUntil({ clock, stepMs: RENEW_MS }, "a renewal", () => server.asked === 1);
  const closed = renewal.close();
  late.resolve({ rows: [], count: 0 });
  await closed;
  expect(codes).toEqual([]);
});

test("whoever watches is told when the time of others is over, once at a time, and no more after the watch", async () => {
  const { server, renewal, pass } = fixture();
  const told: number[] = [];
  const done = deferred<void>();
  const watch = renewal.whenOthersEnd(async () => {
    told.push(server.asked);
    await done.promise;
  });
  await pass(2 * RENEW_MS);
  expect(told).toEqual([]);
  server.over = 1;
  await pass(3 * RENEW_MS);
  expect(told).toHaveLength(1); // it is still at it
  done.resolve();
  await pass(2 * RENEW_MS);
  expect(told.length).toBeGreaterThan(1);
  watch[Symbol.dispose]();
  const before = told.length;
  await pass(2 * RENEW_MS);
  expect(told).toHaveLength(before);
  await renewal.close();
});

test.each([
  [
    "the server gave no answer",
    async ({ server, pass }: ReturnType<typeof fixture>) => {
      server.answers = "error";
      await pass(NODE_EXPIRY_MS);
      server.answers = "renewed";
    },
  ],
  [
    "the process stood still",
    async ({ frozen }: ReturnType<typeof fixture>) => {
      frozen.ms = 2 * NODE_EXPIRY_MS;
    },
  ],
])("after %s, others get as long as any gateway to be heard of before they are taken over from", async (_, trouble) => {
  const fx = fixture();
  const { clock, server, renewal, pass } = fx;
  let toldAt: number | null = null;
  using _watch = renewal.whenOthersEnd(async () => void (toldAt ??= clock.elapsed()));
  await pass(RENEW_MS);
  await trouble(fx);
  server.over = 1;
  const from = clock.elapsed();
  await pass(NODE_EXPIRY_MS);
  expect(toldAt).toBeNull();
  await pass(3 * RENEW_MS);
  expect((toldAt ?? 0) - from).toBeGreaterThanOrEqual(NODE_EXPIRY_MS);
  await renewal.close();
});

test("a gateway that starts right after the database came back takes over from nobody before the others could be heard of", async () => {
  const { clock, server, renewal, pass } = fixture(0); // the database answers from the moment of the start on
  server.over = 1;
  let toldAt: number | null = null;
  using _watch = renewal.whenOthersEnd(async () => void (toldAt ??= clock.elapsed()));
  await pass(NODE_EXPIRY_MS - RENEW_MS);
  expect(toldAt).toBeNull();
  await pass(2 * RENEW_MS);
  expect(toldAt).not.toBeNull();
  expect(Number(toldAt)).toBeGreaterThanOrEqual(NODE_EXPIRY_MS);
  await renewal.close();
});
