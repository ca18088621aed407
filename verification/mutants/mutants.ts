/**
 * `npm run mutants`: puts the seeded bugs of `verification/mutants/` into copies of the project, one by one, runs the tests that should
 * notice, and says by room how many did. `--room config` tries one room, `--only words` the bugs whose sentence fits this regular expression. A bug that
 * only a time limit notices counts as missed: nobody learns from it what is wrong.
 */
import { join } from "node:path";
import { ensureDist } from "../../scripts/bundle.ts";
import { type BatchResult, runBatch } from "../../scripts/test/run-batch.ts";
import { failedForTimeAlone } from "../../scripts/test/totals.ts";
import { copyProject, type ProjectCopy } from "./project-copy.ts";
import { MUTANT_ROOMS } from "./rooms.ts";
import type { SeededBug } from "./seeded-bug.ts";
import { scriptOptions } from "../../scripts/script-options.ts";

const values = scriptOptions(
  "verification/mutants/mutants.ts",
  {
    room: { type: "string" },
    only: { type: "string", default: "" },
    "at-once": { type: "string", default: "2" },
  },
  ["at-once"],
);

/** The probes of test/escape say nothing for a minute, and for two on a machine that is busy. */
const LIMITS = { testMs: 30_000, silentMs: 240_000, wholeMs: 300_000, graceMs: 5_000 };

/** Of the tests that noticed a bug. */
const MAX_SHOWN = 3;

interface Tried {
  readonly room: string;
  readonly caught: boolean;
}

async function runTests(copy: string, tests: readonly string[]): Promise<BatchResult> {
  if (tests.some((name) => name.startsWith("test/"))) await ensureDist(copy); // whole gateways run what was built
  const files = [...new Set(tests.flatMap((name) => testFiles(copy, name)))];
  return runBatch({ root: copy, env: process.env }, files, LIMITS);
}

function testFiles(root: string, name: string): readonly string[] {
  if (name.endsWith(".ts")) return [name];
  return [...new Bun.Glob(`${name}/**/*.test.{ts,tsx}`).scanSync(root)];
}

/** Why a bug is not caught; null: a test failed, and not for its time alone. */
function missedBecause({ totals, said, stuck }: BatchResult): string | null {
  if (totals.failed === 0) return "every test passes";
  return stuck || failedForTimeAlone(Bun.stripANSI(said)) ? "only a time limit noticed" : null;
}

/** Several, because a busy machine may fail a test that measures time: whoever reads them sees whether one of them is about the bug. */
function failedTests(said: string): readonly string[] {
  const found = Bun.stripANSI(said).matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm);
  return [...new Set([...found].map(([, name = ""]) => name))];
}

async function tryBug(copy: ProjectCopy, room: string, bug: SeededBug): Promise<Tried> {
  const result = await copy.tryBug(bug, () => runTests(copy.path, bug.tests));
  const missed = missedBecause(result);
  const noticed = failedTests(result.said).slice(0, MAX_SHOWN).join("\n            ") || "it does not load";
  const seconds = `${(result.ms / 1_000).toFixed(0)} s`;
  console.log(
    `${missed ? "MISSED" : "caught"}  ${room}: ${bug.what}\n        ${seconds}, ${missed ?? `by: ${noticed}`}`,
  );
  return { room, caught: missed === null };
}

async function tryAll(root: string): Promise<number> {
  const chosen = MUTANT_ROOMS.filter(({ room }) => values.room === undefined || room === values.room)
    .flatMap(({ room, bugs }) => bugs.map((bug) => ({ room, bug })))
    .filter(({ bug }) => new RegExp(values.only, "i").test(bug.what));
  if (chosen.length === 0) throw new Error("no seeded bug has this room and these words");
  await using copies = new AsyncDisposableStack();
  const copy = async (): Promise<ProjectCopy> => copies.use(await copyProject(root));
  const [first, ...others] = [
    await copy(),
    ...(await Promise.all(Array.from({ length: Number(values["at-once"]) - 1 }, copy))),
  ];
  const before = await runTests(first.path, [...new Set(chosen.flatMap(({ bug }) => bug.tests))]);
  if (before.totals.failed > 0) throw new Error(`the tests fail without any bug:\n${before.said}`);
  const waiting = [...chosen];
  const tried: Tried[] = [];
  const work = async (copied: ProjectCopy): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      tried.push(await tryBug(copied, next.room, next.bug));
  };
  await Promise.all([first, ...others].map(work));
  return report(tried);
}

function report(tried: readonly Tried[]): number {
  const line = (name: string, some: readonly Tried[]): string =>
    `${name.padEnd(16)} ${some.filter(({ caught }) => caught).length} of ${some.length} caught`;
  console.log("");
  for (const { room } of MUTANT_ROOMS) {
    const some = tried.filter((one) => one.room === room);
    if (some.length > 0) console.log(line(room, some));
  }
  console.log(line("all", tried));
  return tried.every(({ caught }) => caught) ? 0 : 1;
}

if (import.meta.main) process.exit(await tryAll(join(import.meta.dir, "../..")));
