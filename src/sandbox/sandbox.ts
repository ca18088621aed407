/** Finds out once what wall this machine can build, by starting a program behind it, and starts programs behind that wall from then on. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { GatewayError } from "../contracts/errors.ts";
import type {
  ConfinedPlaces,
  ConfinedProgram,
  Launch,
  Sandbox,
  SandboxReport,
  SandboxTier,
  Wall,
} from "../contracts/sandbox.ts";
import type { Clock } from "../kit/clock.ts";
import type { AgentCgroups } from "./cgroups.ts";
import { macosLaunch } from "./macos.ts";
import { launchOf, type LauncherPrograms } from "./order.ts";
import { sandboxPolicy } from "./policy.ts";
import { tryWall } from "./probe.ts";
import { type Findings, reportOf } from "./tiers.ts";

interface SandboxOptions {
  /** The state directory. */
  readonly home: string;
  /** How Bun is run, and with which variables. */
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
  /** The built launcher. */
  readonly launcher: string;
  /** Tries these tiers only. Default: both. */
  readonly tiers?: readonly BuiltTier[];
  /** Limits for all processes of an agent together, or why there are none. Default: none. */
  readonly cgroups?: AgentCgroups | string;
}

type BuiltTier = Exclude<SandboxTier, "none">;

/** Where systems keep what they bring themselves; the PATH of whoever starts the gateway does not decide. */
const SYSTEM_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];
/** Below those of agents, which begin far above. */
const PROBE_MARK = "1";
/** Bun takes no settings from anywhere, and installs nothing. */
const LAUNCHER_FLAGS = ["--no-install", "--config=/dev/null"];

export function createSandbox(deps: { readonly clock: Clock }, options: SandboxOptions): Sandbox {
  const { tiers = ["full", "basic"], home, bunEnv } = options;
  let { cgroups = "whether it has a cgroup for that shows when the gateway runs" } = options;
  let found: Promise<Wall> | null = null;
  let report: SandboxReport | null = null;
  const look = async (): Promise<Wall> => {
    const programs = launcherPrograms(options);
    const tried = async (tier: BuiltTier): Promise<string | null> => {
      if (!tiers.includes(tier)) return "it is switched off";
      const why = unusable(tier, programs);
      if (why !== null) return why;
      const start = (places: ConfinedPlaces, program: ConfinedProgram) =>
        counted({ home, programs, cgroups }, tier, { places, program: { ...program, mark: PROBE_MARK } });
      const trouble = await tryWall(deps, { home, bunEnv, name: tier }, start);
      if (trouble === null || typeof cgroups === "string") return trouble;
      cgroups = trouble; // a wall is worth more than what they hold
      return tryWall(deps, { home, bunEnv, name: tier }, start);
    };
    const full = await tried("full");
    const basic = full === null ? null : await tried("basic"); // the second costs a start of the gateway as much as the first
    const together = typeof cgroups === "string" ? cgroups : null;
    const limitsMemory = typeof cgroups !== "string" && cgroups.limitsMemory;
    const findings = { platform: process.platform, full, basic, together, limitsMemory };
    const wall = wallOf({ home, programs, cgroups }, findings);
    report = wall.report;
    return wall;
  };
  return { wall: () => (found ??= look()), report: () => report };
}

/** With what walls are built here. */
interface Tools {
  /** The state directory. */
  readonly home: string;
  readonly programs: LauncherPrograms;
  readonly cgroups: AgentCgroups | string;
}

function wallOf(tools: Tools, findings: Findings): Wall {
  const report = reportOf(findings);
  return {
    report,
    confine(places, program) {
      if (report.tier === "none") throw new GatewayError("internal", "there is no wall to start a program behind");
      return counted(tools, report.tier, { places, program });
    },
  };
}

interface Confined {
  readonly places: ConfinedPlaces;
  readonly program: ConfinedProgram & { readonly cgroup?: string };
}

/** With a cgroup of its own, where there are any. */
function counted(tools: Tools, tier: BuiltTier, confined: Confined): Launch {
  const { places, program } = confined;
  const cgroup = groupFor(tools, confined);
  if (cgroup === null) return launch(tools, tier, confined);
  try {
    const made = launch(tools, tier, { places, program: { ...program, cgroup: cgroup.path } });
    return { ...made, release: cgroup.release };
  } catch (error) {
    cgroup.release();
    throw error;
  }
}

function groupFor({ cgroups }: Tools, { places, program }: Confined) {
  if (typeof cgroups === "string" || program.mark === undefined) return null;
  return cgroups.make(program.mark, places.limits);
}

function launch({ home, programs }: Tools, tier: BuiltTier, { places, program }: Confined): Launch {
  const relay = tier === "full" && program.relay !== undefined ? relayCommand(programs, program.relay) : null;
  const readable = relay === null ? places : { ...places, read: [...places.read, ...relay.files] };
  const made = sandboxPolicy(home, readable);
  if (!made.ok) throw new GatewayError("sandbox_unusable", made.say, { say: made.say });
  if (process.platform === "darwin") return macosLaunch(made.policy, program);
  const started = relay === null ? program : { ...program, argv: [...relay.argv, ...program.argv] };
  return launchOf(tier, made.policy, started, programs);
}

/** The relay lies beside the launcher, under its name. */
function relayCommand({ bun, launcher }: LauncherPrograms, descriptor: number) {
  const file = launcher.endsWith(".ts") ? join(dirname(launcher), "relay.ts") : launcher.replace(/\.js$/, ".relay.js");
  return { argv: [...bun, file, String(descriptor)], files: [bun[0] ?? process.execPath, file] };
}

function unusable(tier: BuiltTier, { unshare, launcher }: LauncherPrograms): string | null {
  if (process.platform === "darwin") return tier === "full" ? "macOS has no namespaces" : null;
  if (process.platform !== "linux") return `there is no wall for ${process.platform}`;
  if (!existsSync(launcher)) return "the launcher has not been built";
  return tier === "full" && unshare === null ? "unshare of util-linux is not installed" : null;
}

function launcherPrograms({ bun, launcher }: SandboxOptions): LauncherPrograms {
  const [runtime = process.execPath, ...flags] = bun;
  const own = flags.filter((flag) => !flag.startsWith("--config="));
  return {
    unshare: inSystem("unshare"),
    setpriv: inSystem("setpriv"),
    shell: "/bin/sh",
    bun: [runtime, ...own, ...LAUNCHER_FLAGS],
    launcher,
  };
}

function inSystem(name: string): string | null {
  return SYSTEM_FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path)) ?? null;
}
