/** What the record of tool calls promises, whatever database is under it. */
import { expect, test } from "bun:test";
import type { ToolOutcome } from "../../../contracts/tools/tool.ts";
import { intent, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function toolRecordPromises(open: () => Promise<StoreWorld>): void {
  test("a call that waits for the owner has not begun: its turn may be tried again, until it begins", async () => {
    await using world = await open();
    const { store } = world;
    await store.inbox.accept(row("in1", "a"));
    await store.turns.begin(turn("t1", "a", ["in1"]));
    await store.toolCalls.intend({ ...intent("c1", "t1", false), waiting: true });
    expect((await store.turns.begin(turn("t1", "a", ["in1"]))).unsafeToRetry).toBe(false);
    await store.toolCalls.begin("c1");
    expect((await store.turns.begin(turn("t1", "a", ["in1"]))).unsafeToRetry).toBe(true);
  });

  test("after a restart a call that ran is unknown, and one that waited was never run", async () => {
    await using world = await open();
    await world.store.toolCalls.intend(intent("ran", "t1", false));
    await world.store.toolCalls.intend({ ...intent("waited", "t1", false), waiting: true });
    const { toolCalls } = await world.reopen();
    const { items } = await toolCalls.list({}, { limit: 10 });
    expect(items.map(({ id, status }) => [id, status])).toEqual([
      ["waited", "blocked"],
      ["ran", "unknown"],
    ]);
  });

  test("an end is written once; what comes later changes nothing", async () => {
    await using world = await open();
    const { toolCalls } = world.store;
    await toolCalls.intend(intent("c1", "t1", true));
    await toolCalls.settle("c1", { status: "success", output: "first", ms: 1 });
    await toolCalls.settle("c1", { status: "error", output: "second", ms: 2 });
    expect((await toolCalls.list({}, { limit: 1 })).items[0]).toMatchObject({ status: "success", output: "first" });
  });

  test("one id in one scope is one call, unless it was refused", async () => {
    await using world = await open();
    const { toolCalls } = world.store;
    const again = (id: string, scope = "turn:t1") => ({ ...intent(id, "t1", true), callId: "same", scope });
    await toolCalls.refuse(again("refused"), { status: "blocked", output: "no" });
    await toolCalls.refuse(again("wrong"), { status: "error", output: "no" });
    await toolCalls.refuse(again("wrong again"), { status: "error", output: "no" });
    expect((await toolCalls.list({ status: "error" }, { limit: 5 })).items).toHaveLength(2);
    expect(await toolCalls.earlier("turn:t1", "same")).toBeNull();
    expect(await toolCalls.intend(again("first"))).toBe(true);
    expect(await toolCalls.intend(again("second"))).toBe(false);
    await toolCalls.intend(again("elsewhere", "principal:operator"));
    expect(await toolCalls.earlier("turn:t1", "same")).toMatchObject({ status: "running", paramsHash: "hash-first" });
  });

  test("a call that the owner denied is found by its id, also after a restart, and one that a rule refused is not", async () => {
    await using world = await open();
    const denial: ToolOutcome = { kind: "refused", code: "approval_denied", message: "no" };
    await world.store.toolCalls.intend({ ...intent("denied", "t1", false), waiting: true });
    await world.store.toolCalls.settle("denied", { status: "blocked", output: "no", reply: denial, ms: 1 });
    await world.store.toolCalls.refuse(intent("refused", "t1", false), { status: "blocked", output: "no" });
    expect(await world.store.toolCalls.earlier("turn:t1", "call-denied")).toMatchObject({ reply: denial });
    const { toolCalls } = await world.reopen();
    expect(await toolCalls.earlier("turn:t1", "call-denied")).toMatchObject({ status: "blocked", reply: denial });
    expect(await toolCalls.earlier("turn:t1", "call-refused")).toBeNull();
  });

  test("what a caller was told comes back as it was, also after a restart", async () => {
    await using world = await open();
    const reply: ToolOutcome = { kind: "ok", result: { content: [{ type: "text", text: "a" }], details: { b: [1] } } };
    await world.store.toolCalls.intend(intent("c1", "t1", false));
    await world.store.toolCalls.settle("c1", { status: "success", output: "a", reply, ms: 3 });
    const { toolCalls } = await world.reopen();
    expect(await toolCalls.earlier("turn:t1", "call-c1")).toEqual({
      tool: "echo",
      status: "success",
      paramsHash: "hash-c1",
      idempotent: false,
      output: "a",
      reply,
      elsewhere: false,
    });
  });

  test("a call of a previous process without an end is found under its id", async () => {
    await using world = await open();
    await world.store.toolCalls.intend(intent("c1", "t1", false));
    const { toolCalls } = await world.reopen();
    expect(await toolCalls.earlier("turn:t1", "call-c1")).toMatchObject({ status: "unknown", idempotent: false });
  });

  test("times of calls are told for one person and one tool, without the refused ones", async () => {
    await using world = await open();
    const { toolCalls } = world.store;
    for (const [n, at] of [10, 20, 30].entries()) await toolCalls.intend({ ...intent(`c${n}`, "t1", true), at });
    for (const status of ["blocked", "error"] as const)
      await toolCalls.refuse({ ...intent(status, "t1", true), at: 25 }, { status, output: "no" });
    await toolCalls.intend({ ...intent("other", "t1", true), at: 26, tool: "other" });
    const { principal } = intent("c", "t", true);
    expect(await toolCalls.timesSince({ principal, tool: "echo" }, 10)).toEqual([20, 30]);
  });

  test("old calls go with old audit entries, oldest first, as far as the first one that is young or has no end", async () => {
    await using world = await open();
    const { toolCalls, audit } = world.store;
    const ids = async () => (await toolCalls.list({}, { limit: 50 })).items.map(({ id }) => id);
    const prune = async (before: number) => {
      while ((await toolCalls.prune(before)) > 0);
    };
    for (const [n, at] of [1, 2, 3, 4, 90].entries()) {
      await audit.note({ kind: "sign_in", at, actor: "operator", subject: `s${n}`, detail: {} });
      await toolCalls.intend({ ...intent(`c${n}`, "t1", true), at });
      if (n !== 2) await toolCalls.settle(`c${n}`, { status: "success", output: "x", ms: 1 });
    }
    await prune(1);
    expect(await ids()).toEqual(["c4", "c3", "c2", "c1", "c0"]);
    await prune(50);
    expect(await ids()).toEqual(["c4", "c3", "c2"]);
    expect((await audit.list({ limit: 9 })).items.map(({ subject }) => subject)).toEqual(["s4", "s3"]);
    await toolCalls.settle("c2", { status: "success", output: "x", ms: 1 });
    await prune(100);
    expect([await ids(), (await audit.list({ limit: 9 })).items]).toEqual([[], []]);
    const store = await world.reopen();
    await store.toolCalls.intend(intent("next", "t1", true));
    expect((await store.toolCalls.list({}, { limit: 9 })).items.map(({ id }) => id)).toEqual(["next"]);
  });

  test("lists filter by session, tool, status and time, newest first, page after page, each row once", async () => {
    await using world = await open();
    const { toolCalls } = world.store;
    for (let n = 0; n < 12; n++) {
      const call = { ...intent(`c${n}`, "t1", true), at: 100 + Math.floor(n / 3), tool: n % 2 ? "odd" : "even" };
      if (n % 4 === 0) await toolCalls.refuse(call, { status: "blocked", output: "no" });
      else await toolCalls.intend({ ...call, sessionKey: sessionKey(n < 6 ? "a" : "b") });
      if (n % 4 === 1) await toolCalls.settle(call.id, { status: "success", output: "ok", ms: 5 });
      if (n % 4 === 2) await toolCalls.settle(call.id, { status: "error", output: "no", ms: 5 });
    }
    const ids = async (filter: Parameters<typeof toolCalls.list>[0], limit = 50) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await toolCalls.list(filter, cursor === undefined ? { limit } : { limit, cursor });
        found.push(...page.items.map(({ id }) => id.slice(1)));
        cursor = page.next;
      } while (cursor !== undefined);
      return found.join(" ");
    };
    expect(await ids({}, 5)).toBe("11 10 9 8 7 6 5 4 3 2 1 0");
    expect(await ids({ tool: "odd" }, 2)).toBe("11 9 7 5 3 1");
    expect(await ids({ status: "pending" })).toBe("11 7 3");
    expect(await ids({ status: "success", tool: "odd" })).toBe("9 5 1");
    expect(await ids({ status: "error" }, 1)).toBe("10 6 2");
    expect(await ids({ status: "blocked" })).toBe("8 4 0");
    expect(await ids({ sessionKey: sessionKey("b") })).toBe("11 10 9 7 6");
    expect(await ids({ sessionKey: sessionKey("b"), status: "error", tool: "even" })).toBe("10 6");
    expect(await ids({ since: 101, until: 103 }, 2)).toBe("8 7 6 5 4 3");
    await expect(toolCalls.list({}, { limit: 5, cursor: "nonsense" })).rejects.toMatchObject({ code: "bad_request" });
  });
}
