/** What the pool promises, kept with real pi processes and the demo model. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "../contracts/agent.ts";
import { agentFixture, collect, okResult, replyOf, toolSpec } from "../testing/agent-fixture.ts";
import { createAgentStage } from "../testing/agent-stage.ts";
import { SANDBOX_TO_LOOK_INTO, programPid } from "../testing/confined-pid.ts";
import { ensureSessionFile } from "./talk/session-file.ts";

const LIMIT_MS = 30_000;
/** A PNG of one red pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** Not the compiled one that most tests run. */
const INSTALLED_PI = Bun.fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent/rpc-entry"));

/** One process for all but those who need a start of their own; every test has sessions of its own. */
const agents = createAgentStage(
  { piPath: INSTALLED_PI, sandbox: SANDBOX_TO_LOOK_INTO, pool: { max: 1 } },
  undefined,
  () => ({ keys: {}, providers: {} }),
);
afterAll(() => agents[Symbol.asyncDispose]());

describe("a turn with the demo model", () => {
  test(
    "streams, calls a tool for the one who asked, and reports what the tool said",
    async () => {
      const { fx } = await agents.scene();
      fx.gate.tools = [toolSpec("session_status")];
      fx.gate.answer = async (request, signal) => {
        const stats = await request.context.stats(signal);
        return okResult(`model ${stats.model}, ${stats.messages > 0 ? "some" : "no"} messages`);
      };
      const events = await fx.turn("status");
      const calls = fx.gate.calls.map(({ tool, context }) => [tool, context.principal, context.sessionKey]);
      expect(calls).toEqual([["session_status", "operator", "agent:default:webchat:dm:operator"]]);
      expect(events.filter(({ type }) => type === "text").length).toBeGreaterThan(3);
      expect(events.find(({ type }) => type === "tool_end")).toMatchObject({ tool: "session_status", isError: false });
      expect(replyOf(events)).toContain("model gwdemo/demo, some messages");
      expect(streamedText(events)).toBe(replyOf(events));
      expect(fx.pool.stats()).toMatchObject({ idle: 1, busy: 0, waiting: 0, model: "gwdemo/demo", trouble: null });
    },
    LIMIT_MS,
  );

  test(
    "a tool that fails tells the model why, and the turn goes on",
    async () => {
      const { fx } = await agents.scene();
      fx.gate.tools = [toolSpec("session_status")];
      fx.gate.answer = async () => ({ kind: "failed", code: "tool_failed", message: "the moon is in the way" });
      const events = await fx.turn("status");
      expect(events.find(({ type }) => type === "tool_end")).toMatchObject({ isError: true });
      expect(replyOf(events)).toContain("the moon is in the way");
    },
    LIMIT_MS,
  );

  test(
    "a picture reaches the model",
    async () => {
      const { fx } = await agents.scene();
      await using lease = await fx.lease();
      const input = { text: "what is this?", images: [{ mimeType: "image/png", base64: PIXEL }] };
      const events = await Array.fromAsync(lease.prompt(input, new AbortController().signal));
      expect(replyOf(events)).toStartWith("I got an image (`image/png`)");
    },
    LIMIT_MS,
  );

  test(
    "a stop in the middle ends the turn as aborted with what was said so far, and the process serves the next turn",
    async () => {
      const { fx } = await agents.scene();
      const stop = new AbortController();
      const events: AgentEvent[] = [];
      const first = await fx.lease();
      for await (const event of first.prompt({ text: "tell me a long story", images: [] }, stop.signal)) {
        events.push(event);
        if (events.length === 5) stop.abort(new Error("enough"));
      }
      await first[Symbol.asyncDispose]();
      const last = events.at(-1);
      expect(last?.type).toBe("aborted");
      expect(last?.type === "aborted" && last.text.startsWith("Here is a long story")).toBe(true);
      await using second = await fx.lease();
      expect(second.pid).toBe(first.pid);
      expect(replyOf(await collect(second, "echo: still here"))).toBe("still here");
    },
    LIMIT_MS,
  );

  test(
    "a running tool is told when the turn is stopped, in the same moment",
    async () => {
      const { fx } = await agents.scene();
      const stop = new AbortController();
      fx.gate.tools = [toolSpec("session_status")];
      let told = false;
      let toldAtOnce = false;
      fx.gate.answer = (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            told = true;
            resolve({ kind: "failed", code: "cancelled", message: "cancelled" });
          });
          stop.abort(new Error("enough"));
          toldAtOnce = told; // pi has had no time to say anything
        });
      await using lease = await fx.lease();
      const events = await collect(lease, "status", stop.signal);
      expect([events.at(-1)?.type, toldAtOnce]).toEqual(["aborted", true]);
    },
    LIMIT_MS,
  );
});

describe("a process that is killed in the middle of a turn", () => {
  test(
    "ends the turn as worth another attempt, and the next lease gets a new process and a clean session",
    async () => {
      const { fx } = await agents.scene();
      await fx.turn("echo: first");
      const lease = await fx.lease();
      const settled = await lease.settledBytes();
      const events: AgentEvent[] = [];
      for await (const event of lease.prompt(
        { text: "tell me a long story", images: [] },
        new AbortController().signal,
      )) {
        events.push(event);
        if (events.length === 3) process.kill(lease.pid, "SIGKILL");
      }
      await lease[Symbol.asyncDispose]();
      expect(events.at(-1)).toMatchObject({ type: "failed", code: "agent_exited", again: true });

      await using again = await fx.lease({ settledBytes: settled });
      expect(again.pid).not.toBe(lease.pid);
      expect(await again.settledBytes()).toBe(settled);
      expect(replyOf(await collect(again, "echo: second"))).toBe("second");
    },
    LIMIT_MS,
  );
});

describe("sessions", () => {
  test(
    "stay apart in one process, and survive a change of process",
    async () => {
      const { fx, file } = await agents.scene();
      const [one, other] = [file("a"), file("b")];
      const pids: number[] = [];
      for (const [text, sessionFile] of [
        ["echo: apple", one],
        ["echo: pear", other],
        ["echo: apricot", one],
      ] as const) {
        await using lease = await fx.lease({ sessionFile });
        await collect(lease, text);
        pids.push(lease.pid);
      }
      expect(new Set(pids).size).toBe(1);
      const a = await readFile(join(fx.home, "sessions", one), "utf8");
      const b = await readFile(join(fx.home, "sessions", other), "utf8");
      expect([a.includes("apple"), a.includes("apricot"), a.includes("pear")]).toEqual([true, true, false]);
      expect([b.includes("pear"), b.includes("apple")]).toEqual([true, false]);
      expect((await stat(join(fx.home, "sessions", one))).mode & 0o777).toBe(0o600);
    },
    LIMIT_MS,
  );

  test(
    "follow the workspace when the state directory has moved",
    async () => {
      const { fx, file } = await agents.scene();
      const sessionFile = file("moved");
      const path = join(fx.home, "sessions", sessionFile);
      await ensureSessionFile(path, { id: "ses_1", at: 0, cwd: "/no/such/folder" });
      expect(replyOf(await fx.turn("echo: moved", { sessionFile }))).toBe("moved");
    },
    LIMIT_MS,
  );

  test(
    "a process is replaced after as many switches as the configuration allows",
    async () => {
      await using fx = await agentFixture({ pool: { maxSwitches: 2 } });
      for (const name of ["aaaaaaaa", "bbbbbbbb", "cccccccc"])
        await fx.turn("echo: x", { sessionFile: `${name}.jsonl` });
      expect(spawned(fx.happened)).toBe(2);
    },
    LIMIT_MS,
  );
});

test(
  "the environment of an agent holds the allow-list and nothing else",
  async () => {
    const { fx } = await agents.scene();
    await using lease = await fx.lease();
    const names = readFileSync(`/proc/${programPid(lease.pid)}/environ`, "utf8")
      .split("\0")
      .filter(Boolean)
      .map((line) => line.split("=")[0])
      .filter((name) => name !== "PI_GATEWAY_RELAY"); // only where the wall has a network of its own
    expect(names.sort()).toEqual([
      "BUN_JSC_useFTLJIT",
      "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
      "HOME",
      "PATH",
      "PI_CODING_AGENT_DIR",
      "PI_GATEWAY_BRIDGE",
      "PI_GATEWAY_BRIDGE_MODE",
      "PI_GATEWAY_DEMO",
      "PI_GATEWAY_OWNER",
      "PI_GATEWAY_PROCESS",
      "PI_GATEWAY_PROVIDER_WAIT_MS",
      "PI_OFFLINE",
      "TMPDIR",
    ]);
  },
  LIMIT_MS,
);

function spawned(happened: readonly { readonly event: string }[]): number {
  return happened.filter(({ event }) => event === "agent.spawned").length;
}

function streamedText(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.delta : "")).join("");
}
