/**
 * Runs all tests and closes with one line, `N passed, N failed`. The numbers are Bun's own; a run that ended badly never says "0 failed",
 * and a run without any test is a failure.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureDist } from "./bundle.ts";

const TEST_TIMEOUT_MS = 60_000;
/** Much of the time is spent waiting for processes, disks and timers, so four files at a time fit two cores well. */
const FILES_AT_ONCE = 4;
const TAIL_CHARS = 4_000;
const FOLDERS = ["./src", "./test", "./bridge", "./console", "./examples"];

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads Bun's closing lines. `exitCode` has the last word: a file that does not load fails the run without being counted. */
export function totalsOf(tail: string, exitCode: number): Totals {
  const count = (word: string): number => {
    const lines = [...tail.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))];
    return Number(lines.at(-1)?.[1] ?? 0);
  };
  const [passed, failed, skipped] = [count("pass"), count("fail"), count("skip")];
  const bad = exitCode !== 0 || passed + failed === 0;
  return { passed, failed: bad ? Math.max(failed, 1) : failed, skipped };
}

export function closingLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

async function runTests(root: string, args: readonly string[]): Promise<number> {
  await ensureDist(root);
  const cache = join(root, "node_modules/.cache/pi-gateway/bun"); // shared by every gateway and agent the tests start
  mkdirSync(cache, { recursive: true });
  const chosen = args.some((arg) => !arg.startsWith("-")) ? [] : FOLDERS;
  const run = Bun.spawn(
    [
      process.execPath,
      "--no-env-file",
      "test",
      `--timeout=${TEST_TIMEOUT_MS}`,
      `--parallel=${FILES_AT_ONCE}`,
      ...chosen,
      ...args,
    ],
    {
      cwd: root,
      stdio: ["ignore", "inherit", "pipe"],
      env: { ...process.env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache },
    },
  );
  let tail = "";
  const decoder = new TextDecoder();
  for await (const chunk of run.stderr) {
    process.stderr.write(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-TAIL_CHARS);
  }
  const exitCode = await run.exited;
  const totals = totalsOf(Bun.stripANSI(tail), exitCode);
  console.log(`\n${closingLine(totals)}`);
  return exitCode === 0 && totals.failed > 0 ? 1 : exitCode;
}

if (import.meta.main) process.exit(await runTests(dirname(import.meta.dir), process.argv.slice(2)));
