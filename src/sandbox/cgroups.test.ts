/**
 * Cgroups of agents. On a real cgroup file system where this machine lets us make one; the limits themselves, and the list of controllers, on a
 * folder with the same names: that a kernel enforces what is written there is not tested.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { confinedRoom, testSandbox } from "../testing/confined-run.ts";
import { tempHome } from "../testing/temp-home.ts";
import { waitFor } from "../testing/wait-for.ts";
import { cgroupPlace, strangerIn } from "./cgroup-place.ts";
import { agentCgroups, takeOver } from "./cgroups.ts";

setDefaultTimeout(120_000); // a wall takes seconds on a machine that is busy

const LIMITS = { processes: 64, memoryMb: 512, openFiles: 256, fileSizeMb: 64 };
const MOUNTS = "tmpfs /tmp tmpfs rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";

test.each([
  ["0::/system.slice/pi-gateway.service\n", MOUNTS, { folder: "/sys/fs/cgroup/system.slice/pi-gateway.service" }],
  [
    "0::/system.slice/pi-gateway.service/gateway\n",
    MOUNTS,
    { folder: "/sys/fs/cgroup/system.slice/pi-gateway.service" },
  ],
  ["0::/\n", MOUNTS, { folder: "/sys/fs/cgroup" }],
  ["0::/gateway\n", MOUNTS, { folder: "/sys/fs/cgroup" }],
  ["4:memory:/x\n0::/user.slice/session-1.scope\n", MOUNTS, { because: expect.stringContaining("that it shares") }],
  ["0::/system.slice/pi-gateway.service\n", "tmpfs /tmp tmpfs rw 0 0\n", { because: "cgroup v2 is not mounted" }],
  ["4:memory:/x\n", MOUNTS, { because: "the gateway is in no cgroup of version 2" }],
])("the gateway in %j finds its place among cgroups", (self, mounts, expected) => {
  expect(cgroupPlace({ self, mounts })).toEqual(expected);
});

test("a cgroup in which somebody else runs is not taken over", () => {
  expect(strangerIn([10, 20], new Set([10, 20, 30]))).toBeNull();
  expect(strangerIn([10, 40], new Set([10, 20, 30]))).toBe(40);
});

test("an agent's cgroup gets the limits that its owner set, as far as the machine gave the controllers", async () => {
  await using home = await tempHome();
  const made: string[] = [];
  const names = ["memory.max", "memory.swap.max", "pids.max", "cpu.weight"];
  const group = agentCgroups(home.path, true, (path) => {
    mkdirSync(path);
    made.push(path);
    for (const name of names) writeFileSync(join(path, name), "max");
  }).make("1", LIMITS);
  expect(made).toEqual([join(home.path, "agent-1")]);
  const values = names.map((name) => readFileSync(join(group?.path ?? "", name), "utf8"));
  expect(values).toEqual([String(512 * 1024 * 1024), "0", "64", "20"]);
});

test("a limit whose controller was not given is left out, and the others hold", async () => {
  await using home = await tempHome();
  const group = agentCgroups(home.path, false, (path) => {
    mkdirSync(path);
    writeFileSync(join(path, "pids.max"), "max");
  }).make("1", LIMITS);
  expect(readdirSync(group?.path ?? "")).toEqual(["pids.max"]); // the kernel would refuse new names
  expect(readFileSync(join(group?.path ?? "", "pids.max"), "utf8")).toBe("64");
});

test("an agent for which no cgroup can be made goes without one", async () => {
  await using home = await tempHome();
  const refuse = (): void => {
    throw new Error("too many");
  };
  expect(agentCgroups(home.path, true, refuse).make("1", LIMITS)).toBeNull();
});

/** With the files that the kernel makes. What is written to the list of controllers is kept in order, as the kernel reads it: write by write. */
async function playedCgroup(path: string, processes: readonly number[]) {
  for (const name of ["cgroup.events", "cgroup.procs"]) writeFileSync(join(path, name), "");
  writeFileSync(join(path, "cgroup.procs"), processes.map((pid) => `${pid}\n`).join(""));
  const list = join(path, "cgroup.subtree_control");
  await Bun.spawn(["mkfifo", list]).exited;
  const pipe = openSync(list, constants.O_RDWR | constants.O_NONBLOCK);
  return {
    written(): string {
      const bytes = Buffer.alloc(256);
      return bytes.subarray(0, readSync(pipe, bytes)).toString();
    },
    [Symbol.dispose]: () => closeSync(pipe),
  };
}

test("a gateway with controllers moves into a part of its cgroup and hands memory, processes and weight on to its agents", async () => {
  await using home = await tempHome();
  using cgroup = await playedCgroup(home.path, [process.pid]);
  const groups = takeOver(home.path, process.pid);
  expect(readFileSync(join(home.path, "gateway", "cgroup.procs"), "utf8")).toBe(String(process.pid));
  expect(cgroup.written()).toBe("+memory+pids+cpu");
  expect(groups).toMatchObject({ limitsMemory: true });
});

/** A part of the machine's own tree, where we may make one. */
const root = [...readFileSync("/proc/self/mounts", "utf8").matchAll(/^\S+ (\S+) cgroup2 /gm)][0]?.[1] ?? null;
const folder = root === null ? null : join(root, `pi-gateway-test-${process.pid}.service`);
function madeFolder(): boolean {
  try {
    if (folder !== null) mkdirSync(folder);
    return folder !== null;
  } catch {
    return false; // not ours to change
  }
}
const isOurs = madeFolder();
afterAll(() => {
  for (const one of [join(folder ?? "", "gateway"), folder ?? ""]) if (isOurs && existsSync(one)) rmdirSync(one);
});

test.skipIf(!isOurs)(
  "everything in an agent's cgroup ends with it, also what left its session and its parents",
  async () => {
    const groups = agentCgroups(folder ?? "", false);
    const group = groups.make("kill", LIMITS);
    const join_ = `echo 0 > ${group?.path}/cgroup.procs; setsid sleep 20 & setsid sleep 20 & wait`;
    const child = Bun.spawn(["/bin/sh", "-c", join_]);
    const inside = () => readFileSync(`${group?.path}/cgroup.procs`, "utf8").split("\n").filter(Boolean).length;
    await waitFor("three processes are counted", () => inside() === 3);
    group?.release();
    await child.exited;
    await waitFor("the cgroup is empty", () => !existsSync(group?.path ?? "") || inside() === 0);
    groups.make("next", LIMITS)?.release(); // before one is made, those that are empty go
    expect(existsSync(group?.path ?? "")).toBe(false);
  },
);

test.skipIf(!isOurs).each(["full", "basic"] as const)(
  "a program behind the %s wall is counted in its cgroup",
  async (tier) => {
    await using home = await tempHome();
    const groups = agentCgroups(folder ?? "", false);
    const room = await confinedRoom(home.path, tier, groups);
    if (room === null) return; // this tier cannot be built here; sandbox.test.ts says whether it should
    const { stdout } = await room.run("cat /proc/self/cgroup", {}, { mark: "7" });
    expect(stdout).toContain(`pi-gateway-test-${process.pid}.service/agent-7`);
    groups.make("next", LIMITS)?.release();
  },
);

test("a wall is built without cgroups where a program cannot join one", async () => {
  await using home = await tempHome();
  const broken = { limitsMemory: true, make: () => ({ path: "/nowhere", release: () => undefined }) };
  const [{ report }, without] = [
    await testSandbox(home.path, ["basic"], broken).wall(),
    await testSandbox(home.path, ["basic"]).wall(),
  ];
  expect(report.tier).toBe(without.report.tier);
  if (report.tier === "basic") expect(report.leaks.join(" ")).toContain("it cannot be counted in /nowhere");
});

test.skipIf(!isOurs)("a gateway takes over its own cgroup, and says so when it was given no controllers", async () => {
  const child = Bun.spawn(["sleep", "20"]);
  writeFileSync(join(folder ?? "", "cgroup.procs"), String(child.pid));
  expect(takeOver(folder ?? "", process.pid)).toBe(
    `process ${child.pid}, which is not the gateway's, is in its cgroup`,
  );
  const outcome = takeOver(folder ?? "", child.pid);
  expect(readFileSync(join(folder ?? "", "gateway", "cgroup.procs"), "utf8").trim()).toBe(String(child.pid));
  if (typeof outcome === "string") expect(outcome).toBe("the gateway's cgroup was given no controllers");
  expect(takeOver(folder ?? "", process.pid)).toBe(outcome); // nobody is left in it, so again is the same
  child.kill("SIGKILL");
  await child.exited;
});

test.skipIf(root === null)("the cgroup of the whole machine is not taken over", () => {
  if (!existsSync(join(root ?? "", "cgroup.events")))
    expect(takeOver(root ?? "", process.pid)).toContain("whole machine");
});
