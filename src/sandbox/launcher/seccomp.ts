/**
 * The list of kernel calls a confined program may make. Everything that is not on it is refused: what is known to be dangerous with "not
 * permitted", what is newer than the list with ENOSYS. Calls of another processor's numbering end the program.
 */
import * as bpf from "./bpf.ts";
import type { Code } from "./bpf.ts";
import { type CallNumbers, callTable } from "./syscalls.ts";
import { type Kernel, pointerOf } from "./libc.ts";

/** `open`: the internet. `loopback`: TCP inside a network namespace that has nothing but itself. `ports`: TCP, connecting only. `none`: no sockets. */
export type SocketRule = "open" | "loopback" | "ports" | "none";

const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_SEQPACKET = 5;
const SOCK_TYPE_MASK = 0xf; // the rest are flags
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const MSG_FASTOPEN = 0x20000000;
/** All namespace flags of `clone`; that of time namespaces exists for other calls only. */
const CLONE_NEW = 0x7e020000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const O_CREAT = 0o100;
const SETUID_SETGID = 0o6000;
const FIRST_X32_NUMBER = 0x40000000;
const IOPRIO_WHO_PROCESS = 1;
const PRIO_PROCESS = 0;
const RLIMIT_LOCKS = 10;

const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;

/** Null: this processor is not known. */
export function callFilter(arch: string, sockets: SocketRule): Code | null {
  const table = callTable(arch);
  if (table === null) return null;
  const rules = argumentRules(sockets);
  const checked = [...table.byArgument].map(([name, number]) =>
    bpf.whenEqual(number, rules.get(name) ?? bpf.error(EPERM)),
  );
  return [
    ...bpf.loadAudit,
    ...bpf.unlessEqual([table.audit], bpf.kill),
    ...bpf.loadNumber,
    ...bpf.whenAtLeast(FIRST_X32_NUMBER, bpf.kill),
    ...checked.flat(),
    ...answerAll(table.allowed, bpf.allow),
    ...answerAll(table.refused, bpf.error(EPERM)),
    ...answerAll(table.fileMarks, bpf.error(EOPNOTSUPP)),
    ...answerAll(table.unreadable, bpf.error(ENOSYS)),
    ...bpf.error(ENOSYS),
  ];
}

function answerAll(calls: CallNumbers, answer: Code): Code {
  return [...calls.values()].flatMap((number) => bpf.whenEqual(number, answer));
}

const refused = bpf.error(EPERM);

function argumentRules(sockets: SocketRule): ReadonlyMap<string, Code> {
  const serves = sockets === "open" || sockets === "loopback";
  const connects = serves || sockets === "ports";
  const ownProcess = permitValues(0, [0]);
  const plainMode = (index: number): Code => withoutBits(index, SETUID_SETGID);
  return new Map<string, Code>([
    ["socket", socketRule(sockets)],
    ["socketpair", pairRule],
    ["connect", connects ? bpf.allow : refused],
    ["bind", serves ? bpf.allow : refused],
    ["listen", serves ? bpf.allow : refused],
    ["accept", serves ? bpf.allow : refused],
    ["accept4", serves ? bpf.allow : refused],
    // the flag connects without `connect`, which Landlock would have checked
    ["sendto", withoutBits(3, MSG_FASTOPEN)],
    ["sendmsg", withoutBits(2, MSG_FASTOPEN)],
    ["sendmmsg", withoutBits(3, MSG_FASTOPEN)],
    ["clone", withoutBits(0, CLONE_NEW)],
    // limits and priorities of other processes, the gateway's among them, are not watched by anything else
    ["prlimit64", [...bpf.loadArgument(0), ...bpf.unlessEqual([0], refused), ...keepsMark]],
    ["setrlimit", [...bpf.loadArgument(0), ...bpf.whenEqual(RLIMIT_LOCKS, refused), ...bpf.allow]],
    ["sched_setaffinity", refused], // also its own: a processor is left to everybody else
    ["sched_setscheduler", ownProcess],
    ["sched_setparam", ownProcess],
    ["sched_setattr", ownProcess],
    ["setpriority", [...bpf.loadArgument(0), ...bpf.unlessEqual([PRIO_PROCESS], refused), ...permitValues(1, [0])]],
    [
      "ioprio_set",
      [...bpf.loadArgument(0), ...bpf.unlessEqual([IOPRIO_WHO_PROCESS], refused), ...permitValues(1, [0])],
    ],
    // both type into the terminal of whoever started the gateway
    [
      "ioctl",
      [...bpf.loadArgument(1), ...bpf.whenEqual(TIOCSTI, refused), ...bpf.whenEqual(TIOCLINUX, refused), ...bpf.allow],
    ],
    // a program that runs as the gateway's user for whoever starts it
    ["chmod", plainMode(1)],
    ["fchmod", plainMode(1)],
    ["fchmodat", plainMode(2)],
    ["fchmodat2", plainMode(2)],
    ["creat", plainMode(1)],
    ["mknod", plainMode(1)],
    ["mknodat", plainMode(2)],
    ["open", madeWith(1, 2)],
    ["openat", madeWith(2, 3)],
  ]);
}

/** Of datagram sockets each end can send to any service by its path, although it is one of a pair. */
const pairRule: Code = [
  ...bpf.loadArgument(0),
  ...bpf.unlessEqual([AF_UNIX], refused),
  ...bpf.loadArgument(1, SOCK_TYPE_MASK),
  ...bpf.unlessEqual([SOCK_STREAM, SOCK_SEQPACKET], refused),
  ...bpf.allow,
];

/** The limit by which the gateway knows what an agent left running may be read, and not changed: a change gives a pointer to the new one. */
const keepsMark: Code = [
  ...bpf.loadArgument(1),
  ...bpf.whenEqual(RLIMIT_LOCKS, [
    ...bpf.loadArgument(2),
    ...bpf.unlessEqual([0], refused),
    ...bpf.loadHighHalf(2),
    ...bpf.unlessEqual([0], refused),
  ]),
  ...bpf.allow,
];

function socketRule(sockets: SocketRule): Code {
  if (sockets === "none") return refused;
  const datagrams = sockets === "open"; // names of hosts are asked for by datagram
  const types = datagrams ? [SOCK_STREAM, SOCK_DGRAM] : [SOCK_STREAM];
  const protocols = datagrams ? [0, IPPROTO_TCP, IPPROTO_UDP] : [0, IPPROTO_TCP]; // multipath TCP is not among them: Landlock does not know it
  return [
    ...bpf.loadArgument(0),
    ...bpf.unlessEqual([AF_INET, AF_INET6], refused),
    ...bpf.loadArgument(1, SOCK_TYPE_MASK),
    ...bpf.unlessEqual(types, refused),
    ...permitValues(2, protocols),
  ];
}

/** Allowed when the argument is one of these. */
function permitValues(index: number, values: readonly number[]): Code {
  return [...bpf.loadArgument(index), ...bpf.unlessEqual(values, refused), ...bpf.allow];
}

function withoutBits(index: number, bits: number): Code {
  return [...bpf.loadArgument(index), ...bpf.whenAnyBit(bits, refused), ...bpf.allow];
}

/** The mode counts only when a file may be made; otherwise the argument holds anything. */
function madeWith(flagsIndex: number, modeIndex: number): Code {
  const checkMode = [...bpf.loadArgument(modeIndex), ...bpf.whenAnyBit(SETUID_SETGID, refused)];
  return [...bpf.loadArgument(flagsIndex), ...bpf.whenAnyBit(O_CREAT, checkMode), ...bpf.allow];
}

/** From here on the thread makes only these calls. Returns what went wrong, or null. */
export function installFilter(kernel: Kernel, filter: Code): string | null {
  const code = bpf.assemble(filter);
  const program = new BigUint64Array([BigInt(filter.length), pointerOf(code)]);
  const result = kernel.call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
  // the code is named after the call, so that it lives until then
  return result === 0 ? null : `the filter of kernel calls (${code.length} bytes) was refused (error ${-result})`;
}
