/**
 * Runs some test files in a Bun process of their own. Bun's own `--parallel` is not used: its long-lived workers are known to lose the news
 * of a child's exit and to answer no more (oven-sh/bun 43697), and a run that ended in this way never ended. Who falls silent is ended here.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  descendantsOf,
  identify,
  isAlive,
  type ProcessIdentity,
  signalProcess,
} from "../../src/agents/process/proc.ts";
import { deferred } from "../../src/kit/deferred.ts";
import type { CostMeter } from "./costs.ts";
import { type Totals, totalsOf } from "./totals.ts";

const WHOLE_PROCESS = /mock\.module\(|memory-growth|heapStats|Bun\.gc\(/;

export interface BatchLimits {
  /** Of one test or hook, kept by Bun. */
  readonly testMs: number;
  /** Without a word. Longer than a hook and a test after it may take. */
  readonly silentMs: number;
  /** Of the whole process. */
  readonly wholeMs: number;
  /** After it was ended, until its end is no longer waited for: the news of it may be what was lost. */
  readonly graceMs: number;
}

export interface BatchResult {
  readonly totals: Totals;
  readonly said: string;
  readonly ms: number;
  /** Of processors, for it and those it started and saw the end of (with a meter: all it started): the same on a busy machine, where `ms` is not. */
  readonly processorMs: number;
  /** It had to be ended. */
  readonly stuck: boolean;
}

export interface BatchWorld {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A regular expression for the names of the tests that are to run. Without it, all of them do. */
  readonly names?: string | undefined;
  /** Counts what a parent cannot: processes that were killed or left their parents. */
  readonly meter?: CostMeter;
}

export async function runBatch(
  { root, env, names, meter }: BatchWorld,
  files: readonly string[],
  limits: BatchLimits,
): Promise<BatchResult> {
  const temporary = mkdtempSync(join(tmpdir(), "pi-gw-"));
  const began = performance.now();
  const isolate = files.length > 1 && files.some((file) => needsIsolation(root, file)) ? ["--isolate"] : [];
  const command = [
    ...[process.execPath, "--no-env-file", "test", `--timeout=${limits.testMs}`, ...isolate],
    ...(names === undefined ? [] : [`--test-name-pattern=${names}`]),
    ...files.map((file) => `./${file}`),
  ];
  using group = meter?.open();
  const child = Bun.spawn([...(group?.inGroup(command) ?? command)], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, TMPDIR: temporary },
  });
  const itself = identify(child.pid); // a number alone may be another process's by the time it is used
  let said = "";
  let stuck = false;
  const gaveUp = deferred<void>();
  const giveUp = (): void => {
    stuck = true;
    if (itself) endFamily(itself);
    setTimeout(gaveUp.resolve, limits.graceMs);
  };
  let silence = setTimeout(giveUp, limits.silentMs);
  const whole = setTimeout(giveUp, limits.wholeMs);
  let over = false;
  const take = (text: string): void => {
    if (over) return;
    said += text;
    clearTimeout(silence);
    silence = setTimeout(giveUp, limits.silentMs);
  };
  const ended = Promise.all([child.exited, read(child.stdout, take), read(child.stderr, take)]);
  await Promise.race([ended, gaveUp.promise]);
  over = true;
  clearTimeout(silence);
  clearTimeout(whole);
  rmSync(temporary, { recursive: true, force: true });
  const plain = Bun.stripANSI(said);
  const exitCode = stuck ? null : child.exitCode;
  const ms = performance.now() - began;
  const processorMs = group?.processorMs() ?? Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000;
  return { totals: totalsOf(plain, exitCode), said, ms, processorMs, stuck };
}

/**
 * Isolated files load every module anew, which takes a third of the time of a room. Modules of this project keep nothing, so files share
 * them, unless a file puts something else in the place of a module, or counts what is in memory.
 */
export function needsIsolation(root: string, file: string): boolean {
  return WHOLE_PROCESS.test(readFileSync(join(root, file), "utf8"));
}

/** Gateways and agents are in sessions of their own: ending the test process alone would leave them behind. */
function endFamily(itself: ProcessIdentity): void {
  if (!isAlive(itself)) return;
  for (const one of [...descendantsOf(itself.pid), itself]) signalProcess(one, "SIGKILL");
}

async function read(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}
