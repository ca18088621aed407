/** Which gateway has a session, over the leases of a real store. */
import { expect, test } from "bun:test";
import type { InstanceId, SessionKey } from "../contracts/ids.ts";
import type { NodeLease, NodeLeaseStore } from "../contracts/store/node-leases.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSessionHomes } from "./session-homes.ts";

const ME = "gateway_a" as InstanceId;
const OTHER = "gateway_b" as InstanceId;
const KEY = "agent:default:a" as SessionKey;
const QUIET_MS = 11 * 60_000;

function world() {
  const clock = createFakeClock();
  const rows = new Map<string, NodeLease>();
  const busy = new Set<SessionKey>();
  const asked: string[] = [];
  let number = 0;
  const lease = (owner: InstanceId): NodeLease => ({ owner, ownerName: owner, number: ++number, since: 0 });
  const leases: Pick<NodeLeaseStore, "acquire" | "release" | "heldBy"> = {
    async acquire({ key }) {
      asked.push(`acquire ${key}`);
      const known = rows.get(key) ?? lease(ME);
      rows.set(key, known);
      return { kind: known.owner === ME ? "mine" : "held", lease: known };
    },
    async release({ key }, given) {
      asked.push(`release ${key} ${given}`);
      return rows.delete(key);
    },
    heldBy: async ({ key }) => rows.get(key) ?? null,
  };
  const deps = { clock, log: recordingLog(), me: ME, leases, isBusy: (key: SessionKey) => busy.has(key) };
  return { clock, rows, busy, asked, lease, homes: createSessionHomes(deps) };
}

test("a session without a home gets one where its first message arrives, and is asked for once", async () => {
  const { homes, asked } = world();
  expect(homes.isHere(KEY)).toBe(false);
  expect(await homes.here(KEY, async () => "done")).toEqual({ kind: "done", value: "done" });
  expect(homes.isHere(KEY)).toBe(true);
  expect(await homes.here(KEY, async () => "again")).toEqual({ kind: "done", value: "again" });
  expect(await homes.elsewhere(KEY)).toBeNull();
  expect(asked).toEqual([`acquire ${KEY}`]);
});

test("a session that lives elsewhere is not worked on here", async () => {
  const { homes, rows, lease, asked } = world();
  rows.set(KEY, lease(OTHER));
  let worked = false;
  expect(await homes.here(KEY, async () => (worked = true))).toEqual({ kind: "elsewhere", node: OTHER });
  expect([worked, await homes.elsewhere(KEY), asked]).toEqual([false, OTHER, []]);
});

test("a session that has been quiet is given back under its number, and one in which something goes on is kept", async () => {
  const { homes, busy, clock, asked, rows } = world();
  const used = "agent:default:used" as SessionKey;
  const running = "agent:default:running" as SessionKey;
  const open = Promise.withResolvers<void>();
  await homes.here(KEY, async () => undefined);
  await homes.here(running, async () => undefined);
  busy.add(running);
  const using = homes.here(used, () => open.promise);
  await clock.advance(5 * 60_000);
  expect(rows.size).toBe(3);
  await clock.advance(QUIET_MS);
  expect([...rows.keys()]).toEqual([running, used]);
  expect(asked.at(-1)).toBe(`release ${KEY} 1`);
  expect(await homes.here(KEY, async () => "back")).toEqual({ kind: "done", value: "back" });
  open.resolve();
  await using;
  await clock.advance(QUIET_MS);
  expect([...rows.keys()]).toEqual([running]);
});

test("a session that came by a takeover is this gateway's, and is given back like any other", async () => {
  const { homes, rows, lease, clock } = world();
  rows.set(KEY, lease(ME));
  rows.set("agent:default:b", lease(OTHER));
  await homes.adopt([KEY, KEY, "agent:default:b" as SessionKey]);
  expect(await homes.elsewhere(KEY)).toBeNull();
  await clock.advance(QUIET_MS);
  expect([...rows.keys()]).toEqual(["agent:default:b"]);
});

test("a session that is to go on elsewhere is given up, unless something goes on in it", async () => {
  const { homes, rows, busy } = world();
  const running = "agent:default:running" as SessionKey;
  busy.add(running);
  for (const key of [KEY, running]) await homes.here(key, async () => undefined);
  expect([await homes.giveUp(KEY), await homes.giveUp(running), await homes.giveUp(KEY)]).toEqual([true, false, false]);
  expect([...rows.keys()]).toEqual([running]);
});

test("leaving gives back what is quiet at once", async () => {
  const { homes, rows, busy } = world();
  const running = "agent:default:running" as SessionKey;
  busy.add(running);
  for (const key of [KEY, running]) await homes.here(key, async () => undefined);
  await homes.leave();
  expect([...rows.keys()]).toEqual([running]);
});

test("homes end their looks with the gateway", async () => {
  const { homes, clock } = world();
  await homes[Symbol.asyncDispose]();
  expect(clock.pending()).toBe(0);
});

test("a gateway that drains leaves sessions without a home to those that are willing, and keeps what it has", async () => {
  const { homes, asked } = world();
  const third = "gateway_c" as InstanceId;
  const fresh = (name: string) => homes.here(`agent:default:${name}` as SessionKey, async () => "done");
  await homes.here(KEY, async () => undefined);
  let willing: readonly InstanceId[] = [OTHER, third];
  homes.drain(() => willing);
  expect(await homes.here(KEY, async () => "done")).toMatchObject({ kind: "done" });
  const placed = [await fresh("x"), await fresh("y")];
  expect(placed.map((at) => at.kind === "elsewhere" && at.node).toSorted()).toEqual([OTHER, third]);
  willing = [];
  expect(await fresh("z")).toMatchObject({ kind: "done" });
  expect(await homes.leave()).toBe(0);
  expect(asked.filter((what) => what.startsWith("release"))).toHaveLength(2);
});

test("a session that is handed over is gone when the other gateway has it, and whoever wants it meanwhile waits and is sent there", async () => {
  const { homes, rows, lease } = world();
  await homes.here(KEY, async () => undefined);
  const taken = Promise.withResolvers<boolean>();
  const numbers: number[] = [];
  const giving = homes.handOver(KEY, (number) => (numbers.push(number), taken.promise));
  const wanted = homes.here(KEY, async () => "here");
  expect(homes.isHere(KEY)).toBe(false); // it may be gone in a moment
  rows.set(KEY, lease(OTHER));
  taken.resolve(true);
  expect([await giving, await wanted, numbers]).toEqual([true, { kind: "elsewhere", node: OTHER }, [1]]);
});

test("a session that is not taken stays, under the number that it has then, and one that is in use is not handed over", async () => {
  const { homes, asked } = world();
  const never = () => Promise.reject(new Error("it was given away"));
  expect(await homes.handOver(KEY, never)).toBe(false); // not held
  const open = Promise.withResolvers<void>();
  const using = homes.here(KEY, () => open.promise);
  expect(await homes.handOver(KEY, never)).toBe(false);
  open.resolve();
  await using;
  expect(await homes.handOver(KEY, async () => false)).toBe(false);
  expect(await homes.handOver(KEY, async () => 7)).toBe(false);
  expect(await homes.giveUp(KEY)).toBe(true);
  expect(asked.at(-1)).toBe(`release ${KEY} 7`);
});
