/** Runs a program under a policy the way agents are run, and gives what it said: for tests that try to get out. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ConfinedPlaces, ConfinedProgram, Sandbox, SandboxTier, Wall } from "../contracts/sandbox.ts";
import { systemClock } from "../kit/clock.ts";
import { type AgentCgroups, createSandbox } from "../sandbox/index.ts";
import { sandboxPath } from "./whole/bridge-path.ts";

interface ConfinedRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export interface ConfinedRoom {
  readonly home: string;
  /** Its working folder, the only one it may write besides `temp`. */
  readonly workspace: string;
  readonly temp: string;
  readonly wall: Wall;
  /** A command line for `/bin/sh -c`, or an argument list. `more` adds to what is reachable. */
  run(
    command: string | readonly string[],
    more?: Partial<ConfinedPlaces>,
    program?: Partial<ConfinedProgram>,
  ): Promise<ConfinedRun>;
}

const RUN_MS = 90_000;

/** As the gateway has it. */
export function testSandbox(
  home: string,
  tiers: readonly Exclude<SandboxTier, "none">[] = ["full", "basic"],
  cgroups: AgentCgroups | string = "tests have none",
): Sandbox {
  const bun = [process.execPath, "--no-env-file"];
  return createSandbox({ clock: systemClock }, { home, bun, bunEnv: {}, launcher: sandboxPath(), tiers, cgroups });
}

/** `home` is the state directory around it. Null: this machine cannot build that tier. */
export async function confinedRoom(
  home: string,
  tier: Exclude<SandboxTier, "none">,
  cgroups?: AgentCgroups,
): Promise<ConfinedRoom | null> {
  const wall = await testSandbox(home, [tier], cgroups).wall();
  if (wall.report.tier !== tier) return null;
  const workspace = join(home, "workspace");
  const temp = join(home, "run", "tmp");
  for (const folder of [workspace, temp]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const places: ConfinedPlaces = {
    read: [],
    readIfThere: [process.execPath],
    write: [workspace, temp],
    list: [],
    network: { kind: "closed", ports: [] },
    limits: { processes: 1_024, memoryMb: 4_096, openFiles: 8_192, fileSizeMb: 4_096 },
  };
  return {
    home,
    workspace,
    temp,
    wall,
    async run(command, more = {}, program = {}) {
      const argv = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
      const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: workspace, TMPDIR: temp };
      const launch = wall.confine({ ...places, ...more }, { argv, cwd: workspace, env, ...program });
      const child = Bun.spawn([...launch.argv], {
        cwd: launch.cwd,
        env: launch.env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        signal: AbortSignal.timeout(RUN_MS),
        killSignal: "SIGKILL",
      });
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { stdout, stderr, code };
    },
  };
}
