/** Seeded bugs of the sandbox: each opens one part of the wall, and the probes of test/escape, or the tests beside the code, should find it. */
import type { SeededBug } from "./seeded-bug.ts";

const probes = ["test/escape/escape.test.ts"];
const filter = ["src/sandbox/launcher/seccomp.test.ts"];
const order = ["src/sandbox/order.test.ts"];
const FILTER = "src/sandbox/launcher/seccomp.ts";
const LIMITS = "src/sandbox/launcher/limits.ts";

export const SANDBOX_BUGS: readonly SeededBug[] = [
  {
    what: "One of a pair of datagram sockets sends to services by their path.",
    file: FILTER,
    in: "pairRule",
    find: "[SOCK_STREAM, SOCK_SEQPACKET]",
    replace: "[SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM]",
    tests: probes,
  },
  {
    what: "A program takes off the mark by which the gateway finds it.",
    file: FILTER,
    in: "keepsMark",
    find: "bpf.whenEqual(RLIMIT_LOCKS,",
    replace: "bpf.whenEqual(0xffff,",
    tests: filter,
  },
  {
    what: "A program changes limits of the gateway.",
    file: FILTER,
    in: "argumentRules",
    find: '["prlimit64", [...bpf.loadArgument(0), ...bpf.unlessEqual([0], refused), ...keepsMark]]',
    replace: '["prlimit64", keepsMark]',
    tests: probes,
  },
  {
    what: "A program moves the gateway to other processors.",
    file: FILTER,
    in: "argumentRules",
    find: '["sched_setaffinity", refused]',
    replace: '["sched_setaffinity", bpf.allow]',
    tests: filter,
  },
  {
    what: "A program takes back the processor that was left to others.",
    file: FILTER,
    in: "argumentRules",
    find: '["sched_setaffinity", refused]',
    replace: '["sched_setaffinity", ownProcess]',
    tests: filter,
  },
  {
    what: "A program makes a file that others run as its owner.",
    file: FILTER,
    in: "argumentRules",
    find: '["fchmod", plainMode(1)]',
    replace: '["fchmod", bpf.allow]',
    tests: probes,
  },
  {
    what: "Names of keys are shown in the full tier.",
    file: "src/sandbox/launcher/mounts.ts",
    in: "enterView",
    find: "HIDDEN.filter((one) => isThere(kernel, one))",
    replace: "HIDDEN.slice(2)",
    tests: probes,
  },
  {
    what: "/tmp of the full tier has no limit.",
    file: "src/sandbox/launcher/mounts.ts",
    in: "enterView",
    find: 'memory("/tmp", `mode=1777,${limit}`)',
    replace: 'memory("/tmp", "mode=1777")',
    tests: probes,
  },
  {
    what: "A program keeps descriptors that the gateway had open.",
    file: "src/sandbox/launcher/launch.ts",
    in: "keepDescriptors",
    find: 'kernel.call("close_range", FIRST_OTHER_FD,',
    replace: 'kernel.call("close_range", FIRST_OTHER_FD + 1,',
    tests: probes,
  },
  {
    what: "The full tier uses the machine's network where it should have its own.",
    file: "src/sandbox/order.ts",
    in: "namespaces",
    find: 'network.kind === "closed"',
    replace: "false",
    tests: order,
  },
  {
    what: "Signals and abstract sockets pass the basic tier.",
    file: "src/sandbox/launcher/landlock.ts",
    in: "restrictFiles",
    find: "version >= LANDLOCK_SCOPES ? SIGNALS_AND_ABSTRACT_SOCKETS : 0n",
    replace: "0n",
    tests: probes,
  },
  {
    what: "Files have no limit of size.",
    file: LIMITS,
    in: "setLimits",
    find: "[RLIMIT_FSIZE, BigInt(limits.fileSizeMb) * BigInt(MB)],",
    replace: "",
    tests: probes,
  },
  {
    what: "Memory has no limit.",
    file: LIMITS,
    in: "setLimits",
    find: "[RLIMIT_DATA, BigInt(limits.memoryMb + BUN_RESERVES_MB) * BigInt(MB)],",
    replace: "",
    tests: probes,
  },
  {
    what: "Descriptors have no limit.",
    file: LIMITS,
    in: "setLimits",
    find: "[RLIMIT_NOFILE, BigInt(limits.openFiles)],",
    replace: "",
    tests: probes,
  },
  {
    what: "An agent uses up the file watches of the whole user.",
    file: LIMITS,
    in: "setNamespaceLimits",
    find: '["user/max_inotify_instances", limits.inotifyInstances],',
    replace: "",
    tests: probes,
  },
  {
    what: "A gateway that runs as root leaves its agents their capabilities.",
    file: "src/sandbox/launcher/capabilities.ts",
    in: "dropCapabilities",
    find: 'kernel.call("capset", header, new Uint32Array(CAPABILITY_WORDS))',
    replace: "0",
    tests: probes,
  },
];
