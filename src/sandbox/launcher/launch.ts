/**
 * The launcher: puts its own process behind the wall, then becomes the program. `bun sandbox.js ORDER PROGRAM ARGUMENTS…`. Any step that
 * fails ends it with exit code 126 and one line; the program never runs without the whole wall.
 */
import { LATER, type LaunchOrder } from "../order.ts";
import { dropCapabilities } from "./capabilities.ts";
import { isSocket, openPath, writeText } from "./files.ts";
import { landlockVersion, LANDLOCK_TCP, type LandlockRules, restrictFiles } from "./landlock.ts";
import { cString, type Kernel, openKernel, pointerList } from "./libc.ts";
import { offerToOomKiller, raiseProcessLimit, setLimits, setNamespaceLimits } from "./limits.ts";
import { raiseLoopback } from "./loopback.ts";
import { enterView } from "./mounts.ts";
import { type OpenedPath, openPaths } from "./open-paths.ts";
import { leaveProcessor } from "./processors.ts";
import { callFilter, installFilter, type SocketRule } from "./seccomp.ts";
import { callTable } from "./syscalls.ts";

/** As shells say it of a program that is there and cannot be run. */
const EXIT_NOT_RUN = 126;
const FIRST_OTHER_FD = 3;
const LAST_FD = 0xffffffff;
const CLOSE_RANGE_CLOEXEC = 4;
const F_SETFD = 2;
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

function launch(order: LaunchOrder, command: readonly string[]): string {
  const table = callTable(process.arch);
  const filter = callFilter(process.arch, socketRule(order));
  const kernel = table === null ? null : openKernel(table.all);
  if (filter === null || kernel === null) return `there is no wall for ${process.platform} on ${process.arch}`;
  const version = landlockVersion(kernel);
  if (order.tier === "basic" && version < LANDLOCK_TCP)
    return `this kernel's Landlock (version ${version}) cannot limit the network`;
  return (
    joinCgroup(kernel, order) ??
    diesWithParent(kernel, order) ??
    offerToOomKiller(kernel) ??
    settle(kernel, order, version) ??
    keepDescriptors(kernel, order) ??
    leaveProcessor(kernel, order.policy.limits.cpus) ?? // late: until here all of them make the start faster
    installFilter(kernel, filter) ??
    become(kernel, order, command)
  );
}

/** Files, limits, capabilities and Landlock, in this order: each takes away what the ones before it need. */
function settle(kernel: Kernel, order: LaunchOrder, version: number): string | null {
  const { policy, tier } = order;
  const paths = openPaths(kernel, policy);
  if (tier === "full") {
    setNamespaceLimits(kernel, policy.limits);
    const trouble =
      (policy.network.kind === "closed" ? raiseLoopback(kernel) : null) ??
      enterView(kernel, { paths, tempMb: policy.limits.tempMb, tempFiles: policy.limits.tempFiles });
    if (trouble !== null) return trouble;
  }
  const limits = tier === "full" ? policy.limits : raiseProcessLimit(kernel, policy.limits);
  process.chdir(order.cwd);
  return (
    setLimits(kernel, limits, order.mark) ??
    dropCapabilities(kernel) ??
    (version === 0 ? null : restrictFiles(kernel, version, landlockRules(kernel, order, paths)))
  );
}

function landlockRules(kernel: Kernel, { policy, tier }: LaunchOrder, paths: readonly OpenedPath[]): LandlockRules {
  const own: LandlockRules["files"] =
    tier === "full"
      ? [
          { fd: openPath(kernel, "/"), isFolder: true, access: "list" },
          { fd: openPath(kernel, "/proc"), isFolder: true, access: "read" },
          { fd: openPath(kernel, "/tmp"), isFolder: true, access: "write" },
          { fd: openPath(kernel, "/dev/shm"), isFolder: true, access: "write" },
        ]
      : [
          { fd: openPath(kernel, "/proc"), isFolder: true, access: "read" },
          ...policy.list.map((path) => ({ fd: openPath(kernel, path), isFolder: true, access: "list" as const })),
        ];
  // a network namespace needs no rules, and its programs may serve each other
  const ports = tier === "full" || policy.network.kind === "open" ? null : policy.network.ports;
  return { files: [...paths, ...own], ports };
}

function socketRule({ policy, tier }: LaunchOrder): SocketRule {
  if (policy.network.kind === "open") return "open";
  if (tier === "full") return "loopback";
  return policy.network.ports.length > 0 ? "ports" : "none";
}

/** First of all: whatever it starts from now on counts there. */
function joinCgroup(kernel: Kernel, { cgroup }: LaunchOrder): string | null {
  if (cgroup === null || writeText(kernel, `${cgroup}/cgroup.procs`, "0")) return null;
  return `it cannot be counted in ${cgroup}`;
}

/** The full tier has its own way: the programs before this one die with the gateway, and take the pid namespace with them. */
function diesWithParent(kernel: Kernel, { tier }: LaunchOrder): string | null {
  if (tier === "full") return null;
  const result = kernel.call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return result === 0 ? null : `its end cannot be tied to the gateway's (error ${-result})`;
}

/** Standard input, output and errors, and those that the order names; all others close when the program begins. */
function keepDescriptors(kernel: Kernel, { descriptors }: LaunchOrder): string | null {
  const closed = kernel.call("close_range", FIRST_OTHER_FD, LAST_FD, CLOSE_RANGE_CLOEXEC);
  if (closed !== 0) return `descriptors cannot be closed (error ${-closed})`;
  for (const fd of descriptors) {
    // one that was not handed over may be Bun's own by now, which is no socket
    if (!isSocket(kernel, fd) || kernel.call("fcntl", fd, F_SETFD, 0) !== 0)
      return `descriptor ${fd} is not an open socket`;
  }
  return null;
}

function become(kernel: Kernel, order: LaunchOrder, command: readonly string[]): string {
  const kept = order.keeps.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const later = order.later.flatMap((name) => {
    const value = process.env[LATER + name];
    return value === undefined ? [] : [[name, value]];
  });
  const variables = [...kept, ...later];
  const program = cString(command[0] ?? "");
  const argv = command.map(cString);
  const envp = variables.map(([name, value]) => cString(`${name}=${value}`));
  const result = kernel.call("execve", program, pointerList(argv), pointerList(envp));
  return `${command[0]} cannot be run (error ${-result}; ${argv.length + envp.length} texts)`; // named here so that they live until the call
}

/** Returns only when the wall could not be built: what went wrong. */
function main([text = "", ...command]: readonly string[]): string {
  try {
    return launch(JSON.parse(text) as LaunchOrder, command);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const trouble = main(process.argv.slice(2));
process.stderr.write(`sandbox: ${trouble}\n`); // only named here: the first use of stderr costs a third of a launch
process.exit(EXIT_NOT_RUN);
