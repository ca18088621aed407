import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { waitFor } from "../../testing/wait-for.ts";
import { openAffinity } from "./affinity.ts";
import { familyOf, runnableThreads, type ProcessFacts, threadsOf } from "./proc.ts";
import { createProcessorShare, processorsLeft } from "./processor-share.ts";

test.each<[readonly number[], number | undefined, readonly number[] | null]>([
  [[0, 1], undefined, [1]],
  [[3, 5, 7], undefined, [5, 7]],
  [[0], undefined, null], // there is none to take away
  [[0, 1, 2, 3], undefined, null], // the sandbox has done it
  [[], undefined, null], // nobody knows
  [[0, 1], 2, null],
  [[0, 1], 1, null],
])("of the processors %j an agent with the limit %j and too many programs keeps %j", (all, wanted, left) => {
  expect(processorsLeft(all, wanted)).toEqual(left);
});

/** A machine with two processors and these programs, one thread each unless it says more; 1 is pi. */
function bench(programs: readonly Partial<ProcessFacts>[], machine = 100, lookTakesMs = 0) {
  const set: [number, readonly number[]][] = [];
  let now = 0;
  const found: ProcessFacts[] = [];
  const add = (more: readonly Partial<ProcessFacts>[]): void => {
    for (const one of more) found.push({ ...STILL, pid: found.length + 1, startTime: String(found.length), ...one });
  };
  add(programs);
  const share = createProcessorShare(
    {
      affinity: { get: () => [0, 1], set: (thread, processors) => void set.push([thread, processors]) },
      program: () => 1,
      family: () => {
        now += lookTakesMs;
        return [...found].reverse();
      },
      clock: { elapsed: () => now },
      runnableThreads: () => machine,
      threadsOf: (pid) => [0, 500].map((add) => ({ id: pid + add, running: add > 0 })),
    },
    [0, 1],
    [1],
  );
  /** All of them wait for something from now on. */
  const letAllWait = (): void => found.forEach((one, index) => (found[index] = { ...one, state: "S" }));
  return { share, set, add, letAllWait, threads: () => set.map(([thread]) => thread) };
}

const STILL = { parent: 0, session: 1, state: "S", threads: 1 };
const RUNNING = { state: "R" };
const many = (count: number, one: Partial<ProcessFacts>) => Array.from({ length: count }, () => one);

test("eight running programs on two processors are a build, and keep both", () => {
  const { share, set } = bench([{}, ...many(8, RUNNING), ...many(300, {})]);
  expect(share.look()).toBe(50);
  share.end();
  expect(set).toEqual([]);
});

test.each([
  [1, 50],
  [5, 100],
  [40, 250],
])("a look that took %d ms is followed by a pause of %d ms where others keep the machine busy", (took, pause) => {
  expect(bench([{}], 100, took).share.look()).toBe(pause);
});

test("nine running programs are too many, and all of the agent is held on one, oldest first", () => {
  const { share, set, threads } = bench([{}, ...many(9, RUNNING)]);
  expect(share.look()).toBe(1_000);
  expect(threads()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(new Set(set.map(([, processors]) => processors.join()))).toEqual(new Set(["1"]));
});

test("running threads count like programs, and each of them is held", () => {
  const { share, threads } = bench(many(9, { threads: 2 }));
  share.look();
  expect(threads().slice(0, 4)).toEqual([1, 501, 2, 502]);
});

test("a machine with little to do is not looked at any further", () => {
  const { share, set } = bench(many(9, RUNNING), 8);
  expect(share.look()).toBe(50);
  expect(set).toEqual([]);
});

test("a program that begins later in the turn is held as well, however little runs by then", () => {
  const { share, add, threads, letAllWait } = bench(many(9, RUNNING));
  share.look();
  letAllWait();
  add([{}]);
  share.look();
  expect(threads().slice(9)).toEqual([10]);
});

test("the end of a turn gives all processors back to pi, once", () => {
  const { share, set } = bench([{ threads: 2 }, ...many(9, RUNNING)]);
  share.look();
  share.end();
  share.end();
  expect(set.slice(11)).toEqual([
    [1, [0, 1]],
    [501, [0, 1]],
  ]);
});

const affinity = openAffinity();
test.skipIf(affinity === null)(
  "a shell that is held on one processor hands that on, and others keep theirs",
  async () => {
    const child = spawn("/bin/sh", ["-c", "read go; sleep 60 & wait"], { stdio: ["pipe", "ignore", "ignore"] });
    const shell = child.pid ?? 0;
    const below = () => familyOf(shell).filter(({ pid }) => pid !== shell);
    try {
      const all = affinity?.get(0) ?? [];
      const last = all.slice(-1);
      expect(threadsOf(shell).map(({ id }) => id)).toEqual([shell]);
      affinity?.set(shell, last);
      child.stdin?.write("go\n");
      const [started] = await waitFor("what the shell starts", below, (found) => found.length > 0);
      expect(affinity?.get(started?.pid ?? 0)).toEqual(last);
      expect(affinity?.get(0)).toEqual(all);
      expect(runnableThreads()).toBeGreaterThan(0);
    } finally {
      for (const { pid } of familyOf(shell)) process.kill(pid, "SIGKILL");
    }
  },
);
