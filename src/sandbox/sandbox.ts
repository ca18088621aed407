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
}

type BuiltTier = Exclude<SandboxTier, "none">;

/** Where systems keep what they bring themselves; the PATH of whoever starts the gateway does not decide. */
const SYSTEM_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];
/** Bun takes no settings from anywhere, and installs nothing. */
const LAUNCHER_FLAGS = ["--no-install", "--config=/dev/null"];

export function createSandbox(deps: { readonly clock: Clock }, options: SandboxOptions): Sandbox {
  const { tiers = ["full", "basic"] } = options;
  let found: Promise<Wall> | null = null;
  let report: SandboxReport | null = null;
  const look = async (): Promise<Wall> => {
    const programs = launcherPrograms(options);
    const tried = async (tier: BuiltTier): Promise<string | null> => {
      if (!tiers.includes(tier)) return "it is switched off";
      const { home, bunEnv } = options;
      const start = (places: ConfinedPlaces, program: ConfinedProgram) =>
        launch(options, programs, tier, { places, program });
      return unusable(tier, programs) ?? tryWall(deps, { home, bunEnv, name: tier }, start);
    };
    const full = await tried("full");
    const basic = full === null ? null : await tried("basic"); // the second costs a start of the gateway as much as the first
    const wall = wallOf(options, programs, { platform: process.platform, full, basic });
    report = wall.report;
    return wall;
  };
  return { wall: () => (found ??= look()), report: () => report };
}

function wallOf(options: SandboxOptions, programs: LauncherPrograms, findings: Findings): Wall {
  const report = reportOf(findings);
  return {
    report,
    confine(places, program) {
      if (report.tier === "none") throw new GatewayError("internal", "there is no wall to start a program behind");
      return launch(options, programs, report.tier, { places, program });
    },
  };
}

interface Confined {
  readonly places: ConfinedPlaces;
  readonly program: ConfinedProgram;
}

function launch(
  { home }: SandboxOptions,
  programs: LauncherPrograms,
  tier: BuiltTier,
  { places, program }: Confined,
): Launch {
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
