import { describe, expect, test } from "bun:test";
import { play } from "./bpf.ts";
import { callFilter, type SocketRule } from "./seccomp.ts";
import { callTable, REFUSED_CLASSES } from "./syscalls.ts";

const ALLOWED = 0x7fff0000;
const KILLED = 0x80000000;
const refusedWith = (errno: number) => 0x00050000 | errno;
const EPERM = refusedWith(1);
const ENOSYS = refusedWith(38);

const PROCESSORS = ["x64", "arm64"] as const;
type Processor = (typeof PROCESSORS)[number];

function answer(arch: Processor, name: string, args: readonly number[] = [], sockets: SocketRule = "none"): number {
  const table = callTable(arch);
  const filter = callFilter(arch, sockets);
  const number = table?.all.get(name);
  if (!table || !filter || number === undefined) throw new Error(`there is no ${name} on ${arch}`);
  return play(filter, { audit: table.audit, number, args });
}

describe.each([...PROCESSORS])("the filter of kernel calls on %s", (arch) => {
  test.each([
    ["read", []],
    ["openat", [0, 0, 0o100, 0o644]],
    ["clone", [0x11]],
    ["prlimit64", [0, 7]],
    ["setpriority", [0, 0]],
    ["socketpair", [1, 1, 0]],
    ["prlimit64", [0, 10, 0]],
    ["setrlimit", [7, 1]],
    ["fchmod", [3, 0o755]],
    ["sendmsg", [3, 0, 0x4000]],
    ["ioctl", [0, 0x5401]],
  ] as const)("allows %s %j", (name, args) => {
    expect(answer(arch, name, args)).toBe(ALLOWED);
  });

  test.each([
    ["clone with a user namespace", "clone", [0x10000011]],
    ["limits of another process", "prlimit64", [1, 7]],
    ["the priority of another process", "setpriority", [0, 1]],
    ["the priority of a whole user", "setpriority", [2, 0]],
    ["the affinity of another process", "sched_setaffinity", [1]],
    ["its own affinity", "sched_setaffinity", [0]],
    ["a file that others run as its owner", "fchmodat", [0, 0, 0o4755]],
    ["such a file when it is made", "openat", [0, 0, 0o101, 0o4755]],
    ["another mark of its process", "prlimit64", [0, 10, 0x1000]],
    ["another mark by the older call", "setrlimit", [10]],
    ["a pair of datagram sockets", "socketpair", [1, 2, 0]],
    ["a socket that is no pair", "socketpair", [2, 1, 0]],
    ["typing into a terminal", "ioctl", [0, 0x5412]],
    ["connecting with the first bytes", "sendto", [3, 0, 0, 0x20000000]],
  ] as const)("refuses %s", (_what, name, args) => {
    expect(answer(arch, name, args)).toBe(EPERM);
  });

  test("refuses every call of every dangerous class", () => {
    const names = Object.values(REFUSED_CLASSES).flatMap((table) =>
      table.split(",").map((entry) => entry.trim().split(" ")[0] ?? ""),
    );
    const known = names.filter((name) => callTable(arch)?.all.has(name));
    expect(known.length).toBeGreaterThan(70);
    expect(known.filter((name) => answer(arch, name) !== EPERM)).toEqual([]);
  });

  test("says of calls it cannot look into, and of calls newer than itself, that there are none (ENOSYS)", () => {
    const table = callTable(arch);
    const filter = callFilter(arch, "open");
    expect([answer(arch, "clone3"), answer(arch, "openat2")]).toEqual([ENOSYS, ENOSYS]);
    expect(filter && table && play(filter, { audit: table.audit, number: 900, args: [] })).toBe(ENOSYS);
  });

  test("ends a program that uses the numbers of another processor", () => {
    const filter = callFilter(arch, "open");
    expect(filter && play(filter, { audit: 0x40000003, number: 1, args: [] })).toBe(KILLED);
    expect(filter && play(filter, { audit: callTable(arch)?.audit ?? 0, number: 0x40000001, args: [] })).toBe(KILLED);
  });

  test("gives each call one class", () => {
    const table = callTable(arch);
    const parts = [table?.allowed, table?.byArgument, table?.refused, table?.fileMarks, table?.unreadable];
    const numbers = parts.flatMap((part) => [...(part?.values() ?? [])]);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});

const STREAM = 1;
const DATAGRAM = 2;
const CLOSE_ON_EXEC = 0o2000000;
describe("sockets", () => {
  test.each([
    ["none", [2, STREAM, 0], EPERM],
    ["ports", [2, STREAM | CLOSE_ON_EXEC, 6], ALLOWED],
    ["ports", [2, DATAGRAM, 0], EPERM],
    ["loopback", [10, STREAM, 0], ALLOWED],
    ["loopback", [2, DATAGRAM, 17], EPERM],
    ["open", [2, DATAGRAM, 0], ALLOWED],
    ["open", [2, STREAM, 262], EPERM], // multipath TCP
    ["open", [2, 3, 1], EPERM], // raw
    ["open", [1, STREAM, 0], EPERM], // unix
    ["open", [16, 3, 0], EPERM], // netlink
    ["open", [40, STREAM, 0], EPERM], // vsock
  ] as const)("of the rule %s and the arguments %j are answered with %d", (rule, args, expected) => {
    expect(answer("x64", "socket", args, rule)).toBe(expected);
  });

  test.each([
    ["none", EPERM, EPERM],
    ["ports", ALLOWED, EPERM],
    ["loopback", ALLOWED, ALLOWED],
    ["open", ALLOWED, ALLOWED],
  ] as const)("of the rule %s connect and listen as the rule says", (rule, connects, listens) => {
    expect([answer("arm64", "connect", [], rule), answer("arm64", "listen", [], rule)]).toEqual([connects, listens]);
  });
});
