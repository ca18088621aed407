/** What each tier does not hold, as sentences for owners. Pure. SECURITY.md has the same as a table. */
import type { SandboxReport } from "../contracts/sandbox.ts";

/** What was found when the tiers were tried. */
export interface Findings {
  readonly platform: string;
  /** Null: it works. Otherwise why it does not. */
  readonly full: string | null;
  readonly basic: string | null;
  /** Why an agent's processes are not limited together; null: they are. */
  readonly together: string | null;
  readonly limitsMemory: boolean;
}

const BASIC_LEAKS: readonly string[] = [
  "Names, sizes, times and modes of files outside of its folders can be read and watched, and those of your own changed (stat, inotify, chmod, touch).",
  "Command lines and states of other processes, and names of ports, sockets, mounts and keys, can be read in /proc.",
  "Signals reach your other processes where Landlock is older than version 6.",
  "Programs share your limits of processes, memory and file watches.",
  "/tmp and /dev/shm are closed; temporary files go to TMPDIR.",
];
const MACOS_LEAKS: readonly string[] = [
  "Command lines and names of other processes can be read.",
  "Memory and processes are not limited.",
];
const NO_WALL_LEAKS: readonly string[] = ["Agent processes run as your user; pi tools are off."];
/** Owners who can do something about it are told what is missing. */
function sharedMemoryLeak({ limitsMemory, together }: Findings): readonly string[] {
  if (limitsMemory) return [];
  const because = together ?? "its cgroup has no memory controller";
  return [`Memory is limited for each process, not for all processes of an agent together: ${because}.`];
}

const PORT_LEAK =
  "Where agent.network allows hosts, the ports of the proxy and of the gateway can be reached on any host, not only on this one.";

const NAMESPACE_ADVICE =
  "Allow user namespaces for a full wall: on Ubuntu 24.04 and newer `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, in a container `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`; install util-linux where unshare is missing.";
/** The kernel's words when somebody has closed user namespaces by their number, or used it up. */
const NONE_LEFT = /No space left on device/;
const NUMBER_ADVICE =
  'Raise user.max_user_namespaces for a full wall (`sysctl user.max_user_namespaces=15000`): "No space left on device" means that it is 0 or used up.';

function namespaceAdvice(trouble: string): string {
  return NONE_LEFT.test(trouble) ? NUMBER_ADVICE : NAMESPACE_ADVICE;
}

const NO_WALL_ADVICE =
  'Use Linux 6.7 or newer, or allow user namespaces (docs/agents.md, "The sandbox"). Set agent.sandbox to "off" to run agents without a wall, at your own risk.';

export function reportOf(findings: Findings): SandboxReport {
  const { platform, full, basic } = findings;
  if (full === null)
    return {
      tier: "full",
      because: "Namespaces, Landlock and the filter of kernel calls work here.",
      leaks: [...sharedMemoryLeak(findings)],
      advice: null,
    };
  if (basic === null && platform === "darwin")
    return {
      tier: "basic",
      because: "sandbox-exec works here.",
      leaks: [PORT_LEAK, ...MACOS_LEAKS],
      advice: null,
    };
  if (basic === null)
    return {
      tier: "basic",
      because: `Namespaces cannot be used: ${full}.`,
      leaks: [PORT_LEAK, ...BASIC_LEAKS, ...sharedMemoryLeak(findings)],
      advice: namespaceAdvice(full),
    };
  const because = full === basic ? `No wall can be built: ${full}.` : `No wall can be built: ${full}; ${basic}.`;
  const advice = NONE_LEFT.test(full) ? `${NUMBER_ADVICE} ${NO_WALL_ADVICE}` : NO_WALL_ADVICE;
  return { tier: "none", because, leaks: NO_WALL_LEAKS, advice };
}
