/** Batches that meet those of other gateways, on a connection that answers as the test says: which errors mean "run it again", and how often. */
import { expect, test } from "bun:test";
import type { InstanceId } from "../../contracts/ids.ts";
import { type Clock, systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { advanceUntil } from "../../testing/wait-for.ts";
import type { Query, Steps } from "../steps.ts";
import type { Connection } from "./connection.ts";
import { createWriteBatches } from "./write-batches.ts";

const INSERT: Query = { text: "insert", values: [], name: null };
const MET = "40001";
const DUPLICATE = "23505";

/** Each insert takes the next of the codes; after the last one it works. */
function batchesWith(codes: readonly string[], clock: Clock = systemClock) {
  const left = [...codes];
  let inserts = 0;
  const connection: Connection = {
    pid: 1,
    isPooled: false,
    async ask() {
      inserts++;
      const code = left.shift();
      if (code !== undefined) throw Object.assign(new Error(`error ${code}`), { code });
      return { rows: [], count: 1 };
    },
    control: async () => undefined,
    isLost: () => false,
    lost: deferred<void>().promise,
    close: async () => undefined,
  };
  const writer = { connection: async () => connection, fault: () => null, close: async () => undefined };
  const deps = { clock, log: recordingLog(), writer, instanceId: "gateway_1" as InstanceId };
  return { batches: createWriteBatches(deps), inserts: () => inserts };
}

function* insert(): Steps<number> {
  return (yield INSERT).count;
}

test.each([
  ["alone", [DUPLICATE]],
  ["after the batch had met another one", [MET, DUPLICATE]],
  ["of two different gateways", [DUPLICATE, MET, DUPLICATE]],
])("a row that another gateway has just added, %s, is looked at again and not refused", async (_, codes) => {
  const { batches, inserts } = batchesWith(codes);
  expect(await batches.write(insert)).toBe(1);
  expect(inserts()).toBe(codes.length + 1);
});

test("a batch that meets another one twenty times in a row is still written", async () => {
  const clock = createFakeClock();
  const { batches, inserts } = batchesWith(Array<string>(20).fill(MET), clock);
  let count = 0;
  const written = batches.write(insert).then((rows) => (count = rows));
  await advanceUntil({ clock, stepMs: 250 }, "the write", () => count === 1);
  await written;
  expect(inserts()).toBe(21);
});

test("a row that is there every time is refused after a few attempts, and the next write works", async () => {
  const { batches, inserts } = batchesWith(Array<string>(4).fill(DUPLICATE));
  await expect(batches.write(insert)).rejects.toMatchObject({ code: "store_failed" });
  expect([inserts(), await batches.write(insert)]).toEqual([4, 1]);
});
