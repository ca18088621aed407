/** Runs all probes without a wall, or behind one, and the next start of the same agent after them. */
import { mkdirSync, openSync, closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ConfinedPlaces, SandboxTier, Wall } from "../../src/contracts/sandbox.ts";
import { testSandbox } from "../../src/testing/confined-run.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { PROBES } from "./probes/all.ts";
import { type Verdict, verdictsOf } from "./verdicts.ts";
import { type ProbeWorld, probeWorld, PYTHON } from "./world.ts";

const BUN = process.execPath;
/** Those that the runner finds open without a wall. */
export const DESCRIPTORS = { inheritedFile: 3, inheritedRoot: 4, inheritedHigh: 9 } as const;
/** Small, so that probes of the class "resources" pass them soon. */
export const PROBE_LIMITS = { processes: 320, memoryMb: 1_024, openFiles: 1_024, fileSizeMb: 1_024 } as const;
const RUN_MS = 110_000;

export async function hasTier(tier: Exclude<SandboxTier, "none">): Promise<boolean> {
  await using home = await tempHome();
  const wall = await testSandbox(home.path, [tier]).wall();
  return wall.report.tier === tier;
}

export interface ProbeRun {
  readonly verdicts: readonly Verdict[];
  readonly stderr: string;
  readonly ms: number;
}

/** `tier` null: no wall. */
export async function runProbes(tier: Exclude<SandboxTier, "none"> | null): Promise<ProbeRun> {
  await using home = await tempHome();
  const began = performance.now();
  const workspace = join(home.path, "workspace");
  const temp = join(home.path, "run", "tmp");
  for (const folder of [workspace, temp]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pi = tier === null ? "open" : "closed";
  await using world = await probeWorld(PROBES, { home: home.path, workspace, bun: BUN, facts: DESCRIPTORS, pi });
  const wall = tier === null ? null : await testSandbox(home.path, [tier]).wall();
  const start = starter(wall, world, { workspace, temp });
  const first = await start([PYTHON, join(world.folder, "runner.py"), join(world.folder, "order.json")]);
  const second = await start(["/bin/sh", "-c", nextStart(world)]);
  const verdicts = verdictsOf(world, {
    report: readFileSync(world.report, "utf8"),
    secrets: [world.canary],
    output: first.stdout,
    evidence: await world.evidence(),
  });
  return { verdicts, stderr: first.stderr + second.stderr, ms: performance.now() - began };
}

/** All at once, each in the folder that its probe has filled. */
function nextStart(world: ProbeWorld): string {
  const starts = world.probes.flatMap((probe) => {
    const place = join(world.folder, `next-${world.tagOf(probe)}`);
    const words = `export PLACE=${place} HOME=${place} BUN=${BUN}; cd $PLACE && ${probe.next}`;
    return probe.next === undefined ? [] : [`( ${words} ) >/dev/null 2>&1`];
  });
  return starts.join("\n");
}

function starter(wall: Wall | null, world: ProbeWorld, { workspace, temp }: { workspace: string; temp: string }) {
  const places: ConfinedPlaces = {
    read: [],
    readIfThere: [BUN],
    write: [workspace, temp],
    list: [],
    network: { kind: "closed", ports: [] },
    limits: PROBE_LIMITS,
  };
  return async (argv: readonly string[]) => {
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: workspace, TMPDIR: temp };
    const program = { argv, cwd: world.folder, env };
    const launch = wall?.confine(places, program) ?? program;
    const [file, root] = [openSync(world.token, "r"), openSync("/", "r")];
    const child = Bun.spawn([...launch.argv], {
      cwd: launch.cwd,
      env: { ...launch.env },
      stdio: ["ignore", "pipe", "pipe", file, root, "ignore", "ignore", "ignore", "ignore", file],
      signal: AbortSignal.timeout(RUN_MS),
      killSignal: "SIGKILL",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout as ReadableStream).text(),
      new Response(child.stderr as ReadableStream).text(),
      child.exited,
    ]);
    closeSync(file);
    closeSync(root);
    return { stdout, stderr };
  };
}
