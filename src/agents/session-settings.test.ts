/** Sessions with a model of their own, against real pi: what the provider receives proves which model, level and key were used. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import type { LeaseRequest } from "../contracts/agent.ts";
import { secret } from "../kit/secret.ts";
import {
  type AgentFixture,
  agentFixture,
  caller,
  collect,
  providers,
  replyOf,
  TEST_KEY,
  toolSpec,
} from "../testing/agent-fixture.ts";
import { createAgentStage } from "../testing/agent-stage.ts";
import { programPid, SANDBOX_TO_LOOK_INTO } from "../testing/confined-pid.ts";
import { type FakeProvider, inOrder, type ProviderRequest, says, startFakeProvider } from "../testing/fake-provider.ts";

setDefaultTimeout(120_000);

const OTHER_KEY = "other-key-51b2";
const never = new AbortController().signal;
const LONG = "words and more words ".repeat(6_000); // more than pi keeps as it is when it summarises

function models(fake: FakeProvider, other = fake): Config["models"] {
  const { fake: one } = providers(fake).providers;
  if (!one) throw new Error("the fixture has no provider");
  const thinking = one.models.map((model) => ({ ...model, reasoning: true, contextWindow: 200_000 }));
  return {
    keys: {},
    providers: {
      fake: { ...one, models: thinking },
      other: { ...one, baseUrl: other.baseUrl, apiKey: secret(OTHER_KEY), models: [...one.models] },
    },
  };
}

/** A process for each of the two providers, for all but those who need a start of their own; every test has sessions of its own. */
let other: FakeProvider;
const agents = createAgentStage(
  { sandbox: SANDBOX_TO_LOOK_INTO, model: "fake/fake-1", thinking: "minimal" as never, pool: { max: 2 } },
  undefined,
  (fake) => models(fake, other),
);
beforeAll(async () => {
  other = await startFakeProvider(() => says("from the other"));
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const asked = ({ body }: ProviderRequest) => [body["model"], body["reasoning_effort"] ?? "off"];

/** A turn that ends as turns do: the next one is told how long the file is. */
async function turn(fx: AgentFixture, text: string, request: Partial<LeaseRequest> & { sessionFile: string }) {
  await using held = await fx.lease(request);
  const events = await collect(held, text);
  return { reply: replyOf(events), pid: held.pid, settledBytes: await held.settledBytes(), last: events.at(-1) };
}

describe("a session with a model and a thinking level of its own", () => {
  test("gets them every time, also when it takes turns with others in one process, and after a new process", async () => {
    await using provider = await startFakeProvider();
    await using fx = await agentFixture({ model: "fake/fake-1", pool: { max: 1, maxSwitches: 8 } }, models(provider));
    const high = { sessionFile: "session-high.jsonl", model: "fake/fake-2", thinking: "high" } as const;
    const low = { sessionFile: "session-low.jsonl", model: "fake/fake-1", thinking: "low" } as const;
    const plain = { sessionFile: "session-plain.jsonl" };
    const pids = new Set<number>();
    for (let round = 0; round < 4; round++)
      for (const session of [high, low, plain]) pids.add((await turn(fx, `round ${round}`, session)).pid);
    const round = [
      ["fake-2", "high"],
      ["fake-1", "low"],
      ["fake-1", "medium"],
    ];
    expect(provider.requests.map(asked)).toEqual([...round, ...round, ...round, ...round]);
    expect(pids.size).toBe(2); // it was replaced on the way
  });

  test("follows a change while it is open, and goes back to the agent's own", async () => {
    const { fx, requests, file } = await agents.scene();
    const sessionFile = file("change");
    const wishes: readonly Partial<LeaseRequest>[] = [
      {},
      { model: "fake/fake-2" },
      { model: "fake/fake-2", thinking: "high" },
      {},
    ];
    for (const wish of wishes) await turn(fx, "hello", { sessionFile, ...wish });
    expect(requests.map(asked)).toEqual([
      ["fake-1", "minimal"],
      ["fake-2", "minimal"],
      ["fake-2", "high"],
      ["fake-1", "minimal"],
    ]);
  });

  test("of another provider is served by a process of its own, which calls that provider with its key and holds none", async () => {
    const { fx, file } = await agents.scene(() => says("from the first"));
    const holdsKey = (pid: number) => {
      const environment = readFileSync(`/proc/${programPid(pid)}/environ`, "utf8");
      return [TEST_KEY, OTHER_KEY].some((key) => environment.includes(key));
    };
    const before = other.requests.length;
    const elsewhere = { sessionFile: file("other"), model: "other/fake-2" };
    const [here, there] = [await turn(fx, "one", { sessionFile: file("own") }), await turn(fx, "two", elsewhere)];
    expect([here.reply, there.reply]).toEqual(["from the first", "from the other"]);
    expect([here.pid === there.pid, holdsKey(here.pid), holdsKey(there.pid)]).toEqual([false, false, false]);
    expect(other.requests.slice(before).map(({ authorization }) => authorization)).toEqual([`Bearer ${OTHER_KEY}`]);
    expect((await turn(fx, "three", { ...elsewhere, model: "other/fake-1" })).pid).toBe(there.pid);
    expect(other.requests.slice(before).map(({ body }) => body["model"])).toEqual(["fake-2", "fake-1"]);
  });

  test("that pi does not offer is told why, and the process goes on serving others", async () => {
    const { fx, file } = await agents.scene();
    const before = await turn(fx, "one", { sessionFile: file("own") });
    const wrong = fx.lease({ sessionFile: file("wrong"), model: "fake/fake-9" });
    await expect(wrong).rejects.toMatchObject({ code: "model_missing" });
    await expect(wrong).rejects.toThrow("fake-9");
    expect((await turn(fx, "two", { sessionFile: file("own") })).pid).toBe(before.pid);
    const nowhere = fx.lease({ sessionFile: file("wrong"), model: "../../etc/passwd" });
    await expect(nowhere).rejects.toMatchObject({ code: "model_missing" });
  });
});

test("the models to choose from are those that pi offers with the key of one provider, with the levels each has, whether or not a process runs", async () => {
  const { fx, file, provider } = await agents.scene();
  await turn(fx, "hello", { sessionFile: file("own") });
  const own = await fx.pool.models?.({ caller: caller("operator") }, never);
  const levels = ["off", "minimal", "low", "medium", "high"] as const;
  const price = { input: 1, output: 2 };
  expect(own).toEqual([
    { name: "fake/fake-1", thinking: [...levels], price },
    { name: "fake/fake-2", thinking: [...levels], price },
  ]);
  await using fresh = await agentFixture({ model: "fake/fake-1", pool: { max: 1 } }, models(provider));
  const others = await fresh.pool.models?.({ caller: caller("operator"), provider: "other" }, never);
  expect(others?.map(({ name, thinking }) => [name, thinking])).toEqual([
    ["other/fake-1", ["off"]],
    ["other/fake-2", ["off"]],
  ]);
});

describe("a summary of a long conversation", () => {
  test("says what it saved and cost; the next turn is shown the summary in place of what was said", async () => {
    const { fx, requests, file } = await agents.scene((request) =>
      says(JSON.stringify(request.messages).includes("<conversation>") ? "They spoke of words." : "noted"),
    );
    const sessionFile = file("long");
    for (const text of [LONG, LONG, "and now?"]) await turn(fx, text, { sessionFile });
    await using held = await fx.lease({ sessionFile });
    const result = await held.compact?.("mind the words", never);
    expect(result).toMatchObject({ kind: "done", usage: { inputTokens: 10, outputTokens: 5 }, model: "fake/fake-1" });
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("Additional focus: mind the words");
    expect(await held.compact?.("", never)).toEqual({ kind: "nothing" });
    await collect(held, "go on");
    const shown = JSON.stringify(requests.at(-1)?.messages);
    expect([shown.includes("They spoke of words."), shown.length < 1.5 * LONG.length]).toEqual([true, true]);
  });

  test("can be stopped, and fails with a reason when the provider does; the process stays", async () => {
    let hang = true;
    const { fx, file, arrived } = await agents.scene((request) => {
      if (!JSON.stringify(request.messages).includes("<conversation>")) return says("noted");
      return hang ? { kind: "hang" } : { kind: "status", status: 401, message: "no" };
    });
    const sessionFile = file("long");
    for (const text of [LONG, LONG]) await turn(fx, text, { sessionFile });
    const before = await turn(fx, "and now?", { sessionFile });
    {
      await using held = await fx.lease({ sessionFile });
      const stop = new AbortController();
      const work = held.compact?.("", stop.signal);
      await arrived(4);
      stop.abort(new Error("enough"));
      expect(await work).toEqual({ kind: "stopped" });
      hang = false;
      expect(await held.compact?.("", never)).toMatchObject({ kind: "failed", code: "provider_auth" });
    }
    expect(await turn(fx, "go on", { sessionFile })).toMatchObject({ reply: "noted", pid: before.pid });
  });
});

test("the cost of an interrupted attempt is found in the part of the file that is cut off", async () => {
  const call = { kind: "tools", calls: [{ name: "look", input: {} }] } as const;
  const { fx, file, arrived } = await agents.scene(inOrder(says("ok"), call, { kind: "hang" }));
  fx.gate.tools = [toolSpec("look")];
  const sessionFile = file("lost");
  const { settledBytes } = await turn(fx, "first", { sessionFile });
  {
    await using held = await fx.lease({ sessionFile });
    const events = collect(held, "second, whose end is never stored");
    await arrived(3);
    process.kill(held.pid, "SIGKILL");
    expect((await events).at(-1)).toMatchObject({ type: "failed", again: true, usage: { inputTokens: 10 } });
  }
  await using again = await fx.lease({ sessionFile, settledBytes });
  const used = { inputTokens: 10, outputTokens: 5, costUsd: expect.closeTo(0.00002, 8) };
  expect(again.lost).toEqual({ ...used, model: "fake/fake-1" });
  await again[Symbol.asyncDispose](); // the file is back where sessions are kept
  expect(readFileSync(join(fx.home, "sessions", sessionFile), "utf8")).not.toContain("never stored");
});
