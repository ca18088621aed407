/** The same call at two gateways on one Postgres database: it runs at one of them, and both callers are told how it ended. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { systemClock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";
import { systemIds } from "../kit/ids.ts";
import { createPostgresWorlds } from "../testing/postgres/store-world.ts";
import { testPostgres } from "../testing/postgres/database.ts";
import { PROGRAM, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { waitFor } from "../testing/wait-for.ts";
import type { Tool } from "../contracts/tools/tool.ts";

setDefaultTimeout(30_000);

const SAME = { callId: "same", path: "http", context: PROGRAM } as const;
const TEXT = { text: "x" };

describe.skipIf((await testPostgres()) === null)("a tool call at two gateways", () => {
  const worlds = createPostgresWorlds();
  afterAll(() => worlds[Symbol.asyncDispose]());

  async function twoGates(tools: (gateway: string) => Tool) {
    const world = await worlds.open();
    const stores = { first: world.store, second: await world.openSecond() };
    const gateAt = (name: keyof typeof stores) =>
      toolWorld([tools(name)], { store: stores[name].toolCalls, clock: systemClock, ids: systemIds });
    return {
      first: gateAt("first"),
      second: gateAt("second"),
      stores,
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    };
  }

  test("a call that has ended at one gateway is not run at another one, which tells the same result", async () => {
    const runs: string[] = [];
    await using gates = await twoGates((name) => tool(async () => (runs.push(name), says(`by ${name}`))));
    const told = await gates.first.call(TEXT, SAME);
    expect(told).toMatchObject({ kind: "ok", result: says("by first") });
    expect(await gates.second.call(TEXT, SAME)).toEqual(told);
    expect(runs).toEqual(["first"]);
    expect(await gates.second.call({ text: "y" }, SAME)).toMatchObject({ kind: "refused", code: "call_conflict" });
  });

  test("a call that runs at one gateway is waited for at another one", async () => {
    const runs: string[] = [];
    const end = deferred<void>();
    await using gates = await twoGates((name) =>
      tool(async () => {
        runs.push(name);
        await end.promise;
        return says(`by ${name}`);
      }),
    );
    const first = gates.first.call(TEXT, SAME);
    await waitFor("the call to run", () => runs.length === 1);
    let hasAnswered = false;
    const second = gates.second.call(TEXT, SAME).finally(() => (hasAnswered = true));
    await gates.stores.second.toolCalls.list({}, { limit: 1 }); // behind the look for the earlier call
    expect(hasAnswered).toBe(false);
    end.resolve();
    expect(await second).toEqual(await first);
    expect(await second).toMatchObject({ result: says("by first") });
    expect(runs).toEqual(["first"]);
  });

  test("a call that comes to two gateways at the same moment runs at one of them, and the owner is asked once", async () => {
    const runs: string[] = [];
    await using gates = await twoGates((name) =>
      tool(async () => (runs.push(name), says(`by ${name}`)), { approval: true }),
    );
    gates.first.approvals.answer = gates.second.approvals.answer = "once";
    for (let round = 0; round < 4; round++) {
      runs.length = 0;
      const same = { ...SAME, path: "command", callId: `same ${round}` } as const;
      const told = await Promise.all([gates.first.call(TEXT, same), gates.second.call(TEXT, same)]);
      expect(told[0]).toEqual(told[1]);
      expect(told[0]).toMatchObject({ kind: "ok", result: says(`by ${runs[0]}`) });
      expect(runs).toHaveLength(1);
      expect(gates.first.approvals.asked.length + gates.second.approvals.asked.length).toBe(round + 1);
    }
  });

  test("a program is told at once that its call waits for the owner at another gateway, and whoever leaves does not cancel it there", async () => {
    const owner = deferred<"once">();
    await using gates = await twoGates((name) => tool(async () => says(`by ${name}`), { approval: true }));
    gates.first.approvals.answer = owner.promise;
    const patient = { ...SAME, path: "command" } as const;
    const first = gates.first.call(TEXT, patient);
    await waitFor("the question", () => gates.first.approvals.asked.length === 1);
    expect(await gates.second.call(TEXT, SAME)).toMatchObject({ kind: "pending", code: "approval_pending" });
    const leaving = new AbortController();
    const left = gates.second.call(TEXT, { ...patient, callId: SAME.callId }, leaving.signal);
    leaving.abort(new Error("gone"));
    expect(await left).toMatchObject({ kind: "failed", code: "cancelled" });
    owner.resolve("once");
    expect(await first).toMatchObject({ kind: "ok", result: says("by first") });
    expect(gates.second.approvals.asked).toEqual([]);
  });

  test("a call whose gateway died is told as unknown by the one that takes over, and is not run again", async () => {
    const runs: string[] = [];
    const never = deferred<void>();
    await using gates = await twoGates((name) =>
      tool(async () => {
        runs.push(name);
        await never.promise;
        return says("late");
      }),
    );
    void gates.first.call(TEXT, SAME).catch(() => undefined); // its gateway is gone before it ends
    await waitFor("the call to run", () => runs.length === 1);
    const second = gates.second.call(TEXT, SAME);
    await gates.stores.first[Symbol.asyncDispose]();
    await gates.stores.second.nodes.takeOver();
    expect(await second).toMatchObject({ kind: "refused", code: "outcome_unknown" });
    expect(runs).toEqual(["first"]);
    never.resolve();
  });
});
