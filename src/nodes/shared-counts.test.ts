/** Rate limits that several gateways hold together. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type InstanceId, OPERATOR } from "../contracts/ids.ts";
import type { CountedLimit } from "../contracts/nodes.ts";
import type { Store } from "../contracts/store.ts";
import { createAttempts } from "../http/access/attempts.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { createPace } from "../kit/pace.ts";
import { createRate } from "../openai/rate.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createLetterHub } from "../testing/letter-hub.ts";
import { testPostgres } from "../testing/postgres/database.ts";
import { createPostgresWorlds } from "../testing/postgres/store-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { memoryCalls } from "../testing/tools/tool-world.ts";
import { waitFor } from "../testing/wait-for.ts";
import { createRateLimits } from "../tools/stages/rate.ts";
import { createOtherNodes } from "./other-nodes.ts";
import { createSharedCounts } from "./shared-counts.ts";

setDefaultTimeout(30_000);

const [A, B] = ["gateway_a", "gateway_b"] as InstanceId[];
const WHO = { principal: OPERATOR, tool: "echo" };
const THREE = { calls: 3, perMs: 60_000 };

function gateways() {
  const clock = createFakeClock();
  const hub = createLetterHub();
  const countsOf = (node: InstanceId | undefined, at: Clock = clock) => {
    const letters = hub.join(node as InstanceId);
    const nodes = createOtherNodes({ clock: at, log: recordingLog(), ids: createSeqIds(), letters });
    return createSharedCounts({ clock: at, nodes });
  };
  const [a, b] = [countsOf(A), countsOf(B)];
  const at = <T>(limit: CountedLimit, make: (counted: ReturnType<typeof a.of>) => T) => [
    make(a.of(limit)),
    make(b.of(limit)),
  ];
  /** Until letters have arrived. */
  const told = () => clock.advance(100);
  return { clock, hub, at, told };
}

test("calls of a tool at one gateway count at the other one, and are told in one letter for all of a moment", async () => {
  const { clock, hub, at, told } = gateways();
  const [one, other] = at("tool calls", (countedCalls) =>
    createRateLimits({ clock, store: memoryCalls(), countedCalls }),
  );
  const take = async (limits: typeof one) => (await limits?.take(WHO, THREE))?.kind;
  expect([await take(one), await take(one)]).toEqual(["ok", "ok"]);
  await told();
  expect(hub.sent.filter(({ kind }) => kind === "news")).toHaveLength(1);
  expect([await take(other), await take(other)]).toEqual(["ok", "wait"]);
  await told();
  expect(await take(one)).toBe("wait");
  await clock.advance(THREE.perMs);
  expect(await take(one)).toBe("ok");
});

test("a durable limit counts what the record has of all gateways, and not a second time what was told", async () => {
  const { clock, at, told } = gateways();
  const store = { ...memoryCalls(), timesSince: async () => [clock.now(), clock.now()] };
  const [one, other] = at("tool calls", (countedCalls) => createRateLimits({ clock, store, countedCalls }));
  const durable = { ...THREE, durable: true };
  expect(await one?.take(WHO, durable)).toEqual({ kind: "ok" });
  await told();
  expect(await other?.take(WHO, durable)).toEqual({ kind: "ok" }); // both calls are in the record already
  expect((await other?.take(WHO, durable))?.kind).toBe("wait");
});

test("requests of a key at two gateways have one pace together, also when both let the last one through", async () => {
  const { clock, at, told } = gateways();
  const [one, other] = at("requests of keys", (counted) => createPace(clock, counted));
  const take = (pace: typeof one) => pace?.take("key_1", 6) ?? -1;
  for (const pace of [one, one, one, one, one, other]) expect(take(pace)).toBe(0); // before anything was told
  await told();
  expect([take(one), take(other)].every((waitMs) => waitMs > 0)).toBe(true);
  let taken = 0;
  for (let second = 0; second < 120; second++) {
    await clock.advance(1_000);
    taken += [one, other].filter((pace) => take(pace) === 0).length;
  }
  expect(taken).toBeGreaterThanOrEqual(11);
  expect(taken).toBeLessThanOrEqual(14); // 12 in two minutes, and what both may let through at the same moment
});

test("requests of one person over /v1 are counted at all gateways", async () => {
  const { clock, at, told } = gateways();
  const [one, other] = at("requests", (counted) => createRate({ clock, counted }));
  const limit = one?.(OPERATOR).limit ?? 0;
  await told();
  expect(other?.(OPERATOR)).toMatchObject({ remaining: limit - 2 });
});

test("wrong passwords that are tried at one gateway lock the client at the other one", async () => {
  const { clock, at, told } = gateways();
  const [one, other] = at("wrong credentials", (counted) => createAttempts({ clock, log: recordingLog(), counted }));
  const wrong = { kind: "password", client: "192.0.2.7", right: false, strong: false } as const;
  for (let count = 0; count < 10; count++) one?.judge(wrong);
  await told();
  expect(other?.judge({ ...wrong, right: true }).kind).toBe("locked");
  expect(other?.judge({ ...wrong, client: "198.51.100.7", right: true }).kind).toBe("right");
});

test("a gateway without others tells nothing", async () => {
  const clock = createFakeClock();
  const hub = createLetterHub();
  const nodes = createOtherNodes({
    clock,
    log: recordingLog(),
    ids: createSeqIds(),
    letters: hub.join(A as InstanceId),
  });
  const countedCalls = createSharedCounts({ clock, nodes }).of("tool calls");
  await createRateLimits({ clock, store: memoryCalls(), countedCalls }).take(WHO, THREE);
  await clock.advance(1_000);
  expect([hub.sent, clock.pending()]).toEqual([[], 0]);
});

describe.skipIf((await testPostgres()) === null)("two gateways on one Postgres database", () => {
  const worlds = createPostgresWorlds();
  afterAll(() => worlds[Symbol.asyncDispose]());

  test("a limit that was reached at one gateway is reached at the other one a moment later", async () => {
    await using world = await worlds.open();
    const limitsOn = ({ letters, toolCalls: store }: Store) => {
      const nodes = createOtherNodes({ clock: systemClock, log: recordingLog(), ids: systemIds, letters });
      const countedCalls = createSharedCounts({ clock: systemClock, nodes }).of("tool calls");
      return { nodes, limits: createRateLimits({ clock: systemClock, store, countedCalls }) };
    };
    const [one, other] = [limitsOn(world.store), limitsOn(await world.openSecond())];
    await waitFor(
      "the gateways to know each other",
      () => one.nodes.list().length > 0 && other.nodes.list().length > 0,
    );
    let told = 0;
    other.nodes.hear("counted", (counts) => counts.forEach(({ count }) => (told += count)));
    for (let call = 0; call < THREE.calls; call++) expect(await one.limits.take(WHO, THREE)).toEqual({ kind: "ok" });
    await waitFor("the counts", () => told === THREE.calls);
    expect((await other.limits.take(WHO, THREE)).kind).toBe("wait");
  });
});
