/** One agent asks another in a whole gateway, with real pi on both sides: the answer, the limits, the end of it, and what it costs. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { MetricsSnapshot } from "../src/contracts/metrics.ts";
import type { Span } from "../src/contracts/queue.ts";
import type { TurnResult, TurnTrace } from "../src/contracts/store/turns.ts";
import type { AuditRow } from "../src/contracts/store/tool-calls.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import {
  agentPids,
  asked,
  eventually,
  keyOf,
  post,
  runs,
  textOf,
  told,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

type Step = readonly [tool: string, input: Readonly<Record<string, unknown>>];
interface Plan {
  /** Steps in one list are called at once. */
  readonly steps: readonly (readonly Step[])[];
  readonly end: string;
}

/** The model does what its user wrote down for it; a task may hold a plan of its own. */
function obedient(request: ProviderRequest): FakeReply {
  const words = asked(request);
  const plan = /PLAN(.*)DONE/s.exec(words)?.[1];
  if (plan === undefined) return words.includes("HANG") ? { kind: "hang" } : says(`done: ${words}`);
  const { steps, end } = JSON.parse(plan) as Plan;
  const from = request.messages.findLastIndex(({ role }) => role === "user");
  const answered = request.messages.slice(from).filter(({ role }) => role === "tool").length;
  let before = 0;
  const next = steps.find((step) => (before += step.length) > answered);
  if (!next) return says(end);
  return { kind: "tools", calls: next.map(([name, input]) => ({ name, input })) };
}

const plan = (end: string, ...steps: readonly (readonly Step[])[]): string =>
  `PLAN${JSON.stringify({ steps, end })}DONE`;
const ask = (agent: string, task: string, more: object = {}): Step => ["delegate_to_agent", { agent, task, ...more }];

function config(provider: FakeProvider, max: number) {
  const cost = { input: 1_000, output: 10_000 };
  return {
    agent: { model: "fake/fake-1", pool: { min: 0, max }, delegates: ["researcher"] },
    agents: [
      {
        id: "researcher",
        description: "finds things out",
        delegates: ["critic"],
        systemPrompt: "You are the researcher.",
      },
      { id: "critic", systemPrompt: "You are the critic.", delegates: ["researcher"] },
      { id: "loner", systemPrompt: "You are the loner." },
    ],
    models: {
      providers: {
        fake: { baseUrl: provider.baseUrl, apiKey: "a-key-for-tests-5521", models: [{ id: "fake-1", cost }] },
      },
    },
  };
}

/** What the tools of a conversation told its model, in order. */
async function toolOutputs(gateway: GatewayProcess, session: string): Promise<readonly string[]> {
  const items = await transcript(gateway, session);
  return items.filter(({ role }) => role === "tool").map(({ output }) => output ?? "");
}

/** The newest thing that a tool told the model of this conversation. */
function envelope(provider: FakeProvider, words: string): unknown {
  const request = provider.requests.findLast((one) => asked(one).includes(words));
  return JSON.parse(textOf(request?.messages.findLast(({ role }) => role === "tool")?.content));
}

async function read<T>(gateway: GatewayProcess, path: string): Promise<T> {
  return (await (await gateway.fetch(path)).json()) as T;
}

const waitsFor = (provider: FakeProvider, words: string) =>
  eventually(
    `the model is asked "${words}"`,
    () => provider.requests.filter((request) => asked(request) === words).length,
    (count) => count > 0,
    40_000,
  );

/** The processes of an agent; for `default`, those of nobody else. */
function busyPids(gateway: GatewayProcess, agent: string): readonly number[] {
  const isOf = (pid: number): boolean => {
    const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return agent === "default" ? !/agents\/(researcher|critic|loner)/.test(line) : line.includes(`agents/${agent}`);
  };
  const pids = agentPids(gateway.home).filter((pid) => runs(pid) && isOf(pid));
  if (pids.length === 0) throw new Error(`${agent} has no process`);
  return pids;
}

const logOf = (gateway: GatewayProcess): string => {
  const folder = join(gateway.home, "logs");
  const files = readdirSync(folder).filter((name) => name.endsWith(".log") || name.endsWith(".jsonl"));
  return [...files.map((name) => readFileSync(join(folder, name), "utf8")), gateway.stderr()].join("\n");
};

const MANY = 4;
let script: (request: ProviderRequest) => FakeReply = obedient;
let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;
let processes = MANY;

/** The same gateway with so many processes at most, for whoever comes. */
async function limitTo(max: number): Promise<void> {
  if (processes === max) return;
  await saveSettings(home.path, config(provider, max));
  expect((await gateway.fetch("/api/config/reload", { method: "POST" })).status).toBe(200);
  processes = max;
}

beforeAll(async () => {
  provider = await startFakeProvider((request) => script(request));
  home = await tempHome();
  gateway = await startGatewayProcess({ home: home.path, config: config(provider, MANY) });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

describe("an agent that may ask others", () => {
  beforeEach(() => limitTo(MANY));

  test("gets the other one's answer, marked as somebody else's words, and both are paid in its turn", async () => {
    const before = provider.charged();
    const { status, body } = await gateway.chat(plan("It is a heron.", [ask("researcher", "Which bird?")]), {
      session: "bird",
    });
    expect([status, body.content]).toEqual([200, "It is a heron."]);
    const [output = ""] = await toolOutputs(gateway, "bird");
    expect(output).toMatch(
      /^<untrusted-text \S+ source="agent researcher">\ndone: Which bird\?\n<\/untrusted-text \S+>$/,
    );
    const child = provider.requests.find((request) => asked(request) === "Which bird?");
    expect(told(child as ProviderRequest)).toContain("asked by: agent default");
    expect(textOf(child?.messages[0]?.content)).toContain("You are the researcher.");

    const after = provider.charged();
    const used = {
      inputTokens: after.inputTokens - before.inputTokens,
      outputTokens: after.outputTokens - before.outputTokens,
    };
    expect(used).toEqual({ inputTokens: 30, outputTokens: 15 });
    const { turn } = await read<TurnTrace>(gateway, `/api/turns/${body.turnId}`);
    expect(turn.usage).toEqual({ ...used, costUsd: expect.closeTo(0.03 + 0.15, 9) });
    const session = await read<{ usage: unknown }>(gateway, `/api/sessions/${encodeURIComponent(keyOf("bird"))}`);
    expect(session.usage ?? (session as never as { session: { usage: unknown } }).session.usage).toEqual(turn.usage);
  });

  test("gets nothing done by it that it may not do: a job makes no jobs through others, a person's words go to the person's chat", async () => {
    const through = (id: string): string => {
      const job = { action: "add", id, schedule: { kind: "every", expr: "365d" }, task: "more" };
      return plan("asked", [ask("researcher", plan("tried", [["cron", job]]))]);
    };
    const headers = { "content-type": "application/json" };
    const runner = { id: "runner", schedule: { kind: "every", expr: "365d" }, delivery: "silent" };
    const body = JSON.stringify({ ...runner, task: through("sneaked-in") });
    await gateway.fetch("/api/cron/jobs", { method: "POST", headers, body });
    await gateway.fetch("/api/cron/jobs/runner/run", { method: "POST" });
    await eventually(
      "the run of the job has ended",
      async () => (await gateway.fetch("/api/cron/jobs/runner/runs")).text(),
      (text) => text.includes('"status":"ran"'),
      40_000,
    );
    const calls = await read<{ items: AuditRow[] }>(gateway, "/api/tool-calls?tool=cron");
    expect(calls.items).toMatchObject([{ origin: "delegate", status: "error" }]);
    expect((await gateway.fetch("/api/cron/jobs/sneaked-in")).status).toBe(404);
    await gateway.chat(through("asked-for"), { session: "planner" });
    expect(await read(gateway, "/api/cron/jobs/asked-for")).toMatchObject({ job: { sessionKey: keyOf("planner") } });
  });

  test("shows the other one's time below its own, and no conversation of the other one anywhere", async () => {
    const { body } = await gateway.chat(plan("ok", [ask("researcher", plan("found", [["list_tasks", {}]]))]), {
      session: "spans",
    });
    const { spans } = await read<TurnTrace & TurnResult>(gateway, `/api/turns/${body.turnId}`);
    const tool = spans.find(({ name }) => name === "tool:delegate_to_agent") as Span;
    const child = spans.find(({ name }) => name === "delegate:researcher") as Span;
    expect(child.children?.map(({ name }) => name)).toEqual([
      "queued",
      "lease",
      "first_token",
      "generate",
      "tool:list_tasks",
    ]);
    const ends = ({ startMs, ms }: Span) => startMs + ms;
    for (const span of child.children ?? []) {
      expect(span.startMs).toBeGreaterThanOrEqual(child.startMs - 2);
      expect(ends(span)).toBeLessThanOrEqual(ends(child) + 2);
    }
    expect(child.startMs).toBeGreaterThanOrEqual(tool.startMs);
    expect(ends(child)).toBeLessThanOrEqual(ends(tool) + 2);
    const calls = await read<{ items: AuditRow[] }>(gateway, "/api/tool-calls?tool=list_tasks");
    expect(calls.items[0]).toMatchObject({ origin: "delegate", userId: "operator", status: "success" });
    expect(calls.items[0]?.sessionKey).toStartWith(`agent:researcher:delegate:${body.turnId}:`);
    const sessions = JSON.stringify(await read(gateway, "/api/sessions?limit=100"));
    expect(sessions).not.toContain("delegate:");
    expect(JSON.stringify(await read(gateway, "/api/turns?limit=100"))).not.toContain('"agentId":"researcher"');
    const kept = () => readdirSync(join(gateway.home, "sessions")).filter((name) => name.startsWith("delegate-"));
    expect(await eventually("no trace of the delegated turn", kept, ({ length }) => length === 0)).toEqual([]);
  });

  test("cannot be made to speak in the chat by the one it asked", async () => {
    const loud = plan("said it", [["send_message", { text: "LOUD" }]]);
    await gateway.chat(plan("quiet", [ask("researcher", loud)]), { session: "loud" });
    const items = await transcript(gateway, "loud");
    expect(items.filter(({ role, text }) => role === "assistant" && text.includes("LOUD"))).toEqual([]);
    expect(items.at(-1)?.text).toBe("quiet");
  });

  test("may not ask who is not on its list, which is refused and logged", async () => {
    await gateway.chat(plan("ok", [ask("critic", "Is it good?")]), { session: "unlisted" });
    const [output] = await toolOutputs(gateway, "unlisted");
    const error = 'Agent default may not ask "critic". It may ask: researcher.';
    expect(output).toBe(error);
    expect(envelope(provider, "Is it good?")).toEqual({ status: "error", tool: "delegate_to_agent", error });
    expect(provider.requests.some((request) => asked(request) === "Is it good?")).toBe(false);
    const line = await eventually(
      "the refused delegation in the log",
      () =>
        logOf(gateway)
          .split("\n")
          .find((one) => one.includes("delegation refused") && one.includes("not_listed")),
      (found) => found !== undefined,
    );
    expect(line).not.toContain("Is it good?");
  });

  test("is part of a chain of two at most: the last one is not even offered the tool", async () => {
    const before = provider.charged().inputTokens;
    const third = plan("third", [ask("researcher", "fourth")]);
    const second = plan("second", [ask("critic", third)]);
    const { body } = await gateway.chat(plan("first", [ask("researcher", second)]), { session: "deep" });
    expect(body.content).toBe("first");
    expect(provider.requests.some((request) => asked(request) === "fourth")).toBe(false);
    const critic = provider.requests.filter((request) => textOf(request.messages[0]?.content).includes("the critic"));
    expect(critic.length).toBeGreaterThan(0);
    expect(critic.every(({ tools }) => !tools.includes("delegate_to_agent"))).toBe(true);
    const { turn, spans } = await read<TurnTrace>(gateway, `/api/turns/${body.turnId}`);
    const inner = spans.find(({ name }) => name === "delegate:researcher")?.children ?? [];
    expect(inner.map(({ name }) => name)).toContain("delegate:critic");
    expect(turn.usage.inputTokens).toBe(provider.charged().inputTokens - before);
  });

  test("may ask two at once and not three", async () => {
    // none of them ends before all have been asked
    const all = ["a", "b", "c"].map((task) => ask("researcher", `HANG ${task}`, { timeoutMs: 3_000 }));
    await gateway.chat(plan("ok", all), { session: "three" });
    const outputs = await toolOutputs(gateway, "three");
    expect(outputs.filter((text) => text.includes("did not answer within 3000 ms"))).toHaveLength(2);
    expect(outputs.filter((text) => text.includes("2 tasks are handed on already"))).toHaveLength(1);
  });

  test("is told when the other one takes too long, and goes on", async () => {
    const slow = ask("researcher", "HANG slowly", { timeoutMs: 1_500 });
    const { body } = await gateway.chat(plan("I gave up.", [slow]), { session: "slow" });
    expect(body.content).toBe("I gave up.");
    const [output] = await toolOutputs(gateway, "slow");
    expect(output).toBe("Agent researcher did not answer within 1500 ms and was stopped.");
    expect(provider.hungUp.some(({ request }) => asked(request) === "HANG slowly")).toBe(true);
  });

  test("takes the other one along when it is stopped, at once", async () => {
    const answer = post(gateway, {
      text: plan("never", [ask("researcher", "HANG until stopped")]),
      session: "stopped",
    });
    await waitsFor(provider, "HANG until stopped");
    const stoppedAt = performance.now();
    await gateway.fetch(`/api/sessions/${encodeURIComponent(keyOf("stopped"))}/abort`, { method: "POST" });
    const left = await eventually(
      "the delegated request is hung up",
      () => provider.hungUp.find(({ request }) => asked(request) === "HANG until stopped"),
      (found) => found !== undefined,
    );
    expect((left?.at ?? 0) - stoppedAt).toBeLessThan(100);
    await answer;
    expect((await transcript(gateway, "stopped")).at(-1)).toMatchObject({ outcome: "aborted" });
  });

  test("gets an error when the other one's process is killed, and answers all the same", async () => {
    const answer = gateway.chat(plan("It died.", [ask("researcher", "HANG to be killed")]), { session: "killed" });
    await waitsFor(provider, "HANG to be killed");
    for (const pid of busyPids(gateway, "researcher")) process.kill(pid, "SIGKILL");
    expect((await answer).body.content).toBe("It died.");
    const [output] = await toolOutputs(gateway, "killed");
    expect(output).toContain("stopped unexpectedly");
    expect(provider.requests.filter((request) => asked(request) === "HANG to be killed")).toHaveLength(1);
  });

  test("that dies itself takes the other one along, and nothing is asked again", async () => {
    const answer = gateway.chat(plan("never", [ask("researcher", "HANG without a caller")]), { session: "orphan" });
    await waitsFor(provider, "HANG without a caller");
    for (const pid of busyPids(gateway, "default")) process.kill(pid, "SIGKILL");
    expect((await answer).body.error?.code).toBe("agent_unsafe_retry");
    const hungUp = () => provider.hungUp.filter(({ request }) => asked(request) === "HANG without a caller").length;
    expect(await eventually("the delegated request is hung up", hungUp, (count) => count > 0)).toBe(1);
    expect(provider.requests.filter((request) => asked(request) === "HANG without a caller")).toHaveLength(1);
  });

  test("is counted: how many, how they ended, how long they took", async () => {
    const slow = ask("researcher", "HANG to be counted", { timeoutMs: 1_000 });
    const steps = [[ask("researcher", "Count me")], [ask("critic", "Count me not")], [slow]];
    await gateway.chat(plan("counted", ...steps), { session: "counted" });
    const { delegations, latency } = await read<MetricsSnapshot>(gateway, "/api/metrics");
    expect(Math.min(delegations.done, delegations.failed, delegations.refused)).toBeGreaterThan(0);
    expect(latency.delegation.count).toBe(delegations.done + delegations.failed);
    expect(latency.delegation.p95).toBeGreaterThan(0);
    const text = await (await gateway.fetch("/metrics")).text();
    expect(text).toContain(`pi_gateway_delegations_total{outcome="done"} ${delegations.done}`);
    expect(text).toContain('pi_gateway_latency_seconds_count{stage="delegation"}');
  });
});

test("an agent without a list is not offered the tool, and refused if it calls it all the same", async () => {
  await gateway.chat(plan("ok", [ask("researcher", "Secretly")]), { session: "none", agent: "loner" });
  const own = provider.requests.filter((request) => asked(request).includes("Secretly"));
  expect(own.length).toBeGreaterThan(1);
  expect(own.every(({ tools }) => !tools.includes("delegate_to_agent"))).toBe(true);
  expect(provider.requests.some((request) => asked(request) === "Secretly")).toBe(false);
});

test("after kill -9 of the gateway nothing is asked twice, and the turn ends visibly, once", async () => {
  await limitTo(MANY);
  const lost = post(gateway, { text: plan("never", [ask("researcher", "HANG in a crash")]), session: "crash" }).catch(
    () => null, // nobody answers any more
  );
  await waitsFor(provider, "HANG in a crash");
  await gateway.kill();
  await lost;
  gateway = await startGatewayProcess({ home: home.path });
  const items = await eventually(
    "a notice after the crash",
    () => transcript(gateway, "crash"),
    (seen) => seen.some(({ kind }) => kind === "notice"),
  );
  expect(items.filter(({ role }) => role === "assistant").map(({ kind }) => kind)).toEqual(["notice"]);
  expect(items.filter(({ role }) => role === "tool").map(({ status }) => status)).toEqual(["unknown"]);
  expect(provider.requests.filter((request) => asked(request) === "HANG in a crash")).toHaveLength(1);
});

test("with one process for everybody nobody hangs: who asks is told, and answers without", async () => {
  await limitTo(1);
  const { body } = await gateway.chat(plan("alone", [ask("researcher", "Help!")]), { session: "one" });
  expect(body.content).toBe("alone");
  const [output] = await toolOutputs(gateway, "one");
  expect(output).toContain("none is left for this task");
});

test("when all who have a process ask at once, the newest gives way, the other is served, and both answer", async () => {
  const both = Promise.withResolvers<void>();
  let asking = 0;
  script = (request) => {
    const reply = obedient(request);
    if (reply.kind !== "tools") return reply;
    if (++asking === 2) both.resolve();
    return { ...reply, after: both.promise };
  };
  await limitTo(2);
  const names = ["a", "b"];
  const answers = await Promise.all(
    names.map((name) => gateway.chat(plan(`end ${name}`, [ask("researcher", `task ${name}`)]), { session: name })),
  );
  script = obedient;
  expect(answers.map(({ body }) => body.content)).toEqual(["end a", "end b"]);
  const outputs = (await Promise.all(names.map((name) => toolOutputs(gateway, name)))).flat();
  expect(outputs.filter((text) => text.includes("done: task"))).toHaveLength(1);
  expect(outputs.filter((text) => text.includes("none is left for this task"))).toHaveLength(1);
});
