/** Agents that misbehave, played by a script: every case ends in bounded time with a plain reason, and leaves no process behind. */
import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { silentLog } from "../kit/log.ts";
import { agentFixture, caller, collect, poolOptions, replyOf } from "../testing/agent-fixture.ts";
import { until } from "../testing/agent-stage.ts";
import { type Misbehaviour, writeScriptedAgent } from "../testing/scripted-agent.ts";
import { tempHome } from "../testing/temp-home.ts";
import { killOrphans } from "./process/orphans.ts";
import { probePi } from "./probe.ts";
import { bootId, identify } from "./process/proc.ts";

const LIMIT_MS = 30_000;

describe.concurrent("an agent that does not start", () => {
  test("because there is none says where it was looked for", async () => {
    await using fx = await agentFixture({ piPath: "/nowhere/pi" });
    expect(await failure(fx.lease())).toMatchObject({
      code: "agent_missing",
      say: "agent.piPath cannot be used: /nowhere/pi does not exist.",
    });
    expect(fx.pool.stats().trouble).toBe("agent.piPath cannot be used: /nowhere/pi does not exist.");
  });

  test(
    "because it exits at once is given up after three tries, with its last words and without its key",
    async () => {
      const lastWords = "no such flag; key sk-ant-0123456789abcdef";
      await using fx = await scripted({ kind: "exits", code: 3, lastWords });
      const error = await failure(fx.lease());
      expect(error).toMatchObject({ code: "agent_unavailable" });
      expect(String(error)).toContain("pi exited with code 3; its last words: no such flag; key [redacted]");
      expect(fx.happened.filter(({ event }) => event === "agent.spawned").length).toBe(3);
      expect(fx.pool.stats().trouble).toStartWith("The assistant does not start: pi exited with code 3");
    },
    LIMIT_MS,
  );

  test.each<[string, Misbehaviour]>([
    ["lines that are no records", { kind: "garbage" }],
    ["a line without an end", { kind: "long_line" }],
  ])(
    "because it writes %s is ended",
    async (_name, misbehaviour) => {
      await using fx = await scripted(misbehaviour);
      const error = await failure(fx.lease());
      expect(error).toMatchObject({ code: "agent_unavailable" });
      expect(String(error)).toContain("pi wrote");
    },
    LIMIT_MS,
  );

  test(
    "because it never answers is given up",
    async () => {
      await using fx = await scripted({ kind: "hangs" }, { starts: { handshakeMs: 150 } });
      expect(String(await failure(fx.lease()))).toContain("pi did not answer within 150 ms of its start");
    },
    LIMIT_MS,
  );

  test("because its folder is missing says which one, and makes none", async () => {
    await using fx = await agentFixture({ agentDir: "/nowhere/agent" });
    expect(String(await failure(fx.lease()))).toContain("agent.agentDir (/nowhere/agent) does not exist");
  });

  test("is told to doctor by a probe that does not throw", async () => {
    await using home = await tempHome();
    const options = poolOptions(home.path, { piPath: "/nowhere/pi" }, { keys: {}, providers: {} });
    const deps = { clock: systemClock, ids: systemIds, log: silentLog };
    expect(await probePi(deps, options, new AbortController().signal)).toMatchObject({
      kind: "failed",
      code: "agent_missing",
    });
  });
});

describe.concurrent("an agent that fails in the middle of a turn", () => {
  test.each<[string, Misbehaviour, string]>([
    ["exits when it is asked", { kind: "exits_on_prompt", code: 1 }, "agent_exited"],
    ["exits without an error before it has settled", { kind: "exits_in_mid_turn", code: 0 }, "agent_exited"],
    ["writes lines that are no records", { kind: "garbage_on_prompt" }, "agent_garbled"],
    ["closes its output and lives on", { kind: "closes_output" }, "agent_garbled"],
  ])(
    "because it %s ends the turn as worth another attempt",
    async (_name, misbehaviour, code) => {
      await using fx = await scripted(misbehaviour);
      expect((await fx.turn("hello")).at(-1)).toMatchObject({ type: "failed", code, again: true });
      expect(fx.pool.stats().busy).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    "and ends its answer after it was told to stop has answered, and nothing is said about the stop",
    async () => {
      await using fx = await scripted({ kind: "answers_after_abort" });
      await using lease = await fx.lease();
      const stop = new AbortController();
      const events = [];
      for await (const event of lease.prompt({ text: "hi", images: [] }, stop.signal)) {
        events.push(event);
        stop.abort(new Error("the turn limit"));
      }
      expect(events).toMatchObject([
        { type: "text", delta: "ok" },
        { type: "done", text: "ok!" },
      ]);
    },
    LIMIT_MS,
  );

  test(
    "and does not stop when asked is ended with force, and the turn counts as stopped",
    async () => {
      await using fx = await scripted({ kind: "ignores_abort" });
      const stop = new AbortController();
      const lease = await fx.lease();
      const events = [];
      for await (const event of lease.prompt({ text: "hello", images: [] }, stop.signal)) {
        events.push(event);
        stop.abort(new Error("enough"));
      }
      await lease[Symbol.asyncDispose]();
      expect(events.at(-1)).toMatchObject({ type: "aborted", text: "ok" });
      expect(identify(lease.pid)).toBeNull();
    },
    LIMIT_MS,
  );

  test(
    "and could not write its session file is not used again, because it remembers more than the file",
    async () => {
      await using fx = await scripted({ kind: "disk_full" });
      expect((await fx.turn("hello")).at(-1)).toMatchObject({ type: "failed", code: "agent_disk_full" });
      await fx.turn("hello");
      expect(new Set(spawnedPids(fx)).size).toBe(2);
    },
    LIMIT_MS,
  );

  test("noise on its error output changes nothing", async () => {
    await using fx = await scripted({ kind: "floods_stderr" });
    expect(replyOf(await fx.turn("hello"))).toBe("ok");
  });
});

describe("when all processes are busy", () => {
  test("a request waits its turn, and the first in line is served first", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { max: 1 } });
    const order: string[] = [];
    const first = await fx.lease({ sessionFile: "session-a.jsonl" });
    const waiting = ["session-b", "session-c"].map(async (name) => {
      await using held = await fx.lease({ sessionFile: `${name}.jsonl` });
      order.push(name);
      expect(held.pid).toBe(first.pid);
    });
    expect(fx.pool.stats()).toMatchObject({ busy: 1, waiting: 2 });
    await first[Symbol.asyncDispose]();
    await Promise.all(waiting);
    expect(order).toEqual(["session-b", "session-c"]);
  });

  test("what is more important is served first, whoever came before", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { max: 1 } });
    const order: number[] = [];
    const first = await fx.lease();
    const waiting = [3, 10, 5].map(async (priority) => {
      await using _held = await fx.lease({ sessionFile: `session-${priority}.jsonl`, priority });
      order.push(priority);
    });
    await first[Symbol.asyncDispose]();
    await Promise.all(waiting);
    expect(order).toEqual([10, 5, 3]);
  });

  test("a request that has waited too long is told so", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { max: 1, waitMs: 100 } });
    const first = await retryUntilLeased(fx);
    expect(await failure(fx.lease({ sessionFile: "session-b.jsonl" }))).toMatchObject({ code: "pool_exhausted" });
    expect(fx.pool.stats().waiting).toBe(0);
    await first[Symbol.asyncDispose]();
  });

  test("a session in use is not opened a second time, even when another process is free", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { min: 2, max: 2 } });
    const first = await fx.lease();
    const second = fx.lease();
    expect(fx.pool.stats().waiting).toBe(1);
    await first[Symbol.asyncDispose]();
    expect((await second).pid).toBe(first.pid);
    await (await second)[Symbol.asyncDispose]();
  });

  test("who no longer wants to wait leaves the line", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { max: 1 } });
    await using _busy = await fx.lease();
    const stop = new AbortController();
    const reason = new Error("changed my mind");
    const request = {
      caller: caller("operator"),
      sessionFile: "session-b.jsonl",
      settledBytes: Number.MAX_SAFE_INTEGER,
    };
    const waiting = failure(fx.pool.lease(request, stop.signal));
    stop.abort(reason);
    expect(await waiting).toBe(reason);
    expect(fx.pool.stats().waiting).toBe(0);
  });
});

describe("the number of processes", () => {
  test("never falls below the minimum for long: a spare that dies is replaced", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { min: 1, max: 1 } });
    await until("one idle agent", () => fx.pool.stats().idle === 1);
    const [first = 0] = spawnedPids(fx);
    process.kill(first, "SIGKILL");
    await until("a second process that is idle", () => spawnedPids(fx).length === 2 && fx.pool.stats().idle === 1);
    expect(identify(first)).toBeNull();
    expect(replyOf(await fx.turn("hello"))).toBe("ok");
  });

  test("that die again and again soon after their start is told as a trouble, until one has answered", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { min: 1, max: 1 } });
    for (let deaths = 1; deaths <= 3; deaths++) {
      await until(`process ${deaths} is idle`, () => spawnedPids(fx).length === deaths && fx.pool.stats().idle === 1);
      process.kill(spawnedPids(fx).at(-1) ?? 0, "SIGKILL");
    }
    await until("a fourth process that is idle", () => fx.pool.stats().idle === 1 && spawnedPids(fx).length === 4);
    expect(fx.pool.stats().trouble).toContain("end by themselves soon after their start");
    expect(fx.happened.filter(({ event }) => event === "status")).toHaveLength(1);
    expect(replyOf(await fx.turn("hello"))).toBe("ok");
    expect(fx.pool.stats().trouble).toBeNull();
  });

  test("at a start never rises above what may start at once, however many wait", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { min: 2, max: 4 }, starts: { atOnce: 1 } });
    let most = 0;
    const look = () => void (most = Math.max(most, fx.pool.stats().starting));
    const names = ["session-a", "session-b", "session-c", "session-d"];
    const leases = names.map(async (name) => {
      const held = await fx.lease({ sessionFile: `${name}.jsonl`, principal: `web:user:${name}` });
      look();
      return held;
    });
    look();
    const held = await Promise.all(leases);
    expect([most, fx.pool.stats().busy, spawnedPids(fx).length]).toEqual([1, 4, 4]);
    for (const lease of held) await lease[Symbol.asyncDispose]();
  });

  test("falls back to the minimum when they are not used", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { min: 1, max: 2, idleMs: 50 } });
    const leases = await Promise.all(
      ["session-a", "session-b"].map((name) => fx.lease({ sessionFile: `${name}.jsonl` })),
    );
    expect(fx.pool.stats().busy).toBe(2);
    for (const lease of leases) await lease[Symbol.asyncDispose]();
    const { pool } = fx;
    await until("one idle agent and none that starts", () => pool.stats().idle === 1 && pool.stats().starting === 0);
    expect(pool.stats().busy).toBe(0);
  });

  test("never rises above the maximum", async () => {
    await using fx = await scripted({ kind: "none" }, { pool: { max: 2 } });
    const names = ["session-a", "session-b", "session-c", "session-d", "session-e"];
    let most = 0;
    const turns = names.map(async (name) => {
      await using held = await fx.lease({ sessionFile: `${name}.jsonl`, principal: `web:user:${name}` });
      const { busy, starting, idle } = fx.pool.stats();
      most = Math.max(most, busy + starting + idle);
      return replyOf(await collect(held, "hello"));
    });
    expect(await Promise.all(turns)).toEqual(names.map(() => "ok"));
    expect(most).toBeLessThanOrEqual(2);
  });
});

describe("when the pool stops", () => {
  test.each(["has_child", "has_lost_child"] as const)(
    "nothing is left running, not even what an agent had started itself (%s), and strangers are left alone",
    async (kind) => {
      let pidFile = "";
      const fx = await agentFixture({}, { keys: {}, providers: {} }, async (home) => {
        pidFile = join(home.path, "child.pid");
        return { piPath: await writeScriptedAgent(home.path, { kind, pidFile }) };
      });
      const stranger = spawn("sleep", ["600"], { env: { ...process.env, PI_GATEWAY_PROCESS: "of another gateway" } });
      try {
        const lease = await fx.lease();
        const child = Number(await readFile(pidFile, "utf8"));
        expect(identify(child)).not.toBeNull();
        await fx[Symbol.asyncDispose]();
        expect([identify(lease.pid), identify(child)]).toEqual([null, null]);
        expect(identify(stranger.pid ?? 0)).not.toBeNull();
      } finally {
        stranger.kill();
      }
    },
    LIMIT_MS,
  );

  test(
    "an agent that dies by itself takes with it what it had left behind",
    async () => {
      let pidFile = "";
      await using fx = await agentFixture({}, { keys: {}, providers: {} }, async (home) => {
        pidFile = join(home.path, "child.pid");
        return { piPath: await writeScriptedAgent(home.path, { kind: "has_lost_child", pidFile }) };
      });
      const lease = await fx.lease();
      const child = Number(await readFile(pidFile, "utf8"));
      process.kill(lease.pid, "SIGKILL");
      await until("the child of the agent has ended", () => identify(child) === null);
      await lease[Symbol.asyncDispose]();
    },
    LIMIT_MS,
  );

  test("a start that is under way is ended too, and those who wait are told", async () => {
    const fx = await scripted({ kind: "hangs" }, { pool: { min: 1 } });
    const waiting = failure(fx.lease());
    await until("the start", () => spawnedPids(fx).length > 0);
    const pids = spawnedPids(fx);
    await fx[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ code: "stopping" });
    expect(pids.map(identify)).toEqual([null]);
  });
});

test("an agent that is killed in its start leaves nothing locked for the next one", async () => {
  await using fx = await agentFixture({ pool: { min: 0, max: 1 } }); // real pi, which waits half a minute for a lock
  const lease = await fx.lease();
  const lock = join(fx.home, "agent", "auth.json.lock");
  await mkdir(lock);
  process.kill(lease.pid, "SIGKILL");
  await until("the exit of the agent", () => fx.happened.some(({ event }) => event === "agent.exited"));
  await lease[Symbol.asyncDispose]();
  expect(replyOf(await fx.turn("echo: hello"))).toContain("hello");
  expect(existsSync(lock)).toBe(false);
}, 40_000);

test("nor while another one runs: what nobody gives back is a dead one's", async () => {
  await using fx = await agentFixture({ pool: { min: 0, max: 2 }, starts: { lockHeldMs: 300 } });
  await using _running = await fx.lease();
  const lock = join(fx.home, "agent", "auth.json.lock");
  await mkdir(lock);
  expect(replyOf(await fx.turn("echo: hello", { sessionFile: "session-b.jsonl" }))).toContain("hello");
  expect(fx.log.lines.filter(({ words }) => words === "locks of killed agents dropped")).toHaveLength(1);
  expect(existsSync(lock)).toBe(false);
}, 40_000);

describe("after a crash of the gateway", () => {
  test("what it left running is ended before anything else, and strangers are left alone", async () => {
    await using home = await tempHome();
    const [left, stranger] = [sleeper(), sleeper()];
    const notes = join(home.path, "run", "agents");
    await mkdir(notes, { recursive: true });
    const owner = { pid: 999_999_999, startTime: "1" };
    const note = (pid: number, startTime: string | undefined) =>
      JSON.stringify({ pid, startTime, boot: bootId(), owner });
    await writeFile(join(notes, `${left.pid}.json`), note(left.pid, identify(left.pid)?.startTime));
    await writeFile(join(notes, `${stranger.pid}.json`), note(stranger.pid, "1")); // the number was reused
    await writeFile(join(notes, "123.json"), "torn {");

    expect(await killOrphans({ clock: systemClock, log: silentLog }, home.path)).toBe(1);
    expect([identify(left.pid), identify(stranger.pid) !== null]).toEqual([null, true]);
    expect(await readdir(notes)).toEqual([]);
    stranger.kill();
  });

  test("children of a gateway that still lives are no orphans, and a note goes when its process does", async () => {
    await using fx = await scripted({ kind: "none" });
    const lease = await fx.lease();
    const note = join(fx.home, "run", "agents", `${lease.pid}.json`);
    expect(await killOrphans({ clock: systemClock, log: silentLog }, fx.home)).toBe(0);
    expect([existsSync(note), identify(lease.pid) !== null]).toEqual([true, true]);
    expect(replyOf(await collect(lease, "hello"))).toBe("ok");
    await lease[Symbol.asyncDispose]();
    await fx.pool[Symbol.asyncDispose]();
    expect(existsSync(note)).toBe(false);
  });
});

function scripted(misbehaviour: Misbehaviour, config: Parameters<typeof agentFixture>[0] = {}) {
  return agentFixture(config, { keys: {}, providers: {} }, async (home) => ({
    piPath: await writeScriptedAgent(home.path, misbehaviour),
  }));
}

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "it worked",
    (reason: unknown) => reason,
  );
}

/** The first start may take longer than the short wait of that test. */
async function retryUntilLeased(fx: Awaited<ReturnType<typeof agentFixture>>) {
  for (let tries = 0; tries < 100; tries++) {
    const lease = await fx.lease().catch(() => null);
    if (lease) return lease;
  }
  throw new Error("no lease");
}

function spawnedPids(fx: Awaited<ReturnType<typeof agentFixture>>): readonly number[] {
  return fx.happened.flatMap(({ event, data }) => (event === "agent.spawned" ? [pidOf(data)] : []));
}

function sleeper() {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  return { pid: child.pid ?? 0, kill: () => child.kill("SIGKILL") };
}

function pidOf(data: unknown): number {
  return typeof data === "object" && data !== null && "pid" in data ? Number(data.pid) : 0;
}
