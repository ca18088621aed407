/** Every way a call can end: the envelope, the audit row, the hooks and the metrics say the same, and each says it once. */
import { expect, test } from "bun:test";
import { startCounts } from "../observe/metrics/counts.ts";
import { MEMBER, OWNER, policy, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { ENVELOPE_STATUS, UNCHECKED_RESULT } from "../contracts/tools/envelope.ts";
import type { ToolOutcome } from "../contracts/tools/tool.ts";
import { waitForEnd } from "../testing/wait-for.ts";

type World = ReturnType<typeof toolWorld>;
type Status = "success" | "error" | "blocked";
interface Way {
  readonly way: string;
  readonly status: Status;
  world(): World;
  run(world: World): Promise<ToolOutcome | null>;
}

const TEXT = { text: "x" };
const echo = tool(async () => says("done"));
const untilStopped = tool(
  (_id, _params, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
);
const asking = () => toolWorld([tool(echo.execute, { approval: true })]);

async function inTime(world: World, calling: Promise<ToolOutcome>): Promise<ToolOutcome> {
  let over = false;
  void calling.then(() => (over = true));
  for (let rounds = 0; !over && rounds < 100; rounds++) await world.clock.advance(1_000);
  return calling;
}

async function cancelled(world: World): Promise<ToolOutcome> {
  const stop = new AbortController();
  const calling = world.call(TEXT, {}, stop.signal);
  await world.clock.advance(1);
  stop.abort(new Error("stopped"));
  return inTime(world, calling);
}

const admitted = async (world: World, end: "ended" | "not_allowed" | "invalid_params"): Promise<null> => {
  world.rules.now = policy({ profile: () => "workspace" });
  const request = { tool: "read", callId: "c1", params: { path: "a" }, path: "pi", context: OWNER } as const;
  const going = await world.gate.admit(request, new AbortController().signal);
  if (going.kind !== "go") throw new Error("not admitted");
  if (end === "ended") await going.ended({ isError: true, output: "no such file" });
  else await going.refused({ kind: "refused", code: end, message: "no" });
  return null;
};

const away = (reason: "unreadable" | "outside_turn" | "refused_by_agent") => async (world: World) => {
  world.gate.recordRejected({ tool: "echo", callId: "c1", path: "pipe", context: OWNER, reason, because: "no" });
  return null;
};

const WAYS: readonly Way[] = [
  { way: "a result", status: "success", world: () => toolWorld([echo]), run: (world) => world.call(TEXT) },
  {
    way: "an error",
    status: "error",
    world: () => toolWorld([tool(() => Promise.reject(new Error("no")))]),
    run: (world) => world.call(TEXT),
  },
  {
    way: "a result that says it is an error",
    status: "error",
    world: () => toolWorld([tool(async () => ({ ...says("no"), isError: true }))]),
    run: (world) => world.call(TEXT),
  },
  { way: "invalid parameters", status: "error", world: () => toolWorld([echo]), run: (world) => world.call({}) },
  { way: "no parameters at all", status: "error", world: () => toolWorld([echo]), run: (world) => world.call(null) },
  {
    way: "an unknown tool",
    status: "error",
    world: () => toolWorld([echo]),
    run: (world) => world.call(TEXT, { tool: "nosuch" }),
  },
  {
    way: "a rule that denies it",
    status: "blocked",
    world: () => toolWorld([tool(echo.execute, { flags: { idempotent: true, ownerOnly: true } })]),
    run: (world) => world.call(TEXT, { context: MEMBER }),
  },
  {
    way: "a hook that blocks it",
    status: "blocked",
    world() {
      const world = toolWorld([echo]);
      world.hooks.on("before_tool_call", () => ({ block: "no" }), "guard");
      return world;
    },
    run: (world) => world.call(TEXT),
  },
  { way: "an owner who denies it", status: "blocked", world: asking, run: (world) => world.call(TEXT) },
  {
    way: "an owner who does not answer",
    status: "blocked",
    world() {
      const world = asking();
      world.approvals.answer = "expired";
      return world;
    },
    run: (world) => world.call(TEXT),
  },
  { way: "a cancel while it runs", status: "error", world: () => toolWorld([untilStopped]), run: cancelled },
  {
    way: "a time limit",
    status: "error",
    world: () => toolWorld([tool(() => new Promise(() => undefined), { timeoutMs: 1_000 })]),
    run: (world) => inTime(world, world.call(TEXT)),
  },
  {
    way: "the background",
    status: "success",
    world: () =>
      toolWorld([
        tool(
          async (_id, _params, _signal, onUpdate) => {
            onUpdate(says("begun"));
            return says("done");
          },
          { flags: { idempotent: true, background: true } },
        ),
      ]),
    async run(world) {
      await world.call(TEXT);
      await world.clock.advance(1_000);
      return null;
    },
  },
  {
    way: "an error of a pi tool",
    status: "error",
    world: () => toolWorld([]),
    run: (world) => admitted(world, "ended"),
  },
  {
    way: "a place where a pi tool may not go",
    status: "blocked",
    world: () => toolWorld([]),
    run: (world) => admitted(world, "not_allowed"),
  },
  {
    way: "parameters that a pi tool cannot use",
    status: "error",
    world: () => toolWorld([]),
    run: (world) => admitted(world, "invalid_params"),
  },
  { way: "a call that nobody can read", status: "error", world: () => toolWorld([echo]), run: away("unreadable") },
  { way: "a call outside of a turn", status: "blocked", world: () => toolWorld([echo]), run: away("outside_turn") },
  {
    way: "a refusal of the agent itself",
    status: "error",
    world: () => toolWorld([echo]),
    run: away("refused_by_agent"),
  },
];

/** Every write takes some turns of the event loop; `open` counts those that have begun and are not on the disk. */
function onSlowDisk({ store }: World): { open: number } {
  const disk = { open: 0 };
  for (const name of ["intend", "begin", "refuse", "settle"] as const) {
    const write = store[name] as (...given: readonly unknown[]) => Promise<unknown>;
    const slowly = async (...given: readonly unknown[]): Promise<unknown> => {
      disk.open++;
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      const written = await write(...given);
      disk.open--;
      return written;
    };
    Object.assign(store, { [name]: slowly });
  }
  return disk;
}

/** The end of a tool that ran is told before it is written: whoever waits for it is not kept. */
const NEVER_RAN = WAYS.filter(({ status, way }) => status === "blocked" && !way.includes("outside of a turn"));

test.each(NEVER_RAN.map((way) => [way.way, way] as const))(
  "a caller whose call ends with %s is told so when it is on the disk",
  async (_name, { world: made, run }) => {
    const world = made();
    const disk = onSlowDisk(world);
    await run(world);
    expect([disk.open, world.rows.length]).toEqual([0, 1]);
    await world.gate[Symbol.asyncDispose]();
  },
);

test.each([false, true])("a tool begins when its row is on the disk, asked for before: %p", async (approval) => {
  const begun: unknown[] = [];
  const world = toolWorld([
    tool(
      async () => {
        begun.push([disk.open, world.last()?.begun]);
        return says("done");
      },
      { approval },
    ),
  ]);
  const disk = onSlowDisk(world);
  const asked: unknown[] = [];
  world.approvals.ask = async () => {
    asked.push([disk.open, world.last()?.begun]);
    return "once";
  };
  await world.call(TEXT);
  expect(begun).toEqual([[0, true]]);
  expect(asked).toEqual(approval ? [[0, false]] : []); // so that what an owner was asked survives a crash
  await world.gate[Symbol.asyncDispose]();
  expect(disk.open).toBe(0); // the stop waits for what is being written
});

test("a pi tool is let go when its row is on the disk, and a second call under its id is refused when that is on the disk", async () => {
  const world = toolWorld([]);
  world.rules.now = policy({ profile: () => "workspace" });
  const disk = onSlowDisk(world);
  const request = { tool: "read", callId: "c1", params: { path: "a" }, path: "pi", context: OWNER } as const;
  const never = new AbortController().signal;
  const going = await world.gate.admit(request, never);
  expect([going.kind, disk.open, world.rows.length]).toEqual(["go", 0, 1]);
  expect(await world.gate.admit(request, never)).toMatchObject({ kind: "refused", code: "call_conflict" });
  expect([disk.open, world.rows.length]).toEqual([0, 2]);
});

test.each([
  ["is withheld where plugins check results", true, UNCHECKED_RESULT],
  ["stays as it is where none does", false, null],
])("the output of a tool of pi whose call was cancelled %s", async (_what, checks, kept) => {
  const world = toolWorld([]);
  world.rules.now = policy({ profile: () => "workspace" });
  if (checks) world.hooks.on("tool_result_persist", ({ output }) => ({ output }), "careful");
  const request = { tool: "read", callId: "c1", params: { path: "a" }, path: "pi", context: OWNER } as const;
  const turn = new AbortController();
  const going = await world.gate.admit(request, turn.signal);
  if (going.kind !== "go") throw new Error("not admitted");
  turn.abort(new Error("stopped"));
  expect(await going.ended({ isError: false, output: "what it read" })).toEqual({ kept });
  expect(world.last()?.end).toMatchObject({ status: "error" });
});

test.each(WAYS.map((way) => [way.way, way] as const))(
  "a call that ends with %s has one row, one end and one count, with the status of its envelope",
  async (_name, { status, world: made, run }) => {
    const world = made();
    const counts = startCounts(world);
    const ends: unknown[] = [];
    world.events.on("tool_execution_end", (event) => void ends.push(event.status));
    const outcome = await run(world);
    await world.gate[Symbol.asyncDispose]();
    if (outcome && outcome.kind !== "ok") expect(ENVELOPE_STATUS[outcome.code] as string).toBe(status);
    expect(world.rows.map(({ end }) => end?.status as string)).toEqual([status]);
    expect(ends).toEqual([status]);
    const counted = [...counts.tools.values()].map(({ success, error, blocked }) => ({ success, error, blocked }));
    expect(counted).toEqual([{ success: 0, error: 0, blocked: 0, [status]: 1 }]);
  },
);

test("a call keeps its slot until plugins have looked at its result", async () => {
  const world = toolWorld([echo]);
  world.rules.now = policy({ maxTotal: 1 });
  const looked = Promise.withResolvers<void>();
  let isFirst = true;
  const slowAtFirst = async (): Promise<undefined> => {
    if (isFirst) {
      isFirst = false;
      await looked.promise;
    }
  };
  world.hooks.on("tool_result_persist", slowAtFirst, "slow");
  const first = world.call(TEXT);
  await world.clock.advance(0);
  let second = "waits";
  const other = world.call(TEXT).then(() => (second = "ended"));
  await world.clock.advance(0);
  expect(second).toBe("waits");
  looked.resolve();
  await Promise.all([first, other]);
});

/** The call is judged, and its row is not on the disk yet; what is given happens then. */
async function whileItsRowIsWritten(world: ReturnType<typeof toolWorld>, happens: () => void): Promise<void> {
  const { intend } = world.store;
  const asked = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  world.store.intend = async (...row) => (asked.resolve(), await written.promise, intend(...row));
  await waitForEnd("the row", asked.promise);
  happens();
  await world.clock.advance(0);
  written.resolve();
}

test.each(["its turn ends", "its caller loses the right to it"])(
  "a tool does not begin when %s while its row is written",
  async (what) => {
    let runs = 0;
    const world = toolWorld([tool(async () => (runs++, says("done")))]);
    const turn = new AbortController();
    const happens = () =>
      what === "its turn ends"
        ? turn.abort(new Error("stopped"))
        : world.rights.change({ kind: "lost", because: "unknown_sender", tell: true });
    const during = whileItsRowIsWritten(world, happens);
    const outcome = world.call({ text: "hi" }, {}, turn.signal);
    await during;
    expect(await outcome).toMatchObject({ kind: "failed", code: "cancelled" });
    expect([runs, world.rows.map(({ end }) => end?.status)]).toEqual([0, ["error"]]);
  },
);

test("a pi tool whose turn ends while its row is written is not let go, has an end on record, and its id is free", async () => {
  const world = toolWorld([]);
  world.rules.now = policy({ profile: () => "workspace" });
  const turn = new AbortController();
  const during = whileItsRowIsWritten(world, () => turn.abort(new Error("stopped")));
  const request = { tool: "read", callId: "same", params: { path: "a" }, path: "pi", context: OWNER } as const;
  const admission = world.gate.admit(request, turn.signal);
  await during;
  expect(await waitForEnd("the admission", admission)).toMatchObject({ kind: "failed", code: "cancelled" });
  expect(world.rows.map(({ end }) => end?.status)).toEqual(["error"]);
  expect(await world.call(request.params, { ...request, path: "pipe" })).not.toMatchObject({ code: "call_conflict" });
});

test("a call that is cancelled before it is judged asks nobody, counts for no limit and does not run", async () => {
  let runs = 0;
  const world = toolWorld([tool(async () => (runs++, says("done")), { approval: true })]);
  world.approvals.answer = "once";
  const outcome = await world.call({ text: "hi" }, {}, AbortSignal.abort(new Error("stopped")));
  expect(outcome).toMatchObject({ kind: "failed", code: "cancelled" });
  expect([runs, world.approvals.asked]).toEqual([0, []]);
});
