/** What a turn's tools started and did not end is ended with the turn, however it was started and however the turn ends. Real pi, real processes. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test as bunTest } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAgentStage, until } from "../testing/agent-stage.ts";
import { agentFixture, collect, providers } from "../testing/agent-fixture.ts";
import { type FakeReply, inOrder, says, startFakeProvider } from "../testing/fake-provider.ts";
import { tempHome } from "../testing/temp-home.ts";
import { silentLog } from "../kit/log.ts";
import { systemClock } from "../kit/clock.ts";
import { outsidePid } from "../testing/confined-pid.ts";
import { testSandbox } from "../testing/confined-run.ts";
import { killOrphans } from "./process/orphans.ts";
import { identify, signalProcess } from "./process/proc.ts";

setDefaultTimeout(120_000);

/** Each leaves a process behind and writes its number into `left` of the workspace. */
const WAYS = {
  "in the background": "sleep 600 >/dev/null 2>&1 & echo $! > left",
  "in a session of its own": "setsid sh -c 'echo $$ > left; exec sleep 600' >/dev/null 2>&1 &",
  "in a session of its own, without any environment":
    "env -i setsid sh -c 'echo $$ > left; exec sleep 600' >/dev/null 2>&1 &",
  "by a parent and a grandparent that have ended, without any environment":
    "env -i setsid sh -c 'sh -c \"sleep 600 & echo \\$! > left\"' >/dev/null 2>&1 &",
  "deaf to a polite request to end":
    "env -i setsid sh -c 'trap \"\" TERM; echo $$ > left; while :; do sleep 1; done' >/dev/null 2>&1 &",
} as const;
type Way = keyof typeof WAYS;
const ways = Object.keys(WAYS) as readonly Way[];
const WORST: Way = "by a parent and a grandparent that have ended, without any environment";
const WRITTEN = "until test -s left; do sleep 0.01; done";

/** No process has this number: the highest that Linux gives is far below. */
const GONE = { pid: 999_999_999, startTime: "1" };

const shell = (command: string): FakeReply => ({ kind: "tools", calls: [{ name: "bash", input: { command } }] });
const leaves = (way: Way, then = "") => shell([WAYS[way], WRITTEN, then].join("\n"));

/** Processes of the full tier know themselves by the numbers of their own namespace; the others by those of the machine. */
const SANDBOXES = [
  { name: "the full tier", ownNumbers: true, settings: { tiers: ["full"] } },
  { name: "the basic tier", ownNumbers: false, settings: { tiers: ["basic"] } },
  { name: "no sandbox", ownNumbers: false, settings: { sandbox: "off" } },
] as const;
type Sandboxed = (typeof SANDBOXES)[number];

const stages = SANDBOXES.map(({ settings }) =>
  createAgentStage({ model: "fake/fake-1", tools: "full", pool: { max: 2 }, ...settings }),
);
const builds = await Promise.all(SANDBOXES.map(isBuilt));

/** Tiers that this machine cannot build are skipped. */
async function isBuilt({ settings }: Sandboxed): Promise<boolean> {
  if (!("tiers" in settings)) return true;
  await using home = await tempHome();
  const { report } = await testSandbox(home.path, settings.tiers).wall();
  return report.tier !== "none";
}
const seen: number[] = [];
afterEach(() => {
  for (const pid of seen.splice(0)) {
    const there = identify(pid);
    if (there) signalProcess(there, "SIGKILL"); // so that a failed test leaves nothing behind
  }
});
afterAll(async () => {
  for (const stage of stages) await stage[Symbol.asyncDispose]();
});

/** The number that this machine has for it; of one that is gone already, a number that no process has. */
async function leftIn(file: string, spawned: number, ownNumbers: boolean): Promise<number> {
  const inside = Number(await readFile(file, "utf8"));
  expect(inside).toBeGreaterThan(1);
  const pid = ownNumbers ? (outsidePid(spawned, inside) ?? GONE.pid) : inside;
  seen.push(pid);
  return pid;
}

describe.each(SANDBOXES.map((one, at) => [one.name, one, at] as const))(
  "in %s a process that a pi tool left running",
  (_name, one, at) => {
    const test = bunTest.skipIf(builds[at] !== true);
    async function act(...replies: readonly FakeReply[]) {
      const { fx } = await (stages[at] as (typeof stages)[number]).scene(inOrder(...replies));
      const left = join(fx.home, "workspace", "left");
      await rm(left, { force: true });
      const begun = () => existsSync(left) && statSync(left).size > 0;
      return { fx, left: (spawned: number) => leftIn(left, spawned, one.ownNumbers), begun };
    }

    test.each(ways)("%s ends with its turn, and the agent process goes on", async (way) => {
      const { fx, left } = await act(leaves(way), says("done"), says("again"));
      await using lease = await fx.lease();
      await collect(lease, "go");
      const pid = await left(lease.pid);
      expect(identify(pid)).not.toBeNull(); // while the turn is not over it may be needed
      await lease[Symbol.asyncDispose]();
      expect(identify(pid)).toBeNull();
      await using next = await fx.lease();
      expect(next.pid).toBe(lease.pid);
    });

    test("ends when the turn is stopped while the tool runs", async () => {
      const { fx, left, begun } = await act(leaves(WORST, "sleep 600"));
      const stop = new AbortController();
      await using lease = await fx.lease();
      for await (const event of lease.prompt({ text: "go", images: [] }, stop.signal)) {
        if (event.type !== "tool_start") continue;
        await until("the process is there", begun);
        stop.abort();
      }
      const pid = await left(lease.pid);
      await lease[Symbol.asyncDispose]();
      expect(identify(pid)).toBeNull();
    });

    test("ends with a turn that fails", async () => {
      const { fx, left } = await act(leaves(WORST), { kind: "status", status: 400, message: "no" });
      await using lease = await fx.lease();
      expect((await collect(lease, "go")).at(-1)?.type).toBe("failed");
      const pid = await left(lease.pid);
      await lease[Symbol.asyncDispose]();
      expect(identify(pid)).toBeNull();
    });

    test("ends when the next process of a killed gateway begins", async () => {
      const { fx, left } = await act(leaves(WORST), says("done"));
      await using lease = await fx.lease();
      await collect(lease, "go");
      const pid = await left(lease.pid);
      await using next = await tempHome();
      const [note = ""] = await readdir(join(fx.home, "run", "agents"));
      const written = await Bun.file(join(fx.home, "run", "agents", note)).json();
      const notes = join(next.path, "run", "agents");
      await mkdir(notes, { recursive: true });
      await writeFile(
        join(notes, note),
        JSON.stringify({ ...written, pid: GONE.pid, startTime: GONE.startTime, owner: GONE }),
      );
      await killOrphans({ clock: systemClock, log: silentLog }, next.path);
      expect(identify(pid)).toBeNull();
      // the agent process went with it, and must not be leased to the next test before the pool has noticed
      await until("the pool knows of the end", () => fx.pool.stats().busy === 0);
    });

    test.each(["while its tool runs", "after its tool has ended"])("ends when the agent is killed %s", async (when) => {
      const running = when === "while its tool runs";
      const { fx, left, begun } = await act(leaves(WORST, running ? "sleep 600" : ""), { kind: "hang" });
      await using lease = await fx.lease();
      for await (const event of lease.prompt({ text: "go", images: [] }, new AbortController().signal)) {
        if (event.type !== (running ? "tool_start" : "tool_end")) continue;
        await until("the process is there", begun);
        process.kill(lease.pid, "SIGKILL");
      }
      const pid = await left(lease.pid);
      await lease[Symbol.asyncDispose]();
      expect(identify(pid)).toBeNull();
    });
  },
);

describe("a program that an extension of the owner runs", () => {
  bunTest(
    "as a child of the agent process, or from before the turn's first tool, goes on after the turn and ends with the process",
    async () => {
      await using provider = await startFakeProvider(inOrder(keeps, says("done")));
      const fx = await agentFixture(
        { model: "fake/fake-1", tools: "full", pool: { max: 1 } },
        providers(provider),
        async (home) => {
          await mkdir(join(home.path, "workspace"), { recursive: true });
          const file = join(home.path, "keeper.ts");
          await writeFile(file, KEEPER);
          return { extensions: [file] };
        },
      );
      const lease = await fx.lease();
      const pidIn = (name: string) => leftIn(join(fx.home, "workspace", name), lease.pid, builds[0] === true);
      await collect(lease, "go");
      await lease[Symbol.asyncDispose]();
      const kept = [await pidIn("early"), await pidIn("child")];
      expect(kept.map((pid) => identify(pid) !== null)).toEqual([true, true]);
      expect(identify(await pidIn("left"))).toBeNull();
      await fx[Symbol.asyncDispose]();
      expect(kept.map(identify)).toEqual([null, null]);
    },
  );
});

const keeps: FakeReply = {
  kind: "tools",
  calls: [
    { name: "keeper", input: {} },
    { name: "bash", input: { command: `${WAYS["in a session of its own"]}\n${WRITTEN}` } },
  ],
};

const KEEPER = `
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
export default function (pi) {
  spawnSync("sh", ["-c", "env -i setsid sh -c 'echo $$ > early; exec sleep 600' >/dev/null 2>&1 & until test -s early; do sleep 0.01; done"]);
  pi.registerTool({
    name: "keeper",
    label: "keeper",
    description: "Starts a program that stays.",
    parameters: { type: "object", properties: {} },
    async execute() {
      const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
      child.unref();
      writeFileSync("child", String(child.pid));
      return { content: [{ type: "text", text: "started" }], details: {} };
    },
  });
}
`;
