/** Work that one gateway does for all begins where the lease is, and goes on elsewhere when that one has ended. */
import { expect, test } from "bun:test";
import type { NodeLeaseStore } from "../contracts/store/node-leases.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { beginWhenHeld } from "./one-at-a-time.ts";

function world() {
  const clock = createFakeClock();
  const log = recordingLog();
  const said: string[] = [];
  const state = { lease: "held" as "mine" | "held" | "away" };
  const lease = { owner: "gateway_b", ownerName: "b", number: 1, since: 0 };
  const leases = {
    async acquire() {
      if (state.lease === "away") throw new Error("no database");
      return { kind: state.lease, lease };
    },
    async release(_thing: unknown, number: number) {
      said.push(`given back ${number}`);
      return true;
    },
  } as unknown as Pick<NodeLeaseStore, "acquire" | "release">;
  const begin = () => {
    said.push("begun");
    return { [Symbol.asyncDispose]: async () => void said.push("ended") };
  };
  const work = beginWhenHeld({ clock, log, leases }, { kind: "heartbeat", key: "all" }, begin);
  return { clock, log, said, state, work };
}

test("work begins when the lease is free, within two seconds, once, and ends with the gateway, which gives the lease back then", async () => {
  const { clock, said, state, work } = world();
  await clock.advance(60_000);
  expect(said).toEqual([]);
  state.lease = "mine";
  await clock.advance(2_000);
  expect(said).toEqual(["begun"]);
  await clock.advance(60_000);
  await work[Symbol.asyncDispose]();
  expect([said, clock.pending()]).toEqual([["begun", "ended", "given back 1"], 0]);
});

test("a database that is away for a while keeps work from beginning, and not for longer", async () => {
  const { clock, said, state, log } = world();
  state.lease = "away";
  await clock.advance(10_000);
  expect([said, log.lines.length > 0]).toEqual([[], true]);
  state.lease = "mine";
  await clock.advance(2_000);
  expect(said).toEqual(["begun"]);
});

test("a gateway that ends before it has the lease begins nothing", async () => {
  const { clock, said, state, work } = world();
  await clock.advance(1_000);
  await work[Symbol.asyncDispose]();
  state.lease = "mine";
  await clock.advance(10_000);
  expect([said, clock.pending()]).toEqual([[], 0]);
});
