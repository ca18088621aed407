/** What reaches a model provider and what becomes of its errors, with real pi and a fake provider. */
import { afterAll, describe, expect, test } from "bun:test";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { TEST_KEY, agentFixture, collect, okResult, providers, replyOf, toolSpec } from "../testing/agent-fixture.ts";
import { SANDBOX_TO_LOOK_INTO, programPid } from "../testing/confined-pid.ts";
import { createAgentStage } from "../testing/agent-stage.ts";
import { type FakeReply, type FakeScript, inOrder, says, startFakeProvider } from "../testing/fake-provider.ts";
import { identify } from "./process/proc.ts";

const LIMIT_MS = 40_000;

/** One process for all but those who need a start of their own; every test has sessions of its own. */
const agents = createAgentStage({ sandbox: SANDBOX_TO_LOOK_INTO, pool: { max: 1 } });
afterAll(() => agents[Symbol.asyncDispose]());

test(
  "text that looks like a command reaches the model as text",
  async () => {
    const { fx, requests } = await agents.scene(() => says("noted"));
    const bridge = "/gw-0123456789abcdef {}";
    const texts = ["/compact", bridge, " /x", "/skill:x", "\n/new", "/"];
    for (const text of texts) expect(replyOf(await fx.turn(text))).toBe("noted");
    const said = requests.map(({ messages }) => lastText(messages).trim());
    expect(said).toEqual(texts.map((text) => text.trim()));
  },
  LIMIT_MS,
);

test(
  "the real bridge command is text as well when a person types it",
  async () => {
    const { fx, requests } = await agents.scene(() => says("noted"));
    fx.gate.tools = [toolSpec("one")];
    await using lease = await fx.lease();
    const environ = await readFile(`/proc/${lease.pid}/environ`, "utf8");
    const suffix = /PI_GATEWAY_BRIDGE=([a-z0-9]+)/.exec(environ)?.[1] ?? "";
    expect(replyOf(await collect(lease, `/gw-${suffix} {"kind":"tools","specs":[]}`))).toBe("noted");
    expect(requests[0]?.tools).toEqual(["one"]);
  },
  LIMIT_MS,
);

test(
  "a tool that is added or removed is so in the next request, and survives a change of session",
  async () => {
    const { fx, requests, file } = await agents.scene(() => says("ok"));
    fx.gate.tools = [toolSpec("one"), toolSpec("two")];
    await fx.turn("a");
    await fx.turn("b", { sessionFile: file("b") });
    fx.gate.tools = [toolSpec("two")];
    await fx.turn("c", { sessionFile: file("b") });
    await fx.turn("d", { sessionFile: file("c") });
    expect(requests.map(({ tools }) => tools)).toEqual([["one", "two"], ["one", "two"], ["two"], ["two"]]);
  },
  LIMIT_MS,
);

test(
  "two conversations in one process do not know of each other, and each remembers its own",
  async () => {
    const { fx, requests, file } = await agents.scene(() => says("ok"));
    await fx.turn("my fruit is apple");
    await fx.turn("my fruit is pear", { sessionFile: file("other") });
    await fx.turn("which fruit?");
    const seen = JSON.stringify(requests.at(-1)?.messages);
    expect([seen.includes("apple"), seen.includes("pear")]).toEqual([true, false]);
  },
  LIMIT_MS,
);

test(
  "a conversation begun with the demo model goes on with the real one",
  async () => {
    const { fx, requests, file } = await agents.scene(() => says("real"));
    const sessionFile = file("begun");
    await using demo = await agentFixture();
    await demo.turn("echo: begun", { sessionFile });
    await cp(join(demo.home, "sessions", sessionFile), join(fx.home, "sessions", sessionFile));
    expect((await fx.turn("and now?", { sessionFile })).at(-1)).toMatchObject({
      type: "done",
      text: "real",
      model: "fake/fake-1",
    });
    expect(JSON.stringify(requests[0]?.messages)).toContain("begun");
  },
  LIMIT_MS,
);

test(
  "a conversation begun with another model goes on with the one that is configured now",
  async () => {
    const { fx: before, requests, provider, file } = await agents.scene();
    const sessionFile = file("begun");
    expect((await before.turn("begun", { sessionFile })).at(-1)).toMatchObject({ type: "done", model: "fake/fake-1" });
    await using fx = await agentFixture({ model: "fake/fake-2" }, providers(provider), async (home) => {
      await cp(join(before.home, "sessions"), join(home.path, "sessions"), { recursive: true });
      return {};
    });
    expect((await fx.turn("and now?", { sessionFile })).at(-1)).toMatchObject({ type: "done", model: "fake/fake-2" });
    expect(requests.map(({ body }) => body.model)).toEqual(["fake-1", "fake-2"]);
    expect(JSON.stringify(requests[1]?.messages)).toContain("begun");
  },
  LIMIT_MS,
);

test(
  "several tools of one answer run at once, each for its own call",
  async () => {
    const calls: FakeReply = {
      kind: "tools",
      calls: [
        { name: "one", input: {} },
        { name: "two", input: {} },
      ],
    };
    const { fx } = await agents.scene(inOrder(calls, says("both done")));
    fx.gate.tools = [toolSpec("one"), toolSpec("two")];
    fx.gate.answer = async ({ tool, onUpdate }) => {
      onUpdate?.({ content: [{ type: "text", text: "half way" }] });
      return okResult(`result of ${tool}`);
    };
    const events = await fx.turn("go");
    const results = events.flatMap((event) => (event.type === "tool_end" ? [event.output] : []));
    expect(results.sort()).toEqual(["result of one", "result of two"]);
    expect(events.at(-1)).toMatchObject({
      type: "done",
      text: "both done",
      model: "fake/fake-1",
      usage: { inputTokens: 20, outputTokens: 10 },
    });
  },
  LIMIT_MS,
);

test(
  "the provider's key reaches the provider and no file",
  async () => {
    const { fx, requests } = await agents.scene();
    await fx.turn("hello");
    expect(requests[0]?.authorization).toBe(`Bearer ${TEST_KEY}`);
    for (const name of ["models.json", "settings.json"]) {
      expect(await readFile(join(fx.home, "agent", name), "utf8")).not.toContain(TEST_KEY);
    }
  },
  LIMIT_MS,
);

describe("an error of the provider", () => {
  const fails =
    (status: number): FakeScript =>
    () => ({ kind: "status", status, message: "no" });
  const cases: readonly [string, FakeScript, string][] = [
    ["401", fails(401), "provider_auth"],
    ["400", fails(400), "provider_refused"],
  ];
  test.each(cases)(
    "%s ends the turn with the code that says so, and is not tried again",
    async (_name, script, code) => {
      const { fx, requests } = await agents.scene(script);
      expect((await fx.turn("hello")).at(-1)).toMatchObject({ type: "failed", code, again: false });
      expect(requests.length).toBe(1);
    },
    LIMIT_MS,
  );

  test.each([
    [429, "provider_limited"],
    [500, "provider_down"],
  ])(
    "%d is tried again by the agent, and told when that did not help",
    async (status, code) => {
      const { fx } = await agents.scene(fails(status));
      const events = await fx.turn("hello");
      expect(events.filter(({ type }) => type === "retrying").length).toBe(2);
      expect(events.at(-1)).toMatchObject({ type: "failed", code, again: false });
    },
    LIMIT_MS,
  );

  test(
    "that passes leaves only the good answer",
    async () => {
      const { fx } = await agents.scene(inOrder({ kind: "cut", pieces: ["half a "] }, says("whole answer")));
      const events = await fx.turn("hello");
      expect(events.map(({ type }) => type)).toContain("retrying");
      expect(replyOf(events)).toBe("whole answer");
    },
    LIMIT_MS,
  );

  test(
    "a connection that breaks every time is told as such",
    async () => {
      const { fx } = await agents.scene(() => ({ kind: "cut", pieces: ["half"] }));
      expect((await fx.turn("hello")).at(-1)).toMatchObject({ type: "failed", code: "provider_cut" });
    },
    LIMIT_MS,
  );
});

/** They wait most of their time, each for a process of its own. */
describe.concurrent("silence", () => {
  test(
    "of the provider is ended by the watchdog, and the process is good for the next turn",
    async () => {
      await using fake = await startFakeProvider(inOrder({ kind: "hang" }, says("awake")));
      await using fx = await agentFixture({ timeoutMs: 2_000 }, providers(fake));
      expect((await fx.turn("hello")).at(-1)).toMatchObject({ type: "failed", code: "provider_silent", again: false });
      expect(replyOf(await fx.turn("hello again"))).toBe("awake");
      expect(fx.happened.filter(({ event }) => event === "agent.spawned").length).toBe(1);
    },
    LIMIT_MS,
  );

  test(
    "of a process that is frozen in the middle of a turn, deaf to everything but force, is ended; the turn says so and the next one has another process",
    async () => {
      await using fake = await startFakeProvider(inOrder({ kind: "hang" }, says("awake")));
      await using fx = await agentFixture({ timeoutMs: 1_000 }, providers(fake));
      const lease = await fx.lease();
      const turn = collect(lease, "hello");
      await fake.arrived(1);
      process.kill(programPid(lease.pid), "SIGSTOP");
      expect((await turn).at(-1)).toMatchObject({ type: "failed", code: "provider_silent" });
      await lease[Symbol.asyncDispose]();
      expect(identify(lease.pid)).toBeNull();
      expect(replyOf(await fx.turn("hello again"))).toBe("awake");
    },
    LIMIT_MS,
  );
});

test(
  "a model that pi does not offer is refused with its name, not replaced by another one",
  async () => {
    await using fake = await startFakeProvider();
    await using fx = await agentFixture({ model: "fake/no-such-model" }, providers(fake));
    const error = await fx.lease().then(String, (reason: unknown) => reason);
    expect(error).toMatchObject({ code: "model_missing" });
    expect(fx.pool.stats().trouble).toContain("fake/no-such-model");
  },
  LIMIT_MS,
);

function lastText(messages: readonly { readonly role: string; readonly content: unknown }[]): string {
  const content = messages.findLast(({ role }) => role === "user")?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}
