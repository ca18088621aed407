/** What never became a call is on record all the same, and a flood of it does not fill the record. */
import { expect, test } from "bun:test";
import type { SessionKey } from "../../contracts/ids.ts";
import type { RejectedCall } from "../../contracts/tools/tool.ts";
import { deferred } from "../../kit/deferred.ts";
import { memoryCalls, OWNER, SESSION, toolWorld } from "../../testing/tools/tool-world.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { MAX_WINDOWS, ROWS_PER_WINDOW, WINDOW_MS } from "./rejected-calls.ts";

const CALL: RejectedCall = {
  tool: "echo",
  callId: "c1",
  params: { token: "abc", text: "hi" },
  path: "pipe",
  context: OWNER,
  reason: "too_many",
  because: "Too many tools are running at once.",
};
const REASONS = [
  ["unreadable", "error"],
  ["outside_turn", "blocked"],
  ["id_taken", "error"],
  ["too_many", "blocked"],
  ["refused_by_agent", "error"],
  ["unauthorized", "blocked"],
] as const;

test.each(REASONS)("a call that is rejected as %s leaves a row with the status %s", async (reason, status) => {
  const world = toolWorld([]);
  world.gate.recordRejected({ ...CALL, reason });
  await world.gate[Symbol.asyncDispose]();
  const [row, ...more] = world.store.rows;
  expect(more).toEqual([]);
  expect(row?.intent).toMatchObject({ tool: "echo", callId: "c1", sessionKey: SESSION, principal: "operator" });
  expect(row?.intent.input).toEqual({ token: "[redacted]", text: "hi" });
  expect(row?.end).toMatchObject({ status, output: CALL.because });
  expect(world.log.lines.find(({ words }) => words === "tool call refused")?.fields).toMatchObject({ code: reason });
});

test("one that came while the process worked for nobody, and that nobody could read, is nobody's", async () => {
  const world = toolWorld([]);
  world.gate.recordRejected({
    path: "pipe",
    context: null,
    reason: "unreadable",
    because: "The call could not be read.",
  });
  await world.gate[Symbol.asyncDispose]();
  expect(world.store.rows[0]?.intent).toMatchObject({ tool: "(unreadable)", principal: "nobody", sessionKey: "none" });
});

test("calls of nobody are not counted, because anybody can make them, and those of somebody are", async () => {
  const world = toolWorld([]);
  const counted: unknown[] = [];
  world.events.on("tool_execution_end", ({ status }) => void counted.push(status));
  world.gate.recordRejected({ ...CALL, context: null, reason: "unauthorized" });
  expect(counted).toEqual([]);
  world.gate.recordRejected(CALL);
  expect(counted).toEqual(["blocked"]);
  await world.gate[Symbol.asyncDispose]();
});

test("of a flood the first few have a row, and one more says how many there were", async () => {
  const world = toolWorld([]);
  const flood = ROWS_PER_WINDOW + 5_000;
  for (let at = 0; at < flood; at++) world.gate.recordRejected({ ...CALL, callId: `c${at}` });
  world.gate.recordRejected({ ...CALL, context: { ...OWNER, sessionKey: "another" as SessionKey } });
  expect(world.store.rows.length).toBe(ROWS_PER_WINDOW + 1);
  await world.clock.advance(WINDOW_MS);
  expect(world.store.rows.length).toBe(ROWS_PER_WINDOW + 2);
  expect(world.store.rows.at(-1)?.end?.output).toBe(
    "5000 more calls were rejected within 60 s for this reason: Too many tools are running at once.",
  );
  world.gate.recordRejected(CALL); // a new minute
  expect(world.store.rows.length).toBe(ROWS_PER_WINDOW + 3);
  await world.gate[Symbol.asyncDispose]();
});

test("what is counted when the gateway stops is written down then", async () => {
  const world = toolWorld([]);
  for (let at = 0; at <= ROWS_PER_WINDOW; at++) world.gate.recordRejected(CALL);
  await world.gate[Symbol.asyncDispose]();
  expect(world.store.rows.at(-1)?.end?.output).toStartWith("1 more call was rejected");
  expect(world.store.rows.length).toBe(ROWS_PER_WINDOW + 1);
});

test("a stop waits until every row is on the disk, those that it counts up itself included", async () => {
  const store = memoryCalls();
  const disk = deferred<void>();
  let written = 0;
  const slow = {
    ...store,
    refuse: async (...row: Parameters<typeof store.refuse>) => {
      await disk.promise;
      await store.refuse(...row);
      written++;
    },
  };
  const world = toolWorld([], { store: slow });
  for (let at = 0; at <= ROWS_PER_WINDOW; at++) world.gate.recordRejected(CALL);
  let ended = false;
  const stop = async (): Promise<void> => {
    await world.gate[Symbol.asyncDispose]();
    ended = true;
  };
  const stopped = stop();
  await world.clock.advance(0);
  expect([ended, written]).toEqual([false, 0]);
  disk.resolve();
  await waitForEnd("the stop", stopped);
  expect(written).toBe(ROWS_PER_WINDOW + 1);
});

test("many conversations at once are counted together from some number on", async () => {
  const world = toolWorld([]);
  const from = (at: number) => ({ ...OWNER, sessionKey: `s${at}` as SessionKey });
  for (let at = 0; at < MAX_WINDOWS + 1_000; at++) world.gate.recordRejected({ ...CALL, context: from(at) });
  expect(world.store.rows.length).toBe(MAX_WINDOWS + ROWS_PER_WINDOW);
  await world.gate[Symbol.asyncDispose]();
  expect(world.store.rows.length).toBe(MAX_WINDOWS + ROWS_PER_WINDOW + 1);
});

test("reasons, and processes that work for nobody, are counted apart, and the count speaks of the newest", async () => {
  const world = toolWorld([]);
  const flood = (more: Partial<RejectedCall>, count = ROWS_PER_WINDOW + 2): void => {
    for (let at = 0; at < count; at++) world.gate.recordRejected({ ...CALL, ...more, because: `reason ${at}` });
  };
  flood({ reason: "id_taken" });
  flood({ context: null });
  flood({}, ROWS_PER_WINDOW);
  expect(world.store.rows).toHaveLength(3 * ROWS_PER_WINDOW);
  await world.clock.advance(WINDOW_MS);
  expect(world.store.rows.slice(-2).map(({ intent, end }) => [intent.sessionKey as string, end?.output])).toEqual([
    [SESSION, `2 more calls were rejected within 60 s for this reason: reason ${ROWS_PER_WINDOW + 1}`],
    ["none", `2 more calls were rejected within 60 s for this reason: reason ${ROWS_PER_WINDOW + 1}`],
  ]);
});

test("a conversation that is counted already stays counted apart when there are too many", async () => {
  const world = toolWorld([]);
  const from = (at: number) => ({ ...OWNER, sessionKey: `s${at}` as SessionKey });
  for (let at = 0; at < MAX_WINDOWS + 5; at++) world.gate.recordRejected({ ...CALL, context: from(at) });
  for (let at = 0; at < ROWS_PER_WINDOW + 1; at++) world.gate.recordRejected({ ...CALL, context: from(0) });
  await world.clock.advance(WINDOW_MS);
  expect(world.store.rows.at(-1)?.intent.sessionKey as string).toBe("s0");
  expect(world.store.rows.at(-1)?.end?.output).toStartWith("2 more calls");
});

test("parameters that are missing are recorded as none", async () => {
  const world = toolWorld([]);
  world.gate.recordRejected({ path: "pipe", context: OWNER, reason: "unreadable", because: "It could not be read." });
  await world.gate[Symbol.asyncDispose]();
  expect(world.store.rows[0]?.intent.input).toEqual({});
});

test("names and ids that are too long are recorded by their beginning", async () => {
  const world = toolWorld([]);
  world.gate.recordRejected({ ...CALL, tool: "t".repeat(1_000), callId: "c".repeat(1_000) });
  await world.gate[Symbol.asyncDispose]();
  expect(world.store.rows[0]?.intent).toMatchObject({ tool: "t".repeat(128), callId: "c".repeat(128) });
});

test("whoever counts rejected calls is told no secret, in whatever part of the call it stands", async () => {
  const world = toolWorld([]);
  const told: unknown[] = [];
  world.events.on("tool_execution_end", (event) => void told.push(event));
  const secret = "s3cret-value";
  world.gate.recordRejected({ ...CALL, tool: secret, callId: secret, params: { text: secret }, because: secret });
  await world.gate[Symbol.asyncDispose]();
  expect(told).toHaveLength(1);
  expect(JSON.stringify(told)).not.toContain(secret);
});
