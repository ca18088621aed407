/** The outside of the wall for one run of all probes: neighbour.py with its secrets, services and processes, and what it saw afterwards. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitForEnd } from "../../src/testing/wait-for.ts";
import { sandboxPath } from "../../src/testing/whole/bridge-path.ts";
import type { Probe } from "./probes/probe.ts";

export const PYTHON = "/usr/bin/python3";
/** Nobody of this machine has it. */
const STRANGER = 64_321;
const READY_MS = 20_000;

/** What the neighbour saw, by the tags of probes. */
interface Evidence {
  /** Came by a socket. */
  readonly reached: readonly string[];
  /** Left a process behind. */
  readonly left: readonly string[];
  /** Changed its folder outside. */
  readonly changed: readonly string[];
  /** Changed its process outside. */
  readonly hurt: readonly string[];
}

interface Planted {
  readonly world: Readonly<Record<string, unknown>>;
  readonly victims: Readonly<Record<string, number>>;
  readonly targets: Readonly<Record<string, string>>;
}

export interface ProbeWorld extends AsyncDisposable {
  readonly canary: string;
  readonly probes: readonly Probe[];
  /** Where runner.py and its order lie, inside of the workspace. */
  readonly folder: string;
  readonly report: string;
  readonly token: string;
  tagOf(probe: Probe): string;
  /** What the probes did outside. */
  evidence(): Promise<Evidence>;
}

interface WorldOptions {
  /** The state directory. */
  readonly home: string;
  readonly workspace: string;
  readonly bun: string;
  /** More for the probes to know, or something else than the neighbour planted. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Who is pi: the runner itself, as it comes or with its memory closed as the bridge does it, or the process above its shell. */
  readonly pi: "open" | "closed" | "above";
}

export async function probeWorld(probes: readonly Probe[], options: WorldOptions): Promise<ProbeWorld> {
  const { home, workspace } = options;
  const folder = join(workspace, "escape");
  const sockets = mkdtempSync(join(tmpdir(), "gw-s-")); // the path of a socket has at most 107 characters
  mkdirSync(folder, { recursive: true });
  cpSync(join(import.meta.dir, "runner.py"), join(folder, "runner.py"));
  const id = crypto.randomUUID().slice(0, 8);
  const canary = `CANARY${crypto.randomUUID().replaceAll("-", "")}`;
  const tagOf = (probe: Probe): string => `${id}n${probes.indexOf(probe)}e`;
  const victims = probes.filter((probe) => probe.victim).map(tagOf);
  const neighbour = Bun.spawn([PYTHON, join(import.meta.dir, "neighbour.py")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = linesOf(neighbour.stdout);
  const asked = async <T>(question: unknown): Promise<T> => {
    neighbour.stdin.write(`${JSON.stringify(question)}\n`);
    neighbour.stdin.flush();
    const { value } = await waitForEnd("the neighbour's answer", lines.next(), { withinMs: READY_MS });
    return JSON.parse(value ?? "null") as T;
  };
  const planted = await asked<Planted>({
    root: home,
    workspace: folder,
    sockets,
    tags: probes.map(tagOf),
    victims,
    canary,
  });
  const report = join(folder, "report.jsonl");
  const order = {
    report,
    pi: options.pi,
    world: {
      ...planted.world,
      ...options.facts,
      workspace: folder,
      bun: options.bun,
      launcher: sandboxPath(),
      setuid: setuidProgram(folder),
    },
    probes: probes.map((probe) => ({ name: probe.name, program: probe.program, me: ownPart(tagOf(probe), planted) })),
  };
  writeFileSync(join(folder, "order.json"), JSON.stringify(order));
  return {
    canary,
    probes,
    folder,
    report,
    token: String(planted.world["token"]),
    tagOf,
    evidence: () => asked<Evidence>("look"),
    async [Symbol.asyncDispose]() {
      neighbour.stdin.end();
      await neighbour.exited;
      rmSync(sockets, { recursive: true, force: true });
    },
  };
}

function ownPart(tag: string, { victims, targets }: Planted): Readonly<Record<string, unknown>> {
  const outside = targets[tag] ?? "";
  const victim = victims[tag];
  return {
    tag,
    outside,
    target: join(outside, "target"),
    ...(victim === undefined ? {} : { victim, stack: stackOf(victim) }),
  };
}

/** First and last address of its stack: no probe needs /proc to know where to look. */
export function stackOf(pid: number): readonly number[] {
  const line = /^(\w+)-(\w+) .*\[stack\]/m.exec(readFileSync(`/proc/${pid}/maps`, "utf8"));
  return [line?.[1], line?.[2]].map((address) => Number.parseInt(address ?? "0", 16));
}

/** Only root can make one that says more than its own user would. */
function setuidProgram(folder: string): string {
  const path = join(folder, "as-stranger");
  copyFileSync("/usr/bin/id", path);
  if (process.getuid?.() !== 0) return path;
  chownSync(path, STRANGER, STRANGER);
  chmodSync(path, 0o4755);
  return path;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, string> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of stream) {
    held += decoder.decode(chunk, { stream: true });
    const lines = held.split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
  return "null";
}
