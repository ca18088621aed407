/** What can be wrong around a start: configuration, port, state directory, disk, pi. Always a sentence, never a lost message. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ERRORS } from "../src/contracts/errors.ts";
import { deferred } from "../src/kit/deferred.ts";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type Misbehaviour, writeScriptedAgent } from "../src/testing/scripted-agent.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
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
const EX_TRY_AGAIN = 75;
const EX_CONFIG = 78;

async function homeWith(configText: string) {
  const home = await tempHome();
  await writeFile(join(home.path, "pi-gateway.jsonc"), configText);
  return home;
}

describe("a configuration", () => {
  test("that is broken at the first start ends it with 78 and names line and column", async () => {
    await using home = await homeWith('{\n  "agent": { "timeoutMs": 5 },\n  "queue" { }\n}\n');
    const failed = await startFails({ home: home.path });
    expect(failed.exitCode).toBe(EX_CONFIG);
    expect(sentenceOf(failed)).toContain("pi-gateway.jsonc:3:11");
  });

  test("that breaks later does not stop a start: the last good one is used, and the status says so", async () => {
    await using home = await homeWith('{ "agent": { "pool": { "min": 0, "max": 3 } } }');
    await using first = await startGatewayProcess({ home: home.path });
    await first.stop();
    await writeFile(join(home.path, "pi-gateway.jsonc"), '{ "agent": { "pool": { "min": 0, "max": ');
    await using second = await startGatewayProcess({ home: home.path });
    const { pool, notices } = await statusOf(second);
    expect(pool.max).toBe(3);
    expect(notices[0]).toBe("The configuration file is broken, so the last good one is in use.");
    expect(notices[1]).toMatch(/pi-gateway\.jsonc:1:\d+/);
  });

  test("with an unknown name in the gateway section ends the start with 78 and says the nearest name", async () => {
    await using home = await homeWith('{ "gateway": { "binde": "loopback" } }');
    const failed = await startFails({ home: home.path });
    expect(failed.exitCode).toBe(EX_CONFIG);
    expect(sentenceOf(failed)).toMatch(/binde.*Did you mean .*bind/);
  });

  test("with an unknown name elsewhere starts, and the status says the nearest name", async () => {
    await using home = await homeWith('{ "agent": { "pool": { "min": 0, "maxx": 3 } } }');
    await using gateway = await startGatewayProcess({ home: home.path });
    const { notices } = await statusOf(gateway);
    expect(notices).toEqual([expect.stringMatching(/maxx.*Did you mean .*max/)]);
  });

  test("that opens the gateway to other machines without a credential ends the start with 78", async () => {
    await using home = await homeWith('{ "gateway": { "bind": "lan" } }');
    const failed = await startFails({ home: home.path });
    expect(failed.exitCode).toBe(EX_CONFIG);
    expect(sentenceOf(failed)).toMatch(/other machines can reach.*gateway\.auth\.token/);
  });
});

describe("what another program holds", () => {
  test("a port in use ends the start with 75 and a sentence, and leaves the state directory free", async () => {
    using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    await using home = await tempHome();
    const failed = await startFails({ home: home.path, config: quiet, args: ["--port", String(other.port)] });
    expect(failed.exitCode).toBe(EX_TRY_AGAIN);
    expect(sentenceOf(failed)).toBe(
      `Port ${other.port} is in use by another program. Stop that program, or choose another with --port.`,
    );
    await using next = await startGatewayProcess({ home: home.path });
    expect((await next.fetch("/health")).status).toBe(200);
  });

  test("a state directory in use ends the start with 75; after a kill -9 of its holder it is free at once", async () => {
    await using first = await startGatewayProcess({ config: quiet });
    const failed = await startFails({ home: first.home });
    expect(failed.exitCode).toBe(EX_TRY_AGAIN);
    expect(sentenceOf(failed)).toContain(first.home);
    expect(sentenceOf(failed)).toContain(String(first.pid));
    expect((await first.fetch("/ready")).status).toBe(200);

    await first.kill();
    await using second = await startGatewayProcess({ home: first.home });
    expect((await second.fetch("/ready")).status).toBe(200);
    expect(second.token).toBe(first.token);
  });
});

describe("pi", () => {
  test.concurrent.each([
    ["missing", null, { status: 502, say: /pi agent was not found|piPath.*nowhere/, notice: /piPath.*nowhere/ }],
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
    async (_what, how: Misbehaviour | null, { status, say, notice }) => {
      await using home = await tempHome();
      const piPath = how ? await writeScriptedAgent(join(home.path, "bad"), how) : join(home.path, "nowhere");
      const agent = { piPath, timeoutMs: how?.kind === "hangs" ? 1_000 : 20_000, pool: SMALL_POOL };
      await using gateway = await startGatewayProcess({ home: home.path, config: { agent } });
      const { status: got, body } = await gateway.chat("hello", { session: "told" });
      expect({ status: got, say: body.error?.message }).toEqual({ status, say: expect.stringMatching(say) });
      const items = await transcript(gateway, "told");
      expect(items.map(({ role, kind }) => [role, kind])).toEqual([
        ["user", undefined],
        ["assistant", "notice"],
      ]);
      expect(items[1]?.text).toMatch(say);
      if (notice) expect((await statusOf(gateway)).notices[0]).toMatch(notice);
      expect((await gateway.fetch("/ready")).status).toBe(200);
      expect(await gateway.stop()).toBe(0);
    },
  );

  test("that is put right in the file answers the next message without a restart", async () => {
    await using gateway = await startGatewayProcess({ config: { agent: { piPath: "/nowhere/pi" } } });
    expect((await gateway.chat("hello")).body.error?.code).toBe("agent_missing");
    await writeFile(join(gateway.home, "pi-gateway.jsonc"), JSON.stringify({ agent: { pool: SMALL_POOL } }));
    await agentReady(gateway);
    expect((await gateway.chat("echo: back")).body.content).toBe("back");
    expect((await statusOf(gateway)).notices).toEqual([]);
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

  test.skipIf(!canMount)(
    "refuses messages in a sentence and takes them again when there is room (needs the right to mount a tmpfs)",
    async () => {
      await using folder = await tempHome();
      await using disk = await smallDisk(join(folder.path, "disk"), DISK_MB);
      await using gateway = await startGatewayProcess({
        home: disk.path,
        config: { agent: { pool: SMALL_POOL } },
        env: { ...outside },
      });
      expect((await gateway.chat("echo: before", { session: "disk" })).body.content).toBe("before");

      await disk.fill();
      const refused = await post(gateway, { text: `echo: ${"lost? ".repeat(20_000)}`, session: "disk" });
      expect(await problemOf(refused)).toEqual({
        status: ERRORS.store_failed.status,
        code: "store_failed",
        message: ERRORS.store_failed.say,
      });

      await disk.free();
      const after = await eventually(
        () => gateway.chat("echo: after", { session: "disk" }),
        ({ status }) => status === 200,
      );
      expect(after.body.content).toBe("after");
      const said = (await transcript(gateway, "disk")).map(({ text }) => text);
      expect(said).toEqual(["echo: before", "before", "echo: after", "after"]);
      expect(await gateway.stop()).toBe(0);
    },
  );

  test.skipIf(!canMount)("in the middle of a turn keeps the answer for later and says what was wrong", async () => {
    const gate = deferred<void>();
    await using provider = await startFakeProvider((request) =>
      asked(request) === "go on" ? says("gladly") : says("began, ", gate.promise, "ended ".repeat(20_000)),
    );
    await using folder = await tempHome();
    await using disk = await smallDisk(join(folder.path, "disk"), DISK_MB);
    await using gateway = await startGatewayProcess({
      home: disk.path,
      config: endpoint(provider),
      env: { ...outside },
    });
    await agentReady(gateway);
    const answer = gateway.chat("take your time", { session: "middle" });
    await provider.arrived(1);
    await disk.fill();
    gate.resolve();
    await eventually(gateway.stderr, (said) => said.includes("turn could not be stored yet"));
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
