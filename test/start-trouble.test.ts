/** What can be wrong around a start: configuration, port, state directory, disk, pi. Always a sentence, never a lost message. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ERRORS } from "../src/contracts/errors.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { settingsWithStore } from "../src/testing/postgres/home-database.ts";
import { type Misbehaviour, writeScriptedAgent } from "../src/testing/scripted-agent.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { BUILD, type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
  agentPids,
  agentReady,
  asked,
  endpoint,
  eventually,
  post,
  problemOf,
  sentenceOf,
  SMALL_POOL,
  startFails,
  statusOf,
  wordsOf,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** No agent is started before it is needed, which most of these tests do not come to. */
const quiet = { agent: { pool: { min: 0, max: 1 } } };
interface Trouble {
  readonly status: number;
  readonly say: RegExp;
  readonly notice: RegExp | null;
}
const EX_TRY_AGAIN = 75;
const EX_CONFIG = 78;

async function homeWith(configText: string) {
  const home = await tempHome();
  await writeFile(join(home.path, "pi-gateway.jsonc"), configText);
  return home;
}

test("a gateway that is told to stop while it starts, and waits for its database, ends with 0", async () => {
  const waits = deferred<void>();
  using silent = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: () => waits.resolve(), data: () => undefined }, // a server that never answers
  });
  const started = deferred<number>();
  const config = { ...quiet, store: { url: `postgres://nobody@127.0.0.1:${silent.port}/none` } };
  const ended = startFails({ config, spawned: started.resolve });
  const pid = await started.promise;
  await waits.promise;
  process.kill(pid, "SIGTERM");
  expect((await ended).exitCode).toBe(0);
});

describe("a configuration", () => {
  test("that is broken at the first start ends it with 78 and names line and column", async () => {
    await using home = await homeWith('{\n  "agent": { "timeoutMs": 5 },\n  "queue" { }\n}\n');
    const failed = await startFails({ home: home.path });
    expect(failed.exitCode).toBe(EX_CONFIG);
    expect(sentenceOf(failed)).toContain("pi-gateway.jsonc:3:11");
  });

  test("with an unknown name outside the gateway section starts, and the status says the nearest name; when it breaks later the last good one is used, and the status says so", async () => {
    await using home = await homeWith('{ "agent": { "pool": { "min": 0, "max": 3, "maxx": 3 } } }');
    await using first = await startGatewayProcess({ home: home.path });
    expect((await statusOf(first)).notices).toEqual([expect.stringMatching(/maxx.*Did you mean .*max/)]);
    await first.stop();
    await writeFile(join(home.path, "pi-gateway.jsonc"), '{ "agent": { "pool": { "min": 0, "max": ');
    await using second = await startGatewayProcess({ home: home.path });
    const { pool, notices } = await statusOf(second);
    expect(pool.max).toBe(3);
    expect(notices[0]).toBe("The configuration file is broken, so the last good one is in use.");
    expect(notices[1]).toMatch(/pi-gateway\.jsonc:1:\d+/);
    expect(second.stderr()).toMatch(/^\{"event":"configuration","broken":true,.*pi-gateway\.jsonc:1:\d+ /m);
    expect(first.stderr()).toMatch(/^\{"event":"configuration","broken":false,.*maxx/m);
  });

  test("with an unknown name in the gateway section ends the start with 78 and says the nearest name", async () => {
    await using home = await homeWith('{ "gateway": { "binde": "loopback" } }');
    const failed = await startFails({ home: home.path });
    expect(failed.exitCode).toBe(EX_CONFIG);
    expect(sentenceOf(failed)).toMatch(/binde.*Did you mean .*bind/);
  });

  test("that opens the gateway to other machines without a credential ends the start with 78", async () => {
    await using home = await homeWith('{ "gateway": { "bind": "lan" } }');
    const failed = await startFails({ home: home.path });
    expect(failed.exitCode).toBe(EX_CONFIG);
    expect(sentenceOf(failed)).toMatch(/other machines can reach.*gateway\.auth\.token/);
  });
});

describe("a port or state directory that another program holds", () => {
  test("a port in use ends the start with 75 and leaves the state directory free; a state directory in use ends it with 75, and after a kill -9 of its holder it is free at once", async () => {
    using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    await using home = await tempHome();
    const noPort = await startFails({ home: home.path, config: quiet, args: ["--port", String(other.port)] });
    expect(noPort.exitCode).toBe(EX_TRY_AGAIN);
    expect(sentenceOf(noPort)).toBe(
      `Port ${other.port} is in use by another program. Stop that program, or choose another with --port.`,
    );
    await using first = await startGatewayProcess({ home: home.path });
    expect((await first.fetch("/health")).status).toBe(200);

    const noPlace = await startFails({ home: home.path });
    expect(noPlace.exitCode).toBe(EX_TRY_AGAIN);
    expect(sentenceOf(noPlace)).toContain(home.path);
    expect(sentenceOf(noPlace)).toContain(String(first.pid));
    expect((await first.fetch("/ready")).status).toBe(200);

    await first.kill();
    await using second = await startGatewayProcess({ home: home.path });
    expect((await second.fetch("/ready")).status).toBe(200);
    expect(second.token).toBe(first.token);
  });
});

describe("pi", () => {
  let home: TempHome;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    home = await tempHome();
    const piPath = await writeScriptedAgent(join(home.path, "bad"), { kind: "exits", code: 1, lastWords: "not today" });
    gateway = await startGatewayProcess({ home: home.path, config: { agent: { piPath, pool: SMALL_POOL } } });
  });
  afterAll(async () => {
    try {
      expect(await gateway?.stop()).toBe(0); // whatever its agents were like
    } finally {
      await home?.[Symbol.asyncDispose]();
    }
  });

  async function change(agent: Readonly<Record<string, unknown>>): Promise<void> {
    await writeFile(join(home.path, "pi-gateway.jsonc"), JSON.stringify({ agent: { pool: SMALL_POOL, ...agent } }));
    await gateway.fetch("/api/config/reload", { method: "POST" });
  }

  async function saysWhatIsWrong(of: GatewayProcess, { status, say, notice }: Trouble): Promise<void> {
    const session = `told-${++told}`;
    const { status: got, body } = await of.chat("hello", { session });
    expect({ status: got, say: body.error?.message }).toEqual({ status, say: expect.stringMatching(say) });
    const items = await transcript(of, session);
    expect(items.map(({ role, kind }) => [role, kind])).toEqual([
      ["user", undefined],
      ["assistant", "notice"],
    ]);
    expect(items[1]?.text).toMatch(say);
    if (notice) expect((await statusOf(of)).notices[0]).toMatch(notice);
    expect((await of.fetch("/ready")).status).toBe(200);
  }
  let told = 0;

  test.each([
    [
      "exits at once",
      { kind: "exits", code: 3, lastWords: "no licence" },
      { status: 502, say: /pi-gw doctor/, notice: /does not start.*no licence/ },
    ],
    [
      "prints garbage",
      { kind: "garbage" },
      { status: 502, say: /does not understand|did not start/, notice: /does not start/ },
    ],
    ["hangs", { kind: "hangs" }, { status: 504, say: /took too long/, notice: null }],
  ] as const)(
    "that is not right (%s) does not stop the gateway: the chat says it in a sentence, within its time limit",
    async (what, how: Misbehaviour, trouble) => {
      const piPath = await writeScriptedAgent(join(home.path, `bad-${what.replaceAll(" ", "-")}`), how);
      await change({ piPath, timeoutMs: how.kind === "hangs" ? 1_000 : 20_000 });
      await saysWhatIsWrong(gateway, trouble);
    },
  );

  test("that is missing when the gateway starts does not stop it: the chat says it in a sentence; put right in the file it answers the next message without a restart", async () => {
    await using own = await tempHome();
    const piPath = join(own.path, "nowhere");
    const config = { agent: { piPath, pool: SMALL_POOL } };
    await using poor = await startGatewayProcess({ home: own.path, config, build: BUILD }); // what has source maps
    const say = /pi agent was not found|piPath.*nowhere/;
    await saysWhatIsWrong(poor, { status: 502, say, notice: /piPath.*nowhere/ });
    expect((await poor.chat("hello")).body.error?.code).toBe("agent_missing");
    expect(poor.stderr()).toMatch(/src\/agents\/[\w/-]+\.ts:\d+:\d+/); // the log names our sources, though what runs is built
    const right = await settingsWithStore(own.path, { agent: { pool: { min: 1, max: 1 } } });
    await writeFile(join(own.path, "pi-gateway.jsonc"), JSON.stringify(right));
    await agentReady(poor);
    expect((await poor.chat("echo: back")).body.content).toBe("back");
    expect((await statusOf(poor)).notices).toEqual([]);
    expect(await poor.stop()).toBe(0);
  });
});

describe("a full disk", () => {
  const DISK_MB = 24;
  const canMount = mountable();
  /** What Bun keeps of compiled code is larger than the disk. */
  const outside = {
    BUN_RUNTIME_TRANSPILER_CACHE_PATH:
      process.env["BUN_RUNTIME_TRANSPILER_CACHE_PATH"] ?? join(tmpdir(), "pi-gateway-test-cache"),
  };

  const gate = deferred<void>();
  let provider: FakeProvider;
  let folder: TempHome;
  let disk: SmallDisk;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    if (!canMount) return;
    provider = await startFakeProvider((request) =>
      asked(request).startsWith("take your time")
        ? says("began, ", gate.promise, "ended ".repeat(20_000))
        : says("gladly"),
    );
    folder = await tempHome();
    disk = await smallDisk(join(folder.path, "disk"), DISK_MB);
    const config = { ...endpoint(provider), agent: { model: "fake/fake-1", pool: { min: 0, max: 1 } } };
    gateway = await startGatewayProcess({ home: disk.path, config, env: { ...outside } });
  });
  afterAll(async () => {
    if (!canMount) return;
    const code = await gateway?.stop();
    await disk?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
    expect(code).toBe(0);
  });

  test.skipIf(!canMount)(
    "refuses messages in a sentence and takes them again when there is room (needs the right to mount a tmpfs)",
    async () => {
      expect((await gateway.chat("before", { session: "disk" })).body.content).toBe("gladly");

      await disk.fill();
      const tooMuch = { text: "lost? ".repeat(20_000), session: "disk" };
      const refused = await post(gateway, tooMuch);
      expect(await problemOf(refused)).toEqual({
        status: ERRORS.store_failed.status,
        code: "store_failed",
        message: ERRORS.store_failed.say,
      });

      // a page or two may still fit, which a message does not
      await eventually(
        "a full disk that shows in /ready",
        async () => [(await post(gateway, tooMuch)).status, (await gateway.fetch("/ready")).status],
        ([, ready]) => ready === 503,
      );
      expect((await statusOf(gateway)).notices).toContainEqual(expect.stringContaining("cannot be written to"));

      await disk.free();
      await eventually(
        "a ready gateway on the freed disk",
        async () => (await gateway.fetch("/ready")).status, // without anybody sending a message
        (status) => status === 200,
      );
      const after = await eventually(
        "an answer after the disk is back",
        () => gateway.chat("after", { session: "disk" }),
        ({ status }) => status === 200,
      );
      expect(after.body.content).toBe("gladly");
      const said = (await transcript(gateway, "disk")).map(({ text }) => text);
      expect(said).toEqual(["before", "gladly", "after", "gladly"]);
    },
  );

  test.skipIf(!canMount)("in the middle of a turn keeps the answer for later and says what was wrong", async () => {
    const before = provider.requests.length;
    const answer = gateway.chat("take your time", { session: "middle" });
    await provider.arrived(before + 1);
    await disk.fill();
    const already = gateway.stderr().length;
    gate.resolve();
    await eventually(
      "the log line about the full disk",
      () => gateway.stderr().slice(already),
      (said) => said.includes("turn could not be stored yet"),
    );
    await disk.free();
    expect((await answer).body.error?.message).toBe(ERRORS.agent_disk_full.say);
    const items = await transcript(gateway, "middle");
    expect(items.map(({ role, kind, text }) => [role, kind, text.slice(0, 12)])).toEqual([
      ["user", undefined, "take your ti"],
      ["assistant", "reply", "began, ended"],
      ["assistant", "notice", "The assistan"],
    ]);
    expect((await gateway.chat("go on", { session: "middle" })).body.content).toBe("gladly");

    // Another process reads the conversation from its file, in which something half written may lie.
    for (const pid of agentPids(gateway.home)) process.kill(pid, "SIGKILL");
    expect((await gateway.chat("go on", { session: "middle" })).body.content).toBe("gladly");
    const remembered = provider.requests.at(-1)?.messages.filter(({ role }) => role === "user") ?? [];
    expect(remembered.map(({ content }) => wordsOf(content))).toEqual(["take your time", "go on", "go on"]);
  });

  test.skipIf(!canMount)("stops a start in a sentence that names it", async () => {
    await using folder = await tempHome();
    await using disk = await smallDisk(join(folder.path, "disk"), 1);
    await disk.fill();
    const failed = await startFails({ home: disk.path, env: { ...outside } });
    expect(failed.exitCode).toBe(1);
    expect(sentenceOf(failed)).toMatch(/Make room/);
  });

  if (!canMount)
    console.warn("skipped: the test of a full disk needs root and a tmpfs, which this machine does not give");
});

function mountable(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const mounts = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
  return mounts.status === 0 && existsSync("/proc/mounts");
}

interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  fill(): Promise<void>;
  free(): Promise<void>;
}

async function smallDisk(path: string, sizeMb: number): Promise<SmallDisk> {
  await mkdir(path);
  const run = (command: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(command, [...args, path]);
    if (status !== 0) throw new Error(`${command} failed: ${stderr.toString()}`);
  };
  run("mount", "-t", "tmpfs", "-o", `size=${sizeMb}m,mode=0700`, "tmpfs");
  if (!readFileSync("/proc/mounts", "utf8").includes(path)) throw new Error("the small disk is not there");
  const filler = join(path, "filler");
  return {
    path,
    async fill() {
      const { bavail, bsize } = statfsSync(path);
      const full = (error: unknown) => {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      };
      await writeFile(filler, Buffer.alloc((bavail + 1) * bsize)).catch(full);
    },
    free: () => rm(filler),
    async [Symbol.asyncDispose]() {
      run("umount");
    },
  };
}

/** Linux only: lets the process have no file descriptor beyond the ones it has. Gives back the limit of before. */
function takeFileDescriptors(pid: number): () => void {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  const free = Array.from({ length: used.size + 1 }, (_, at) => at).find((at) => !used.has(at)) ?? 0;
  const limit = (value: string) => spawnSync("prlimit", ["--pid", String(pid), `--nofile=${value}`]).status;
  const before = /Max open files\s+(\d+)\s+(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, "utf8"));
  expect(limit(`${free}:`)).toBe(0);
  return () => expect(limit(`${before?.[1]}:`)).toBe(0);
}

test.skipIf(Bun.which("prlimit") === null)(
  "a gateway that ran out of file descriptors before its first chat answers 500, and chats again once it has some",
  async () => {
    await using gateway = await startGatewayProcess({ config: quiet, build: BUILD }); // what loads its parts from files
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await gateway.fetch(path, init);
      await response.arrayBuffer();
      return response.status;
    };
    const empty = { method: "POST", headers: { "content-type": "application/json" }, body: '{"text":7}' };
    expect(await ask("/api/status")).toBe(200); // over a connection that stays open: a new one would need a descriptor
    const giveBack = takeFileDescriptors(gateway.pid);
    const without = [await ask("/api/chat", empty), await ask("/metrics")];
    giveBack();
    expect(without).toEqual([500, 500]);
    expect([await ask("/api/chat", empty), await ask("/metrics")]).toEqual([422, 200]);
    expect((await gateway.chat("hello")).status).toBe(200);
  },
);

test("a gateway that cannot write down that it runs is stopped in order and ends", async () => {
  await using home = await tempHome();
  await mkdir(join(home.path, "gateway.json")); // the file is refused, as by a full disk
  const failed = await startFails({ home: home.path, config: quiet, readyWithinMs: WHOLE_TEST_MS / 4 });
  expect(failed.exitCode).toBe(1);
  expect(failed.said).toContain("plugin stopped");
});
