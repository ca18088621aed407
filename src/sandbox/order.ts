/** How a confined program is started: the command in front of it, and what the launcher is told. Pure. */
import type { ConfinedProgram, Launch } from "../contracts/sandbox.ts";
import type { SandboxPolicy } from "./policy.ts";

/** Where the programs are that make namespaces, and how the launcher is run. Absolute paths, so that no PATH decides. */
export interface LauncherPrograms {
  readonly unshare: string | null;
  /** Ends everything when the gateway is killed. */
  readonly setpriv: string | null;
  readonly shell: string;
  /** Bun with its arguments. */
  readonly bun: readonly string[];
  readonly launcher: string;
}

/** The launcher takes it as JSON, in its first argument. Holds no secret: argument lists can be read by others. */
export interface LaunchOrder {
  readonly tier: "full" | "basic";
  readonly policy: SandboxPolicy;
  readonly cwd: string;
  /**
   * Names of variables that the program gets and the launcher must not: they would change how Bun or a shell starts. Their values come in the
   * environment under names that nobody reads (`LATER`).
   */
  readonly later: readonly string[];
  /** Names of the variables that the program gets from the launcher: shells add some of their own. */
  readonly keeps: readonly string[];
  readonly mark: string | null;
  /** The cgroup that it puts itself into; null: there is none. */
  readonly cgroup: string | null;
  readonly descriptors: readonly number[];
}

export const LATER = "PI_GW_LATER_";

/** Reaps what was left to it, and ends with the program, which ends the pid namespace and everything in it. */
const INIT_SCRIPT = '"$@"; exit $?';
/** Tells an executable that holds the gateway to be Bun. For what stands before a program, and for a program that Bun runs; another one made by Bun would become Bun as well. */
const BE_BUN = "BUN_BE_BUN";
/** Read by Bun, by a shell or by the loader when they start. */
const ACTS_AT_START = /^(BUN_(?!BE_BUN$)|NODE_|LD_|ENV$|BASH_ENV$|HOME$|TMPDIR$|TMP$|TEMP$)/;

export function launchOf(
  tier: LaunchOrder["tier"],
  policy: SandboxPolicy,
  program: ConfinedProgram & { readonly cgroup?: string },
  programs: LauncherPrograms,
): Launch {
  const names = Object.keys(program.env);
  const isRunByBun = program.argv[0] === programs.bun[0];
  const order: LaunchOrder = {
    tier,
    policy,
    cwd: program.cwd,
    later: names.filter((name) => ACTS_AT_START.test(name)),
    keeps: names.filter((name) => !ACTS_AT_START.test(name) && (name !== BE_BUN || isRunByBun)),
    mark: program.mark ?? null,
    cgroup: program.cgroup ?? null,
    descriptors: program.descriptors ?? [],
  };
  const launcher = [...programs.bun, programs.launcher, JSON.stringify(order), ...program.argv];
  const inNamespaces = [...namespaces(policy, programs), programs.shell, "-c", INIT_SCRIPT, "sh", ...launcher];
  return {
    argv: tier === "full" ? inNamespaces : launcher,
    cwd: "/", // outside of every folder that agents write to: Bun reads settings, code included, from where it starts
    env: Object.fromEntries(
      Object.entries(program.env).map(([name, value]) => [ACTS_AT_START.test(name) ? LATER + name : name, value]),
    ),
    wrappers: tier === "full" ? 2 : 0,
  };
}

function namespaces({ network }: SandboxPolicy, { unshare, setpriv }: LauncherPrograms): readonly string[] {
  const tied = setpriv === null ? [] : [setpriv, "--pdeathsig", "KILL"];
  const own = ["--user", "--map-current-user", "--keep-caps", "--mount", "--pid", "--ipc"];
  const more = network.kind === "closed" ? ["--net"] : [];
  return [...tied, unshare ?? "unshare", ...own, ...more, "--fork", "--kill-child", "--"];
}
