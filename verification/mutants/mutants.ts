/**
 * `npm run mutants`: puts the seeded bugs of `verification/mutants/` into copies of the project, one by one, runs the tests that should
 * notice, and says by room how many did. `--room config` tries one room, `--only words` the bugs whose sentence fits this regular expression. A bug that
 * only a time limit notices counts as missed: nobody learns from it what is wrong.
 */
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MUTANT_ROOMS } from "./rooms.ts";
import { type SeededBug, withBug } from "./seeded-bug.ts";
import { ensureDist } from "../../scripts/bundle.ts";
import { type BatchResult, runBatch } from "../../scripts/test/run-batch.ts";
import { failedForTimeAlone } from "../../scripts/test/totals.ts";

const { values } = parseArgs({
  options: {
    room: { type: "string" },
    only: { type: "string", default: "" },
    "at-once": { type: "string", default: "2" },
  },
});

const LIMITS = { testMs: 30_000, silentMs: 90_000, wholeMs: 300_000, graceMs: 5_000 };
const COPIED = ["src", "bridge", "console", "scripts", "test", "verification", "examples", "docs", "bin"];
const FILES = ["package.json", "package-lock.json", "tsconfig.json", "bunfig.toml", "README.md", "CHANGELOG.md"];

interface Tried {
  readonly room: string;
  readonly caught: boolean;
}

async function copyOf(root: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "pi-gateway-mutants-"));
  for (const name of [...COPIED, ...FILES]) await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
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

async function tryBug(copy: string, room: string, bug: SeededBug): Promise<Tried> {
  const path = join(copy, bug.file);
  const text = await Bun.file(path).text();
  const changed = withBug(text, bug);
  if (changed === null) throw new Error(`"${bug.what}" does not fit ${bug.file} any more`);
  await Bun.write(path, changed);
  try {
    const result = await runTests(copy, bug.tests);
    const missed = missedBecause(result);
    const noticed = Bun.stripANSI(result.said).match(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/m)?.[1] ?? "it does not load";
    const seconds = `${(result.ms / 1_000).toFixed(0)} s`;
    console.log(
      `${missed ? "MISSED" : "caught"}  ${room}: ${bug.what}\n        ${seconds}, ${missed ?? `by: ${noticed}`}`,
    );
    return { room, caught: missed === null };
  } finally {
    await Bun.write(path, text);
  }
}

async function tryAll(root: string): Promise<number> {
  const chosen = MUTANT_ROOMS.filter(({ room }) => values.room === undefined || room === values.room)
    .flatMap(({ room, bugs }) => bugs.map((bug) => ({ room, bug })))
    .filter(({ bug }) => new RegExp(values.only, "i").test(bug.what));
  if (chosen.length === 0) throw new Error("no seeded bug has this room and these words");
  const copies = await Promise.all(Array.from({ length: Number(values["at-once"]) }, () => copyOf(root)));
  try {
    const tests = [...new Set(chosen.flatMap(({ bug }) => bug.tests))];
    const before = await runTests(copies[0] ?? "", tests);
    if (before.totals.failed > 0) throw new Error(`the tests fail without any bug:\n${before.said}`);
    const waiting = [...chosen];
    const tried: Tried[] = [];
    const work = async (copy: string): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        tried.push(await tryBug(copy, next.room, next.bug));
    };
    await Promise.all(copies.map(work));
    return report(tried);
  } finally {
    for (const copy of copies) await rm(copy, { recursive: true, force: true });
  }
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
