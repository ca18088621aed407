/** What the gate promises to whoever calls, on the way in: order, rows, one effect per id. How a tool runs is in run/run.test.ts. */
import { describe, expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import type { HookHandler, HookName } from "../contracts/plugin-hooks.ts";
import type { Tool, ToolPath } from "../contracts/tools/tool.ts";
import { NO_MASK } from "../kit/secret.ts";
import { OWNER, policy, PROGRAM, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { waitFor } from "../testing/wait-for.ts";

const echo = tool(async (_id, params) => says((params as { text: string }).text));

describe("the tool gate", () => {
  test("writes the row before the tool runs and its end afterwards", async () => {
    const seen: string[] = [];
    const world = toolWorld([
      tool(async (_id, params) => {
        seen.push(`rows before: ${world.rows.length}, ended: ${world.rows[0]?.end !== null}`);
        return says((params as { text: string }).text);
      }),
    ]);
    expect(await world.call({ text: "hi" })).toEqual({ kind: "ok", result: says("hi") });
    expect(seen).toEqual(["rows before: 1, ended: false"]);
    expect(world.last()?.end).toMatchObject({ status: "success", output: "hi" });
  });

  test("does not run a tool whose row cannot be written", async () => {
    let ran = false;
    const world = toolWorld([
      tool(async () => {
        ran = true;
        return says("");
      }),
    ]);
    world.store.failing = new Error("disk full");
    expect(await world.call({ text: "hi" })).toMatchObject({ kind: "failed", code: "tool_failed" });
    expect(ran).toBe(false);
  });

  test("refuses what does not fit the schema in words a model can act on, and leaves a row", async () => {
    const { rows, call } = toolWorld([echo]);
    const outcome = await call({ txt: 1 });
    expect(outcome).toMatchObject({ kind: "refused", code: "invalid_params" });
    expect(outcome.kind === "refused" && outcome.message).toContain("text");
    expect(rows[0]?.end?.status).toBe("error");
  });

  test.each([[null], [[]], ["x"], [7], [true]])("refuses parameters that are no object: %p", async (params) => {
    const free = tool(async () => says("ran"), { name: "free", parameters: { type: "object", properties: {} } });
    const world = toolWorld([free]);
    expect(await world.call(params as never, { tool: "free" })).toMatchObject({ code: "invalid_params" });
  });

  test("fills in the schema's defaults, and keeps a call as it is when a default does not fit", async () => {
    const seen: unknown[] = [];
    const parameters = (more: object) => ({
      type: "object",
      properties: { count: { type: "integer", default: 5 }, ...more },
    });
    const execute = async (_id: string, params: unknown) => (seen.push(params), says("ok"));
    const world = toolWorld([
      tool(execute, { name: "good", parameters: parameters({}) }),
      tool(execute, { name: "odd", parameters: parameters({ text: { type: "string", default: null } }) }),
    ]);
    await world.call({}, { tool: "good" });
    expect(world.last()?.intent.input).toEqual({ count: 5 });
    await world.call({}, { tool: "odd" });
    expect(seen).toEqual([{ count: 5 }, {}]);
  });

  test.each(["nope", "__proto__", "constructor", "toString"])(
    "refuses the unknown tool %s and names the ones there are",
    async (name) => {
      const { rows, call } = toolWorld([echo]);
      expect(await call({}, { tool: name })).toEqual({
        kind: "refused",
        code: "unknown_tool",
        message: `There is no tool called ${name}. The tools are: echo.`,
      });
      expect(rows[0]?.end?.status).toBe("error");
    },
  );

  test("keeps secrets out of the record, in what went in and in what came out", async () => {
    const world = toolWorld([echo]);
    await world.call({ text: "take s3cret-value" });
    expect([world.last()?.intent.input, world.last()?.end?.output]).toEqual([
      { text: "take [redacted]" },
      "take [redacted]",
    ]);
  });

  test("takes parameters under either spelling and refuses both at once", async () => {
    const parameters = { type: "object", properties: { file_path: { type: "string" } }, additionalProperties: false };
    const world = toolWorld([tool(async (_id, params) => says(JSON.stringify(params)), { parameters })]);
    expect(await world.call({ filePath: "a" })).toEqual({ kind: "ok", result: says('{"file_path":"a"}') });
    expect(await world.call({ filePath: "a", file_path: "b" })).toMatchObject({ code: "invalid_params" });
  });
});

test("a tool that no owner knows in this form asks anew, and is known once a call was approved", async () => {
  let accepted = 0;
  const review = { because: "it has changed", accepted: () => void accepted++ };
  const world = toolWorld([{ ...echo, review }]);
  expect(await world.call({ text: "hi" })).toMatchObject({ code: "approval_denied" });
  expect(accepted).toBe(0);
  world.approvals.answer = "once";
  expect(await world.call({ text: "hi" })).toMatchObject({ kind: "ok" });
  expect([accepted, world.approvals.asked.map(({ because, anew }) => [because, anew])]).toEqual([
    1,
    [
      ["it has changed", true],
      ["it has changed", true],
    ],
  ]);
});

describe("hooks before a call", () => {
  test("block it with their reason, and the tool does not run", async () => {
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", () => ({ block: "not on Sundays" }), "calendar");
    expect(await world.call({ text: "hi" })).toEqual({
      kind: "refused",
      code: "not_allowed",
      message: "not on Sundays",
    });
    expect(world.last()?.end).toMatchObject({ status: "blocked", output: "not on Sundays" });
  });

  test("rewrite its parameters, which are checked again afterwards", async () => {
    const world = toolWorld([echo]);
    const rewrite = { params: { text: "rewritten" } as unknown };
    world.hooks.on("before_tool_call", () => rewrite, "rewriter");
    expect(await world.call({ text: "hi" })).toEqual({ kind: "ok", result: says("rewritten") });
    expect(world.last()?.intent.input).toEqual({ text: "rewritten" });
    rewrite.params = { text: true };
    expect(await world.call({ text: "hi" })).toMatchObject({ code: "invalid_params" });
  });

  test("ask for the owner's word", async () => {
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", () => ({ requireApproval: true }), "careful");
    expect(await world.call({ text: "hi" })).toMatchObject({
      code: "approval_denied",
      message: "echo was not run. The owner did not approve it. Do not try the same call again.",
    });
    world.approvals.answer = "once";
    expect(await world.call({ text: "hi" })).toMatchObject({ kind: "ok" });
    expect(world.approvals.asked.map(({ shown }) => shown)).toEqual([{ text: "hi" }, { text: "hi" }]);
  });

  test("ask for the owner's word also when a plugin after them has no opinion", async () => {
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", () => ({ requireApproval: true }), "careful");
    world.hooks.on("before_tool_call", () => undefined, "indifferent");
    expect(await world.call({ text: "hi" })).toMatchObject({ code: "approval_denied" });
    expect(world.approvals.asked.map(({ because }) => because)).toEqual(["careful wants it"]);
  });

  test.each(["once", "deny"] as const)(
    "ask for the owner's word, and the recorded duration does not include the wait when the answer is %s",
    async (answer) => {
      const slow = tool(async () => {
        await world.clock.advance(7);
        return says("done");
      });
      const world = toolWorld([slow]);
      world.hooks.on("before_tool_call", () => ({ requireApproval: true }), "careful");
      const ended = Promise.withResolvers<typeof answer>();
      world.approvals.answer = ended.promise;
      const call = world.call({ text: "hi" });
      await waitFor("the question", () => world.approvals.asked.length === 1);
      await world.clock.advance(60_000);
      ended.resolve(answer);
      await call;
      await waitFor("the recorded end", () => world.last()?.end !== null);
      expect(world.last()?.end?.ms).toBe(answer === "once" ? 7 : 0);
    },
  );

  test("ask for the owner's word, and the model reads how long nobody gave it and what to do", async () => {
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", () => ({ requireApproval: true }), "careful");
    const ended = Promise.withResolvers<"expired">();
    world.approvals.answer = ended.promise;
    const call = world.call({ text: "hi" });
    await waitFor("the question", () => world.approvals.asked.length === 1);
    await world.clock.advance(600_000);
    ended.resolve("expired");
    expect(await call).toMatchObject({
      code: "approval_denied",
      message: expect.stringMatching(/Nobody answered within 10 minutes\. .*tell the person/),
    });
  });

  test("may want several things at once, and get all of them", async () => {
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", () => ({ params: { text: "changed" }, requireApproval: true }), "both");
    expect(await world.call({ text: "hi" })).toMatchObject({ code: "approval_denied" });
    world.approvals.answer = "once";
    expect(await world.call({ text: "hi" })).toEqual({ kind: "ok", result: says("changed") });
    world.hooks.on("before_tool_call", () => ({ params: { text: "x" }, block: "no" }) as never, "strict");
    expect(await world.call({ text: "hi" })).toMatchObject({ code: "not_allowed", message: "no" });
  });

  test.each([
    [undefined, "ok"],
    [null, "ok"],
    [{}, "ok"],
    [{ block: false }, "ok"],
    [{ block: true }, "refused"],
    [{ block: null }, "refused"],
    [{ blocked: true }, "refused"],
    [true, "refused"],
    ["no", "refused"],
    [{ params: { text: () => "code" } }, "refused"],
  ])("that answer %p leave it %s, with a row", async (answer, kind) => {
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", () => answer as never, "loose");
    expect((await world.call({ text: "hi" })).kind).toBe(kind as "ok");
    expect(world.last()?.end?.status).toBe(kind === "ok" ? "success" : "blocked");
  });

  test("cannot change what was checked after it was checked", async () => {
    const given = { text: "hi" };
    const held: object[] = [given];
    const world = toolWorld([{ ...echo, limit: { calls: 5, perMs: 60_000, durable: true } }]);
    world.hooks.on("before_tool_call", ({ params }) => (held.push(params as object), { params: given }), "holder");
    world.hooks.on("before_tool_call", ({ params }) => void held.push(params as object), "watcher");
    const { timesSince } = world.store;
    world.store.timesSince = (...asked) => {
      for (const one of held) Object.assign(one, { text: 7 }); // the schema has been asked by now
      return timesSince(...asked);
    };
    expect(await world.call({ text: "asked" })).toEqual({ kind: "ok", result: says("hi") });
  });

  test("that throw, or do not answer within 15 s, have said no", async () => {
    const world = toolWorld([echo]);
    world.hooks.on("before_tool_call", () => Promise.reject(new Error("broken")), "broken");
    expect(await world.call({ text: "hi" })).toMatchObject({ kind: "refused", code: "not_allowed" });
    const other = toolWorld([echo]);
    other.hooks.on("before_tool_call", () => new Promise(() => undefined), "silent");
    const outcome = other.call({ text: "hi" });
    await other.clock.advance(15_000);
    expect(await outcome).toMatchObject({ kind: "refused", code: "not_allowed" });
  });

  test("come before the rules: what a hook turned it into is what must be allowed", async () => {
    const world = toolWorld([echo]);
    world.hooks.on(
      "before_tool_call",
      () => {
        world.rules.now = policy({ deny: ["echo"] });
      },
      "slow",
    );
    expect(await world.call({ text: "hi" })).toMatchObject({ code: "not_allowed" });
  });
});

const SECRET = "operator-token-42";
const mask = { ...NO_MASK, text: (text: string) => text.replaceAll(SECRET, "[redacted]") };

function toldOf({ hooks }: ReturnType<typeof toolWorld>, name: HookName): readonly unknown[] {
  return hooks.told.flatMap((one) => (one.name === name ? [one.event] : []));
}

describe("hooks after a call", () => {
  test.each([
    ["a result", { text: "hi" }, { kind: "ok", result: { ...says("hi"), details: { text: "hi" } } }],
    ["an error", { text: "fail" }, { kind: "failed", code: "tool_failed", message: "fail" }],
  ] as const)("may rewrite what is kept of %s; the caller gets the real one", async (_what, params, real) => {
    const world = toolWorld([
      tool(async (_id, given) => {
        const { text } = given as { text: string };
        if (text === "fail") throw new Error(text);
        return { ...says(text), details: { text } };
      }),
    ]);
    world.hooks.on("tool_result_persist", ({ output, isError }) => ({ output: `${output} ${isError}` }), "marker");
    const isError = real.kind === "failed";
    const kept = `${params.text} ${isError}`;
    expect(await world.call(params)).toEqual({ ...real, kept });
    expect(world.last()?.end).toMatchObject({ status: isError ? "error" : "success", output: kept });
    expect(JSON.stringify(world.last()?.end)).not.toContain("details");
    const [seen, told] = [toldOf(world, "after_tool_call"), toldOf(world, "tool_execution_end")];
    expect(seen).toMatchObject([isError ? { error: "fail" } : { result: { details: { text: "hi" } } }]);
    expect(told).toMatchObject([isError ? { error: kept } : { result: says(kept) }]);
    expect(await world.call(params, { path: "http", callId: "again" })).toEqual(real);
  });

  test("that rewrite nothing leave everything as it is", async () => {
    const world = toolWorld([tool(async () => ({ ...says("hi"), details: { n: 1 } }))]);
    world.hooks.on("tool_result_persist", ({ output }) => ({ output }), "reader");
    expect(await world.call({ text: "hi" })).toEqual({ kind: "ok", result: { ...says("hi"), details: { n: 1 } } });
    expect(world.last()?.end).toMatchObject({ output: "hi", reply: { result: { details: { n: 1 } } } });
  });

  test.each([
    ["that ran", { text: "hi" }, { status: "success", params: { text: "hi" }, result: says("hi"), error: null }],
    ["that failed", { text: "fail" }, { status: "error", params: { text: "fail" }, result: null, error: "no city" }],
    ["that was refused", {}, { status: "error", params: {}, result: null, error: expect.stringContaining("missing") }],
  ])("are told the parameters and the end of a call %s", async (_what, params, told) => {
    const world = toolWorld([
      tool(async (_id, given) => {
        const { text } = given as { text: string };
        if (text === "fail") throw new Error("no city");
        return says(text);
      }),
    ]);
    await world.call(params);
    expect(toldOf(world, "after_tool_call")).toMatchObject([{ tool: "echo", ...told }]);
    expect(toldOf(world, "tool_execution_end")).toMatchObject([{ tool: "echo", ...told }]);
  });

  test.each(["ran", "failed", "was refused"])(
    "are told the start and the end of a call that %s without secrets, as events are",
    async (end) => {
      const world = toolWorld(
        [
          tool(async (_id, params) => {
            const { text } = params as { text: string };
            if (end === "failed") throw new Error(text);
            return { ...says(text), details: { [text]: text } };
          }),
        ],
        { mask },
      );
      if (end === "was refused") world.hooks.on("before_tool_call", () => ({ block: `not ${SECRET}` }), "guard");
      const events: unknown[] = [];
      world.events.on("tool_execution_start", (event) => void events.push(event));
      world.events.on("tool_execution_end", (event) => void events.push(event));
      await world.call({ text: `say ${SECRET}` });
      const told = [...toldOf(world, "tool_execution_start"), ...toldOf(world, "tool_execution_end")];
      expect(told).toEqual(events);
      expect(told).toHaveLength(end === "was refused" ? 1 : 2);
      for (const event of told) expect(event).toMatchObject({ params: { text: "say [redacted]" } });
      const said = { ran: null, failed: "say [redacted]", "was refused": "not [redacted]" }[end];
      expect(told.at(-1)).toMatchObject({ error: said as never });
      expect(JSON.stringify(told)).not.toContain(SECRET);
    },
  );

  test("cannot change what runs through the parameters that they are shown", async () => {
    const world = toolWorld([echo]);
    world.events.on("tool_execution_start", ({ params }) => void Object.assign(params as object, { text: "changed" }));
    expect(await world.call({ text: "hi" })).toEqual({ kind: "ok", result: says("hi") });
  });

  test("that fail to check a result keep nothing of it", async () => {
    const world = toolWorld([echo]);
    world.hooks.on("tool_result_persist", () => Promise.reject(new Error("broken")), "masker");
    expect(await world.call({ text: "hi" })).toMatchObject({ kind: "ok", result: says("hi") });
    expect(world.last()?.end?.output).toBe("[withheld: masker could not check this result]");
  });

  test.each([{ outptu: "x" }, { output: 5 }, "x", false])(
    "that answer %p keep nothing of the result",
    async (answer) => {
      const world = toolWorld([echo]);
      world.hooks.on("tool_result_persist", (() => answer) as HookHandler<"tool_result_persist">, "masker");
      await world.call({ text: "hi" });
      expect(world.last()?.end?.output).toBe("[withheld: masker could not check this result]");
    },
  );
});

describe("a call id", () => {
  test("is one effect, however many come with it at once", async () => {
    let effects = 0;
    const open = Promise.withResolvers<void>();
    const world = toolWorld([
      tool(async () => {
        effects++;
        await open.promise;
        return says("done");
      }),
    ]);
    const all = Array.from({ length: 50 }, () => world.call({ text: "x" }, { callId: "same" }));
    await world.clock.advance(1);
    open.resolve();
    expect(new Set((await Promise.all(all)).map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect([effects, world.rows.length]).toEqual([1, 1]);
  });

  test("that was used before gets the same answer again, without a second effect", async () => {
    let effects = 0;
    const world = toolWorld([tool(async () => ({ ...says(`effect ${++effects}`), details: { effects } }))]);
    const first = await world.call({ text: "x" }, { callId: "same" });
    expect(await world.call({ text: "x" }, { callId: "same" })).toEqual(first);
    expect([effects, world.rows.length]).toEqual([1, 1]);
  });

  test("is taken until the end of its call is on record: a repeat gets the same answer, and a stop waits for the record", async () => {
    let effects = 0;
    const world = toolWorld([tool(async () => says(`effect ${++effects}`))]);
    const written = Promise.withResolvers<void>();
    const { settle } = world.store;
    world.store.settle = async (...end) => (await written.promise, settle(...end));
    const first = await world.call({ text: "x" }, { callId: "same" });
    expect(await world.call({ text: "x" }, { callId: "same" })).toEqual(first);
    let stopped = false;
    const stop = Promise.resolve(world.gate[Symbol.asyncDispose]()).then(() => (stopped = true));
    await world.clock.advance(1);
    expect([effects, world.rows.length, stopped]).toEqual([1, 1, false]);
    written.resolve();
    await stop;
  });

  test("with other parameters, or for another tool, is refused and leaves a row", async () => {
    const world = toolWorld([echo, tool(async () => says(""), { name: "other" })]);
    await world.call({ text: "x" }, { callId: "same" });
    expect(await world.call({ text: "y" }, { callId: "same" })).toMatchObject({ code: "call_conflict" });
    expect(await world.call({ text: "x" }, { callId: "same", tool: "other" })).toMatchObject({ code: "call_conflict" });
    expect(world.rows.map(({ end }) => end?.status)).toEqual(["success", "error", "error"]);
  });

  test("in another turn, or of another person outside of turns, is another call", async () => {
    const world = toolWorld([echo]);
    const turn = { ...OWNER, turnId: "turn_2" as typeof OWNER.turnId };
    const program = { ...PROGRAM, principal: "key:second" as typeof PROGRAM.principal };
    for (const context of [OWNER, turn, PROGRAM, program]) await world.call({ text: "x" }, { callId: "same", context });
    expect(world.rows.map(({ end }) => end?.status)).toEqual(["success", "success", "success", "success"]);
  });

  test("that was refused may be used again", async () => {
    const world = toolWorld([echo]);
    expect(await world.call({ text: true }, { callId: "same" })).toMatchObject({ kind: "refused" });
    expect(await world.call({ text: "x" }, { callId: "same" })).toMatchObject({ kind: "ok" });
  });

  test("whose outcome nobody knows is not run again, unless the tool says that it may", async () => {
    let effects = 0;
    const count = async () => says(`effect ${++effects}`);
    const world = toolWorld([tool(count), tool(count, { name: "safe", flags: { idempotent: true } })]);
    for (const name of ["echo", "safe"]) await world.call({ text: "x" }, { callId: name, tool: name });
    for (const row of world.rows) row.end = { status: "unknown", output: "", ms: 0 };
    expect(await world.call({ text: "x" }, { callId: "echo" })).toMatchObject({ code: "outcome_unknown" });
    expect(await world.call({ text: "x" }, { callId: "safe", tool: "safe" })).toMatchObject({ kind: "ok" });
    expect(effects).toBe(3);
  });

  test("is cancelled only when the last who waits for it has gone", async () => {
    const told: boolean[] = [];
    const world = toolWorld([
      tool((_id, _params, signal) => {
        signal.addEventListener("abort", () => told.push(true));
        return new Promise(() => undefined);
      }),
    ]);
    const [one, two] = [new AbortController(), new AbortController()];
    const first = world.call({ text: "x" }, { callId: "same" }, one.signal);
    const second = world.call({ text: "x" }, { callId: "same" }, two.signal);
    await world.clock.advance(1);
    one.abort();
    expect([await first, told]).toEqual([
      { kind: "failed", code: "cancelled", message: "The call was cancelled." },
      [],
    ]);
    two.abort();
    await world.clock.advance(250);
    expect([await second, told]).toMatchObject([{ code: "cancelled" }, [true]]);
  });
});

describe("a secret in what a call ends with", () => {
  const ends: Readonly<Record<string, Tool["execute"]>> = {
    result: async () => ({ content: [{ type: "text", text: `it is ${SECRET}` }], details: { deep: [SECRET] } }),
    error: async () => {
      throw new Error(`GET https://api.example/bot${SECRET} failed`);
    },
    progress: async (_id, _params, _signal, onUpdate) => {
      onUpdate(says(`now ${SECRET}`));
      return says("done");
    },
  };
  /** Every wire there is: a new one has to say here who reads it. */
  const READERS: Readonly<Record<Exclude<ToolPath, "pi">, "model" | "people">> = {
    pipe: "model",
    http: "people",
    socket: "people",
    command: "people",
    reply: "people",
    mcp: "people",
  };

  test.each(Object.entries(READERS))(
    "over %s, read by %s, is masked, but for results that a model works on with",
    async (path, reader) => {
      for (const [name, execute] of Object.entries(ends)) {
        const updates: unknown[] = [];
        const world = toolWorld([tool(execute)], { mask });
        const onUpdate = (partial: unknown) => void updates.push(partial);
        const outcome = await world.call({ text: "x" }, { path: path as ToolPath, onUpdate });
        const seen = JSON.stringify([outcome, updates]);
        const raw = reader === "model" && name !== "error";
        expect([name, seen.includes(SECRET), seen.includes("[redacted]")]).toEqual([name, raw, !raw]);
      }
    },
  );

  test("is masked in a refusal, for everybody, and in the name under which a call is written down", async () => {
    const scrub = mask.text;
    for (const path of Object.keys(READERS) as ToolPath[]) {
      const world = toolWorld([echo], { mask, scrub });
      const outcome = await world.call({}, { tool: `try_${SECRET}`, path });
      expect(outcome).toMatchObject({ kind: "refused", message: expect.stringContaining("try_[redacted]") });
      expect(JSON.stringify(world.rows.map(({ intent }) => intent.tool))).toBe('["try_[redacted]"]');
    }
  });

  test("is masked in what the owner is asked", async () => {
    const world = toolWorld([echo], { mask, scrub: mask.text });
    world.hooks.on("before_tool_call", () => ({ requireApproval: true }), `guard-${SECRET}`);
    await world.call({ text: SECRET }, { callId: `c-${SECRET}` });
    expect(world.approvals.asked).toHaveLength(1);
    const { caller: _caller, ...shown } = world.approvals.asked[0] as { caller: unknown };
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });
});

test("a call id belongs to its caller: two programs that use the same one at the same moment both run", async () => {
  const letGo = Promise.withResolvers<void>();
  const ran: string[] = [];
  const slow = tool(async (...[, params, , , context]) => {
    ran.push(`${context.principal} ${(params as { text: string }).text}`);
    await letGo.promise;
    return says("done");
  });
  const world = toolWorld([slow]);
  const of = (name: string) => ({ ...PROGRAM, principal: `key:user:${name}` as Principal });
  const calls = ["a", "b"].map((name) =>
    world.call({ text: name }, { callId: "same", path: "mcp", context: of(name) }),
  );
  await waitFor("both calls", () => ran.length === 2);
  letGo.resolve();
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(["ok", "ok"]);
  expect(ran).toEqual(["key:user:a a", "key:user:b b"]);
});

test("a tool of the gateway with the name of a pi tool is not let run by pi", async () => {
  const world = toolWorld([tool(async () => says("of the gateway"), { name: "read" })]);
  world.rules.now = policy({ profile: () => "workspace" });
  const request = { tool: "read", callId: "c1", params: { path: "a" }, path: "pi", context: OWNER } as const;
  expect(await world.gate.admit(request, new AbortController().signal)).toEqual({
    kind: "refused",
    code: "not_allowed",
    message: "read is not one of this agent's tools.",
  });
});
