/** Tools that come to a session stay, keep their order, and are not without number. */
import { describe, expect, test } from "bun:test";
import type { SessionKey } from "../../contracts/ids.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import type { SessionTool, SessionToolStore } from "../../contracts/store/session-tools.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { createSessionTools, MAX_SESSION_TOOLS, switchedOn } from "./session-tools.ts";

const HERE = "agent:default:webchat:dm:1" as SessionKey;
const ELSEWHERE = "agent:default:webchat:dm:2" as SessionKey;
const at = (tool: string, position: number, time: number) => ({ tool, position, at: time });

describe("switchedOn", () => {
  test("new tools come last, and those that are on keep their place", () => {
    const { tools, on, off } = switchedOn([at("a", 1, 5), at("b", 4, 6)], ["c", "a", "c"], 9);
    expect(tools).toEqual([at("a", 1, 9), at("b", 4, 6), at("c", 5, 9)]);
    expect([on, off]).toEqual([[at("c", 5, 9), at("a", 1, 9)], []]);
  });

  test.each([1, 30, 40, MAX_SESSION_TOOLS - 1])(
    "a session with %d tools has room for one more, and none goes off",
    (count) => {
      const some = Array.from({ length: count }, (_, n) => at(`t${n}`, n + 1, n));
      const { tools, off } = switchedOn(some, ["new"], 200);
      expect([tools.length, off]).toEqual([count + 1, []]);
    },
  );

  test("tools are in the order of their places, however they were read", () => {
    const { tools } = switchedOn([at("b", 4, 6), at("a", 1, 5)], ["b"], 9);
    expect(tools.map(({ tool }) => tool)).toEqual(["a", "b"]);
  });

  test("one tool too many switches off the one that was neither found nor called for the longest time", () => {
    const full = Array.from({ length: MAX_SESSION_TOOLS }, (_, n) => at(`t${n}`, n + 1, n === 7 ? 1 : 100));
    const { tools, off } = switchedOn(full, ["new"], 200);
    expect(off).toEqual(["t7"]);
    expect([tools.length, tools.at(-1)]).toEqual([MAX_SESSION_TOOLS, at("new", MAX_SESSION_TOOLS + 1, 200)]);
  });
});

async function sessionToolsWorld() {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const open = () => createSessionTools({ clock, log: recordingLog(), store: real.store.sessionTools });
  return { clock, store: real.store, open, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

test("tools of a session are there after a restart, and in no other session", async () => {
  await using world = await sessionToolsWorld();
  const first = world.open();
  await first.switchOn(HERE, ["b", "a"]);
  await first.switchOn(HERE, ["c", "b"]);
  expect(await world.open().of(HERE)).toEqual(["b", "a", "c"]);
  expect(await world.open().of(ELSEWHERE)).toEqual([]);
});

test("a session is named when its tools have changed, and not when they are the same", async () => {
  await using world = await sessionToolsWorld();
  const tools = world.open();
  const changed: SessionKey[] = [];
  using _listening = tools.onChange((key) => void changed.push(key));
  await tools.switchOn(HERE, ["a"]);
  await tools.switchOn(HERE, ["a"]);
  await tools.switchOn(ELSEWHERE, ["a"]);
  expect(changed).toEqual([HERE, ELSEWHERE]);
});

test("two changes at the same time both stay", async () => {
  await using world = await sessionToolsWorld();
  const tools = world.open();
  await Promise.all([tools.switchOn(HERE, ["a"]), tools.switchOn(HERE, ["b"]), tools.switchOn(HERE, ["c"])]);
  expect(await world.open().of(HERE)).toEqual(["a", "b", "c"]);
});

test("a called tool is noted once an hour, however often it is called", async () => {
  await using world = await sessionToolsWorld();
  const tools = world.open();
  const noted = async () => (await world.store.sessionTools.list(HERE)).map(({ at: time }) => time);
  tools.noteUse(HERE, "a");
  const [first] = await waitFor("the note of the first call", noted, (times) => times.length === 1);
  await world.clock.advance(60_000);
  tools.noteUse(HERE, "a");
  await tools.switchOn(ELSEWHERE, ["b"]); // after all that was asked before
  expect(await noted()).toEqual([first ?? 0]);
  await world.clock.advance(3_600_000);
  tools.noteUse(HERE, "a");
  await waitFor("the note of a later call", noted, ([time]) => time === (first ?? 0) + 3_660_000);
});

test("tools that were not touched for long are forgotten with the old tool calls", async () => {
  await using world = await sessionToolsWorld();
  const tools = world.open();
  await tools.switchOn(HERE, ["old"]);
  await world.clock.advance(1_000);
  await tools.switchOn(HERE, ["new"]);
  expect(await world.store.sessionTools.prune(world.clock.now())).toBe(1);
  expect(await world.open().of(HERE)).toEqual(["new"]);
});

/** A store in memory that counts what it is asked, and fails when told to. */
function memoryTools() {
  const rows = new Map<SessionKey, SessionTool[]>();
  const counts = { lists: 0, saves: 0 };
  const store: SessionToolStore & { failing: Error | null } = {
    failing: null,
    async list(key) {
      counts.lists++;
      if (store.failing) throw store.failing;
      return rows.get(key) ?? [];
    },
    async save(key, { on, off }) {
      counts.saves++;
      if (store.failing) throw store.failing;
      const kept = (rows.get(key) ?? []).filter(
        ({ tool }) => !off.includes(tool) && on.every((one) => one.tool !== tool),
      );
      rows.set(key, [...kept, ...on]);
    },
    prune: async () => 0,
  };
  const clock = createFakeClock();
  const log = recordingLog();
  return { store, counts, clock, log, tools: createSessionTools({ clock, log, store }) };
}

test("a change that could not be stored is told to whoever asked for it, is not in force, and holds up none after it", async () => {
  const { store, tools } = memoryTools();
  await tools.switchOn(HERE, ["a"]);
  const changed: SessionKey[] = [];
  using _listening = tools.onChange((key) => void changed.push(key));
  store.failing = new Error("disk full");
  await expect(tools.switchOn(HERE, ["b"])).rejects.toThrow("disk full");
  store.failing = null;
  expect([await tools.of(HERE), changed]).toEqual([["a"], []]);
  await waitForEnd("the next change", tools.switchOn(HERE, ["c"]));
  expect([await tools.of(HERE), changed]).toEqual([["a", "c"], [HERE]]);
});

test("a change to no tools is not written", async () => {
  const { tools, counts } = memoryTools();
  await tools.switchOn(HERE, []);
  expect(counts.saves).toBe(0);
});

test("a use that could not be noted is logged, and noted with the next call", async () => {
  const { store, tools, clock, log, counts } = memoryTools();
  store.failing = new Error("disk full");
  tools.noteUse(HERE, "a");
  await clock.advance(0);
  expect(log.lines.map(({ words }) => words)).toEqual(["a tool of a session was not noted"]);
  store.failing = null;
  tools.noteUse(HERE, "a");
  await clock.advance(0);
  expect([await tools.of(HERE), counts.saves]).toEqual([["a"], 1]);
});

test("a tool that is on is noted again when an hour has passed, and not a moment before", async () => {
  const { tools, clock, counts } = memoryTools();
  await tools.switchOn(HERE, ["a"]);
  for (const [ms, saves] of [
    [3_599_999, 1],
    [1, 2],
    [0, 2],
  ] as const) {
    await clock.advance(ms);
    tools.noteUse(HERE, "a");
    await clock.advance(0);
    expect([ms, counts.saves]).toEqual([ms, saves]);
  }
});

test("the store is asked once for a session at work; of many sessions, the one that was asked for longest ago is asked for again", async () => {
  const { tools, counts } = memoryTools();
  const session = (n: number) => `agent:default:webchat:dm:${n}` as SessionKey;
  for (let n = 0; n < 500; n++) await tools.of(session(n));
  await tools.of(session(0)); // now the newest
  expect(counts.lists).toBe(500);
  await tools.of(session(500));
  await tools.of(session(0));
  expect(counts.lists).toBe(501);
  await tools.of(session(1));
  expect(counts.lists).toBe(502);
});

test("whoever stops listening is told of no more changes, and others are", async () => {
  const { tools } = memoryTools();
  const told: string[] = [];
  const listener = (): void => void told.push("told");
  const first = tools.onChange(listener);
  using _second = tools.onChange(listener);
  first[Symbol.dispose]();
  await tools.switchOn(HERE, ["a"]);
  expect(told).toEqual(["told"]);
});

test("more tools at once than a session may have are cut to what it may have, and named as changed", async () => {
  const { tools } = memoryTools();
  const many = Array.from({ length: MAX_SESSION_TOOLS + 10 }, (_, n) => `t${n}`);
  await tools.switchOn(HERE, many);
  expect(await tools.of(HERE)).toEqual(many.slice(0, MAX_SESSION_TOOLS));
  const changed: SessionKey[] = [];
  using _listening = tools.onChange((key) => void changed.push(key));
  await tools.switchOn(HERE, ["new"]); // as many as before, and others
  expect([(await tools.of(HERE)).length, changed]).toEqual([MAX_SESSION_TOOLS, [HERE]]);
});

test("a read of a session's tools that ends after a change does not undo the change", async () => {
  const slow = Promise.withResolvers<readonly SessionTool[]>();
  const reads = [slow.promise, Promise.resolve([])]; // the first one began before the change, and ends after it
  const store = {
    list: () => reads.shift() ?? Promise.resolve([]),
    save: async () => undefined,
  } as unknown as SessionToolStore;
  const tools = createSessionTools({ clock: createFakeClock(), log: recordingLog(), store });
  const early = tools.of(HERE);
  await waitForEnd("the change", tools.switchOn(HERE, ["found"]));
  slow.resolve([]);
  expect([await waitForEnd("the early read", early), await tools.of(HERE)]).toEqual([["found"], ["found"]]);
});
