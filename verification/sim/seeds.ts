/**
 * Plays a row of seeds, in as many processes as it is told, and adds up what happened. A process of its own for each share: the simulated
 * worlds have nothing to say to each other. Started as a script it is one such process and reports in JSON lines.
 */
import { blankDisk } from "../../src/testing/disk.ts";
import { runSeed, type SimResult } from "./run.ts";
import type { WorldOptions } from "./world.ts";

export interface Seeds {
  readonly first: number;
  readonly count: number;
  readonly about: WorldOptions;
}

export interface Played {
  readonly played: number;
  readonly failed: readonly Pick<SimResult, "seed" | "options" | "broken" | "trace">[];
  readonly sums: Readonly<Record<string, number>>;
}

const NOTHING: Played = { played: 0, failed: [], sums: {} };
/** How many worlds a process plays between two reports. */
const REPORT_EVERY = 25;
const TRACE_LINES = 60;
/** Lives that were killed leave waits behind that nobody ends, so a process plays so many worlds and gives its memory back. */
const WORLDS_PER_PROCESS = 250;

/** `onProgress` is told the sum of all shares whenever it has grown. */
export async function playSeeds(
  seeds: Seeds,
  processes: number,
  onProgress: (so: Played) => void = () => undefined,
): Promise<Played> {
  let total = NOTHING;
  const take = (more: Played): void => {
    total = add(total, more);
    onProgress(total);
  };
  await Promise.all(shares(seeds, processes).map((share) => playShare(share, take)));
  return total;
}

/** In this process, until the first seed that fails. */
export async function playToFirstFailure({ first, count, about }: Seeds): Promise<Played> {
  const blank = blankDisk();
  let total = NOTHING;
  for (let seed = first; seed < first + count && total.failed.length === 0; seed++)
    total = add(total, played(await runSeed(seed, blank, about)));
  return total;
}

function shares({ first, count, about }: Seeds, processes: number): readonly Seeds[] {
  const size = Math.ceil(count / processes);
  const all = Array.from({ length: processes }, (_, at) => ({
    first: first + at * size,
    count: Math.min(size, count - at * size),
    about,
  }));
  return all.filter((share) => share.count > 0);
}

async function playShare({ first, count, about }: Seeds, take: (more: Played) => void): Promise<void> {
  for (let done = 0; done < count; done += WORLDS_PER_PROCESS)
    await playInProcess({ first: first + done, count: Math.min(WORLDS_PER_PROCESS, count - done), about }, take);
}

async function playInProcess({ first, count, about }: Seeds, take: (more: Played) => void): Promise<void> {
  const child = Bun.spawn(
    [process.execPath, "--no-env-file", import.meta.path, String(first), String(count), JSON.stringify(about)],
    {
      stdio: ["pipe", "pipe", "inherit"], // when we are gone its input ends, and so does it
    },
  );
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of child.stdout) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split("\n");
    held = lines.pop() ?? "";
    for (const line of lines) take(JSON.parse(line) as Played);
  }
  const code = await child.exited;
  if (code !== 0) throw new Error(`the process that played from seed ${first} on ended with ${code}`);
}

async function play({ first, count, about }: Seeds): Promise<void> {
  const blank = blankDisk();
  let since = NOTHING;
  for (let seed = first; seed < first + count; seed++) {
    since = add(since, played(await runSeed(seed, blank, about)));
    if (since.played < REPORT_EVERY && seed < first + count - 1) continue;
    console.log(JSON.stringify(since));
    since = NOTHING;
  }
}

function played({ seed, options, broken, trace, counts }: SimResult): Played {
  const failed = broken.length === 0 ? [] : [{ seed, options, broken, trace: trace.slice(-TRACE_LINES) }];
  return { played: 1, failed, sums: counts };
}

function add(one: Played, other: Played): Played {
  const sums: Record<string, number> = { ...one.sums };
  for (const [name, number] of Object.entries(other.sums)) sums[name] = (sums[name] ?? 0) + number;
  return { played: one.played + other.played, failed: [...one.failed, ...other.failed], sums };
}

if (import.meta.main) {
  process.stdin.on("end", () => process.exit(1)).resume();
  const about = JSON.parse(process.argv[4] ?? "{}") as WorldOptions;
  await play({ first: Number(process.argv[2]), count: Number(process.argv[3]), about });
  process.exit(0);
}
