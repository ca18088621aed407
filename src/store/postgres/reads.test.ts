/** Reads while connections are hard to have. The clock is a fake one: nobody waits. */
import { expect, test } from "bun:test";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { advanceUntil } from "../../testing/wait-for.ts";
import type { Connection } from "./connection.ts";
import type { Steps } from "../steps.ts";
import { createReads } from "./reads.ts";

const CONNECTION: Connection = {
  pid: 1,
  isPooled: false,
  ask: async () => ({ rows: [{ value: 1 }], count: 1 }),
  control: async () => undefined,
  isLost: () => false,
  lost: new Promise(() => undefined),
  close: async () => undefined,
};

function* one(): Steps<readonly unknown[]> {
  return (yield { text: "select 1 as value", values: [], name: null }).rows;
}

/** The server refuses so many connections, with this code. */
function fixture(refusals: number, code: string) {
  const clock = createFakeClock();
  let asked = 0;
  const connect = async (): Promise<Connection> => {
    if (asked++ < refusals) throw Object.assign(new Error("refused"), { code });
    return CONNECTION;
  };
  const reads = createReads({ clock, connect });
  const ends: unknown[] = [];
  reads.read(one).then(
    (rows) => ends.push(rows),
    (error: unknown) => ends.push(error),
  );
  return advanceUntil({ clock, stepMs: 100 }, "the read to end", () => ends[0]);
}

test("a read waits for a connection while the server has none to give", async () => {
  expect(await fixture(5, "53300")).toEqual([{ value: 1 }]);
});

test("a read fails when there is none for ten seconds, and at once for a reason that stays", async () => {
  expect(await fixture(Infinity, "53300")).toMatchObject({ code: "store_failed" });
  expect(await fixture(1, "28P01")).toMatchObject({ code: "store_failed" });
});
