/** `npm test` itself: what is run together, what is run again, what the closing line says, and that a process which hangs is ended. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Batch, batchesOf, MEASURING, singly } from "../scripts/test/batches.ts";
import { type CostMeter, costTable, openCostMeter } from "../scripts/test/costs.ts";
import { postgresTests } from "../scripts/test/postgres-tests.ts";
import { coreTimes, restedPercent } from "../scripts/test/rest.ts";
import { runAll } from "../scripts/test/run-all.ts";
import { type BatchLimits, type BatchResult, runBatch } from "../scripts/test/run-batch.ts";
import { SQLITE_ONLY } from "../scripts/test/sqlite-only.ts";
import { closingLine, failedForTimeAlone, failuresIn, sumOf, totalsOf } from "../scripts/test/totals.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { eventually, runs } from "./whole-fixture.ts";

describe("the closing line of a test run", () => {
  const line = (tail: string, exitCode: number) => closingLine(totalsOf(tail, exitCode));
  test("repeats Bun's own numbers", () => {
    expect(line("\n 25 pass\n 0 fail\n", 0)).toBe("25 passed, 0 failed");
    expect(line("\n 25 pass\n 2 skip\n 3 fail\n", 1)).toBe("25 passed, 3 failed, 2 skipped");
  });
  test("never says that nothing failed when the run ended badly", () => {
    expect(line("\n 25 pass\n 0 fail\n", 1)).toBe("25 passed, 1 failed");
    expect(line("killed", 137)).toBe("0 passed, 1 failed");
  });
  test("counts a run without any test as a failure", () => {
    expect(line("\n 0 pass\n 0 fail\n", 0)).toBe("0 passed, 1 failed");
    expect(line("\n 0 pass\n 1 skip\n 0 fail\n", 0)).toBe("0 passed, 0 failed, 1 skipped"); // of one file among many
    expect(closingLine(sumOf([{ passed: 0, failed: 0, skipped: 1 }]))).toBe("0 passed, 1 failed, 1 skipped");
  });
  test("adds up the processes of a run", () => {
    const one = { passed: 2, failed: 0, skipped: 1 };
    expect(closingLine(sumOf([one, { passed: 0, failed: 1, skipped: 0 }, one]))).toBe("4 passed, 1 failed, 2 skipped");
    expect(closingLine(sumOf([]))).toBe("0 passed, 1 failed");
  });
  test("is not misled by what a test prints", () => {
    expect(line("a test says: 99 pass\n 1 pass\n 0 fail\n", 0)).toBe("1 passed, 0 failed");
  });
});

test("a whole gateway's tests have a process to themselves, others share one with their neighbours unless they are kept apart, slow ones come first, and none is left out", () => {
  const many = Array.from({ length: 25 }, (_, n) => `src/media/part${n}/a.test.ts`);
  const files = [
    "src/http/b.test.ts",
    "test/console.test.ts",
    ...many,
    "test/agents.test.ts",
    "src/http/deep/a.test.ts",
    "src/http/growth.test.ts",
    "src/agents/talk/a.test.ts",
  ];
  const batches = batchesOf(files, (file) => file.includes("growth"));
  expect(batches.map(({ name }) => name)).toEqual([
    "src/agents (1 file)",
    "test/agents.test.ts",
    "test/console.test.ts",
    "src/http (2 files)",
    "src/http, apart (1 file)",
    "src/media 1/2 (13 files)",
    "src/media 2/2 (12 files)",
  ]);
  expect(batches.flatMap((batch) => batch.files).toSorted()).toEqual(files.toSorted());
});

test("files that measure come before all others, each in a process of its own, and are marked as alone", () => {
  const files = ["test/agents.test.ts", "src/http/a.test.ts", "src/agents/a.test.ts", ...MEASURING];
  const [alone, others] = [true, false].map((wanted) =>
    batchesOf(files, () => true).filter((batch) => batch.alone === wanted),
  );
  expect(batchesOf(files, () => true)).toEqual([...(alone ?? []), ...(others ?? [])]);
  expect(alone?.map((batch) => batch.files)).toEqual(MEASURING.toSorted().map((file) => [file]));
  expect(others).toHaveLength(3);
});

test("a run that counts costs gives each file a process of its own, and those that measure are alone", () => {
  const [measuring = ""] = MEASURING;
  expect(singly(["test/b.test.ts", measuring, "src/http/a.test.ts"])).toEqual([
    { name: "src/http/a.test.ts", files: ["src/http/a.test.ts"], alone: false },
    { name: measuring, files: [measuring], alone: true },
    { name: "test/b.test.ts", files: ["test/b.test.ts"], alone: false },
  ]);
});

test("the table of costs names the forty costliest files, the costliest first", () => {
  const costs = Array.from({ length: 50 }, (_, n) => ({ file: `test/${n}.test.ts`, processorMs: n * 1_000 }));
  const table = costTable(costs);
  expect(table).toHaveLength(40);
  expect([table[0], table[39]]).toEqual(["  49.0 s  test/49.test.ts", "  10.0 s  test/10.test.ts"]);
});

test("the share of time in which processors rested is that between two looks at them", () => {
  expect(restedPercent({ idle: 100, all: 1_000 }, { idle: 150, all: 1_200 })).toBe(25);
  const look = coreTimes();
  expect(restedPercent(look, look)).toBeNull();
  expect(look.all).toBeGreaterThan(look.idle);
});

test("every file that is said to measure exists", () => {
  const root = dirname(import.meta.dir);
  expect(MEASURING.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

describe("a run on Postgres", () => {
  const root = dirname(import.meta.dir);
  const files = ["src/queue/queue.test.ts", "src/kit/deferred.test.ts", "test/keys.test.ts", "test/old-home.test.ts"];
  const left = (file: string, test?: string) => ({ file, reason: "a reason", ...(test === undefined ? {} : { test }) });

  test("has every file that is given a store, and no other", () => {
    const { files: chosen, names } = postgresTests(root, files, [left("test/old-home.test.ts")]);
    expect([chosen, names]).toEqual([["src/queue/queue.test.ts", "test/keys.test.ts"], undefined]);
  });
  test("says what it leaves out and why, and runs no test of such a name", () => {
    const sentence = "may treat one channel differently";
    const { names = "", leftOut } = postgresTests(root, files, [left("src/queue/queue.test.ts", sentence)]);
    const runs = ["the queue may treat one channel differently", "the queue keeps order"].map((name) =>
      new RegExp(names).test(name),
    );
    expect(runs).toEqual([false, true]);
    expect(leftOut[0]).toContain("0 files and 1 tests of other files");
    expect(leftOut[1]).toBe(`  src/queue/queue.test.ts, "${sentence}": a reason`);
  });
  test.each([
    ["a file that is not there", left("test/gone.test.ts"), "there is no file test/gone.test.ts"],
    ["a file without a store", left("src/kit/deferred.test.ts"), "src/kit/deferred.test.ts uses no store"],
    ["a test that is not there", left("test/keys.test.ts", "no such"), 'test/keys.test.ts has no test "no such"'],
  ])("is refused when its list names %s", (_what, entry, because) => {
    expect(() => postgresTests(root, files, [entry])).toThrow(because);
  });
  test("has a list that names nothing unknown", () => {
    const named = SQLITE_ONLY.map(({ file }) => file);
    expect(postgresTests(root, named, SQLITE_ONLY).leftOut).toHaveLength(SQLITE_ONLY.length + 1);
  });
});

test("nothing else runs beside a process that is to be alone", async () => {
  const running = new Set<string>();
  const beside: Record<string, number> = {};
  const batch = (name: string, alone: boolean): Batch => ({ name, files: [name], alone });
  const batches = [batch("a", false), batch("b", true), batch("c", false), batch("d", true)];
  await runAll(batches, {
    atOnce: 2,
    async run({ name }) {
      for (const other of running) beside[other] = (beside[other] ?? 0) + 1;
      beside[name] = running.size;
      running.add(name);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(name);
      return ended(1, 0);
    },
    report: () => undefined,
  });
  expect(beside).toEqual({ a: 1, b: 0, c: 1, d: 0 });
});

/** What a process of tests said at its end. */
function ended(passed: number, failed: number, over: Partial<BatchResult> = {}): BatchResult {
  return { totals: { passed, failed, skipped: 0 }, said: "", ms: 1, processorMs: 1, stuck: false, ...over };
}

describe("a process that stopped answering", () => {
  const batch = (name: string): Batch => ({ name, files: [name], alone: false });
  const tried = async (tries: readonly BatchResult[]) => {
    const left = [...tries];
    const outcome = await runAll([batch("one")], {
      atOnce: 2,
      run: async () => left.shift() ?? ended(99, 99),
      report: () => undefined,
    });
    return [closingLine(sumOf(outcome.results.map(({ totals }) => totals))), outcome.again.join()];
  };
  const stuck = ended(0, 1, { stuck: true });

  test("is run once more, and that counts", async () => {
    expect(await tried([stuck, ended(3, 0)])).toEqual(["3 passed, 0 failed", "one"]);
    expect(await tried([stuck, stuck])).toEqual(["0 passed, 1 failed", "one"]);
  });
  test("is not run again when a test in it has failed", async () => {
    const said = "(pass) a\n(fail) b [1.00ms]\n(pass) c\n";
    expect(await tried([ended(2, 1, { stuck: true, said })])).toEqual(["2 passed, 1 failed", ""]);
    expect(failedForTimeAlone("(pass) a\n(fail) b [9.00ms]\n  ^ this test timed out after 9ms.\n")).toBe(true);
  });
});

describe("a test that failed", () => {
  const said =
    "\na.test.ts:\n(pass) x [1.00ms]\n\nb.test.ts:\n(fail) room > y [2.00ms]\n\n1 tests failed:\n(fail) room > y [2.00ms]\n";
  const batch: Batch = { name: "room (2 files)", files: ["a.test.ts", "b.test.ts"], alone: false };
  const played = async (first: BatchResult, alone: BatchResult) => {
    const tries: string[] = [];
    const outcome = await runAll([batch, { name: "other", files: ["c.test.ts"], alone: false }], {
      atOnce: 2,
      run: async ({ name, files }) => {
        tries.push(`${name}: ${files.join()}`);
        return name === batch.name ? first : name === "other" ? ended(5, 0) : alone;
      },
      report: () => undefined,
    });
    const totals = sumOf(outcome.results.map((one) => one.totals));
    return { line: closingLine(totals, outcome.unsteady.length), unsteady: outcome.unsteady, third: tries[2] };
  };

  test("is run once more with its file when nothing else runs; passing then, it counts and is named as unsteady", async () => {
    expect(await played(ended(1, 1, { said }), ended(1, 0))).toEqual({
      line: "7 passed, 0 failed, 1 unsteady",
      unsteady: ["b.test.ts: room > y"],
      third: "alone: room (2 files): b.test.ts",
    });
  });
  test("and fails again has failed", async () => {
    const again = await played(ended(1, 1, { said }), ended(0, 1, { said }));
    expect(again).toMatchObject({ line: "6 passed, 1 failed", unsteady: [] });
  });
  test("beside three others is no accident: none of them is run again", async () => {
    expect(await played(ended(1, 4, { said }), ended(9, 0))).toEqual({
      line: "6 passed, 4 failed",
      unsteady: [],
      third: undefined,
    });
  });
  test("without a name is looked for in all files of its process", async () => {
    const unnamed = await played(ended(1, 1, { said: "killed" }), ended(2, 0));
    expect(unnamed.third).toBe("alone: room (2 files): a.test.ts,b.test.ts");
    expect(unnamed.unsteady).toEqual(["room (2 files): the process ended badly, and no test says why"]);
  });
});

describe("a process of tests", () => {
  const LIMITS: BatchLimits = { testMs: 20_000, silentMs: 20_000, wholeMs: 40_000, graceMs: 1_000 };
  const run = async (
    home: string,
    files: Readonly<Record<string, string>>,
    limits = LIMITS,
    meter: CostMeter | null = null,
  ) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), `import { expect, test } from "bun:test";\n${text}`);
    }
    const world = { root: home, env: process.env, ...(meter ? { meter } : {}) };
    return runBatch(world, Object.keys(files), limits);
  };
  const good = `test("good", () => expect(1).toBe(1));`;

  test("counts what passed and failed in all of its files", async () => {
    await using home = await tempHome();
    const bad = `${good}\ntest("bad", () => expect(1).toBe(2));`;
    const result = await run(home.path, { "a.test.ts": good, "b.test.ts": bad });
    expect(result).toMatchObject({ totals: { passed: 2, failed: 1, skipped: 0 }, stuck: false });
    expect(result.processorMs).toBeGreaterThan(0);
    expect(failuresIn(Bun.stripANSI(result.said))).toEqual([{ file: "b.test.ts", test: "bad" }]);
    expect(await run(home.path, { "c.test.ts": `${good}\nthrow new Error("no");` })).toMatchObject({
      totals: { failed: 1 },
    });
  });

  const meter = openCostMeter();
  afterAll(() => meter?.[Symbol.dispose]());
  test.skipIf(meter === null)("costs what a child costs that left it and was killed", async () => {
    await using home = await tempHome();
    const burns = `while (process.cpuUsage().user + process.cpuUsage().system < 300_000);
      await Bun.write("burnt", "");
      process.kill(process.pid, "SIGKILL");`;
    writeFileSync(join(home.path, "burns.ts"), burns);
    const leaves = `import { existsSync } from "node:fs";
      test("leaves a child", async () => {
        await Bun.spawn(["sh", "-c", process.execPath + " burns.ts &"], { detached: true, stdio: ["ignore", "ignore", "ignore"] }).exited;
        while (!existsSync("burnt")) await Bun.sleep(20);
      });`;
    const counted = await run(home.path, { "a.test.ts": leaves }, LIMITS, meter);
    expect(counted).toMatchObject({ totals: { passed: 1, failed: 0 }, stuck: false });
    expect(counted.processorMs).toBeGreaterThan(300);
  });

  test("loads a module once for all of its files, and anew for each where one of them replaces a module", async () => {
    await using home = await tempHome();
    writeFileSync(join(home.path, "module.ts"), `console.log("module loaded"); export const word = "original";`);
    const reads = `test("reads", async () => expect((await import("./module.ts")).word).toBe("original"));`;
    const replaces = `import { mock } from "bun:test";
      await mock.module("./module.ts", () => ({ word: "replaced" }));
      test("replaces", async () => expect((await import("./module.ts")).word).toBe("replaced"));`;
    const loads = ({ said }: BatchResult) => said.split("module loaded").length - 1;
    const together = await run(home.path, { "a.test.ts": reads, "b.test.ts": reads });
    expect([together.totals, loads(together)]).toEqual([{ passed: 2, failed: 0, skipped: 0 }, 1]);
    const apart = await run(home.path, { "c.test.ts": replaces, "d.test.ts": reads });
    expect(apart.totals).toEqual({ passed: 2, failed: 0, skipped: 0 });
  });

  test("has temporary files of its own, which go with it", async () => {
    await using home = await tempHome();
    const leaves = `import { tmpdir } from "node:os";
      test("leaves", async () => {
        await Bun.write(tmpdir() + "/left", "");
        await Bun.write("where", tmpdir());
      });`;
    expect(await run(home.path, { "a.test.ts": leaves })).toMatchObject({ totals: { passed: 1, failed: 0 } });
    const where = readFileSync(join(home.path, "where"), "utf8");
    expect([where.includes("pi-gw-"), existsSync(where)]).toEqual([true, false]);
  });

  test("is ended with everything it started when it falls silent or takes too long", async () => {
    await using home = await tempHome();
    const hangs = `test("hangs", async () => {
        const child = Bun.spawn(["sleep", "600"], { detached: true });
        await Bun.write("child", String(child.pid));
        for (;;) if (process.env.TALKS) { console.log("still here"); await Bun.sleep(20); }
      });`;
    const child = async () => Number(await Bun.file(join(home.path, "child")).text());
    expect(await run(home.path, { "a.test.ts": hangs }, { ...LIMITS, silentMs: 1_500 })).toMatchObject({ stuck: true });
    await eventually(
      "the child of the test has ended",
      async () => runs(await child()),
      (alive) => !alive,
    );
    const talks = hangs.replace("process.env.TALKS", "true");
    const result = await run(home.path, { "a.test.ts": talks }, { ...LIMITS, wholeMs: 1_500 });
    expect(result).toMatchObject({ stuck: true, totals: { failed: 1 } });
    await eventually(
      "the child of the test has ended",
      async () => runs(await child()),
      (alive) => !alive,
    );
  });

  test("is not waited for when somebody it left behind keeps its output open", async () => {
    await using home = await tempHome();
    const leaves = `test("leaves", async () => {
        const child = Bun.spawn(["sleep", "600"], { detached: true, stdout: "inherit", stderr: "inherit" });
        child.unref();
        await Bun.write("child", String(child.pid));
      });`;
    try {
      const result = await run(home.path, { "a.test.ts": leaves }, { ...LIMITS, silentMs: 1_500 });
      expect(result).toMatchObject({ stuck: true, totals: { failed: 1 } });
    } finally {
      process.kill(Number(await Bun.file(join(home.path, "child")).text()), "SIGKILL");
    }
  });
});
