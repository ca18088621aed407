/** What /proc knows about processes: identity, parents, sessions, size. Reads only; where /proc is missing every answer is "nothing known". */
import { existsSync, readFileSync, readdirSync } from "node:fs";

const KIB_BYTES = 1_024;

/** A pid alone is reused by the system; with its start time it names one process for good. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly startTime: string;
}

export interface ProcessFacts extends ProcessIdentity {
  readonly parent: number;
  readonly session: number;
  readonly state: string;
  /** How many threads it has. */
  readonly threads: number;
}

/** Null when there is no such process, or only its remains (a zombie). */
export function identify(pid: number): ProcessIdentity | null {
  const facts = readFacts(pid);
  if (!facts || facts.state === "Z" || facts.state === "X") return null;
  return { pid, startTime: facts.startTime };
}

export function isAlive(process: ProcessIdentity): boolean {
  return identify(process.pid)?.startTime === process.startTime;
}

/** Everything that descends from `root`, and what it left behind in its own session after its death. `root` itself is not included. */
export function descendantsOf(root: number): readonly ProcessIdentity[] {
  const all = allProcesses();
  const found = withDescendants(all, [root, ...all.filter((one) => one.session === root).map((one) => one.pid)]);
  return living(all, (pid) => found.has(pid) && pid !== root);
}

/** This process, what it started, and what that started, as far as their parents are alive. Asks only about them, unless the kernel cannot tell children. */
export function familyOf(root: number): readonly ProcessFacts[] {
  if (!existsSync(`/proc/self/task/${process.pid}/children`)) {
    const all = allProcesses();
    const found = withDescendants(all, [root]);
    return all.filter(({ pid }) => found.has(pid));
  }
  const family = new Map<number, ProcessFacts>();
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const facts = family.has(pid) ? null : readFacts(pid);
    if (facts === null) continue;
    family.set(pid, facts);
    const threads = facts.threads === 1 ? [pid] : threadsOf(pid).map(({ id }) => id);
    waiting.push(...threads.flatMap((thread) => childrenOf(facts.pid, thread)));
  }
  return [...family.values()];
}

function childrenOf(pid: number, thread: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // gone
  }
}

/** These, what they started, and what that started. */
export function withDescendants(all: readonly ProcessFacts[], roots: readonly number[]): Set<number> {
  const found = new Set(roots);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const one of all) if (found.has(one.parent)) found.add(one.pid);
  }
  return found;
}

/** Without the remains of those that have ended, and never this process itself. */
export function living(all: readonly ProcessFacts[], is: (pid: number) => boolean): readonly ProcessIdentity[] {
  return all
    .filter(({ pid, state }) => state !== "Z" && pid !== process.pid && is(pid))
    .map(({ pid, startTime }) => ({ pid, startTime }));
}

/** Different after every start of the machine, so that old records cannot match a new process. */
export function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return ""; // no /proc on this system
  }
}

/** All that were started with this variable, or inherited it, whoever their parents are now. */
export function withVariable(name: string, value: string): readonly ProcessIdentity[] {
  return living(allProcesses(), (pid) => hasVariable(pid, name, value));
}

export function hasVariable(pid: number, name: string, value: string): boolean {
  return variablesOf(pid).includes(`${name}=${value}`);
}

/** How much memory it holds. From `status` and not `statm`, because that counts in pages, whose size differs between machines. */
export function rssBytes(pid: number): number | null {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? null : Number(kib) * KIB_BYTES;
  } catch {
    return null; // gone, or no /proc on this system
  }
}

/** How many threads want a processor now, on the whole machine. */
export function runnableThreads(): number {
  try {
    return Number(/ (\d+)\/\d+ /.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // no /proc on this system
  }
}

export interface ProcessThread {
  readonly id: number;
  readonly running: boolean;
}

export function threadsOf(pid: number): readonly ProcessThread[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((name) => ({
      id: Number(name),
      running: readFacts(pid, name)?.state === "R",
    }));
  } catch {
    return []; // gone, or no /proc on this system
  }
}

/** Signals exactly this process, and none that took over its number. */
export function signalProcess(target: ProcessIdentity, signal: "SIGTERM" | "SIGKILL"): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, signal);
  } catch {
    // it ended between the look and the signal
  }
}

export function allProcesses(): readonly ProcessFacts[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readFacts(Number(name)) ?? []);
  } catch {
    return []; // no /proc on this system
  }
}

function variablesOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // gone, or another user's
  }
}

/** `thread`: of one of its threads. */
function readFacts(pid: number, thread?: string): ProcessFacts | null {
  try {
    const stat = readFileSync(thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`, "utf8");
    // The name in brackets may hold anything, spaces and brackets included; the fields begin after the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, , session] = fields;
    const startTime = fields[19];
    if (!state || !startTime) return null;
    const threads = Number(fields[17]);
    return { pid, state, parent: Number(parent), session: Number(session), startTime, threads };
  } catch {
    return null; // gone, or not ours to see
  }
}
