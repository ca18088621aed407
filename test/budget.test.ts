/** A small budget in a whole gateway with real pi and a model that has a price: what it pays for, who is stopped first, who is told, and that the usage ledger are right. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { UsageItem, UsageSum } from "../src/contracts/store/usage.ts";
import type { WireJob, WireRun } from "../src/contracts/wire.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { asked, eventually, statusOf, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** 10 tokens in and 5 out are two cents. */
const COST = { input: 1_000, output: 2_000 };
const CENTS_A_CALL = 2;
/** Ten calls; the last two of them are for people alone. */
const DAILY_USD = 0.2;
const SESSION = "den";

let provider: FakeProvider;
let gateway: GatewayProcess;

const config = () => ({
  agent: { model: "fake/fake-1", pool: { min: 0, max: 2 }, delegates: ["helper"] },
  agents: [{ id: "helper", model: "fake/fake-2" }],
  models: {
    providers: {
      fake: {
        baseUrl: provider.baseUrl,
        apiKey: "a-key-for-tests-5521",
        models: [
          { id: "fake-1", cost: COST },
          { id: "fake-2", cost: COST },
        ],
      },
    },
  },
  budget: { dailyUsd: DAILY_USD },
});

/** A zone in which it is about noon now: no midnight falls into a test. */
function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
}

const ENV = { TZ: noonZone() };

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    if (!asked(request).includes("ask the helper")) return says("noted");
    if (request.messages.at(-1)?.role === "tool") return says("it says so");
    return { kind: "tools", calls: [{ name: "delegate_to_agent", input: { agent: "helper", task: "look it up" } }] };
  });
  gateway = await startGatewayProcess({ config: config(), env: ENV });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

interface Report {
  readonly items: readonly UsageItem[];
  readonly total: UsageSum;
  readonly limits: readonly { readonly limit: string; readonly spent: number; readonly max: number }[];
}

const report = async (by: string, on = gateway) => (await (await on.fetch(`/api/usage?by=${by}`)).json()) as Report;
const cents = async (by: string): Promise<Record<string, number>> =>
  Object.fromEntries((await report(by)).items.map(({ key, costUsd }) => [key, Math.round(costUsd * 100)]));
const say = (text: string, on = gateway) => on.chat(text, { session: SESSION });
const notices = async (on = gateway) =>
  (await transcript(on, SESSION)).filter(({ kind }) => kind === "notice").map(({ text }) => text);

async function cron<T>(path: string, body: unknown, on = gateway): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await on.fetch(`/api/cron/jobs${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as T;
}

async function runJob(wanted: WireRun["status"], on = gateway): Promise<WireRun> {
  const { run } = await cron<{ run: WireRun }>("/quiet/run", {}, on);
  const items = await eventually(
    `the run is ${wanted}`,
    async () => ((await (await on.fetch("/api/cron/jobs/quiet/runs")).json()) as { items: WireRun[] }).items,
    (all) => all.find(({ id }) => id === run.id)?.status === wanted,
  );
  return items.find(({ id }) => id === run.id) as WireRun;
}

test("every call is in the usage ledger once, by whom it was caused and by which model", async () => {
  await say("hello");
  expect((await say("ask the helper")).body.content).toBe("it says so");
  await cron("", { id: "quiet", schedule: { kind: "every", expr: "365d" }, task: "look around", delivery: "silent" });
  await runJob("ran");
  expect([await cents("origin"), await cents("model"), await cents("agent"), await cents("principal")]).toEqual([
    { api: 6, cron: 2, delegate: 2 },
    { "fake/fake-1": 8, "fake/fake-2": 2 },
    { default: 8, helper: 2 },
    { operator: 10 },
  ]);
  const { total } = await report("day");
  expect(provider.requests.length * CENTS_A_CALL).toBe(Math.round(total.costUsd * 100));
  expect(provider.charged()).toEqual({ inputTokens: total.inputTokens, outputTokens: total.outputTokens });
});

test("a job stops before people do when the budget runs out: the run is skipped with the reason, and its job is as well as before", async () => {
  for (const text of ["one", "two", "three"]) expect((await say(text)).status).toBe(200);
  const asked = provider.requests.length;
  expect((await runJob("skipped")).reason).toMatch(
    /^The rest of the daily budget of this gateway is for people \(\$0\.16 of \$0\.20 spent\); what begins by itself goes on at midnight/,
  );
  const { items } = (await (await gateway.fetch("/api/cron/jobs")).json()) as { items: WireJob[] };
  expect(items).toMatchObject([{ id: "quiet", state: "active", failures: 0 }]);
  expect(provider.requests.length).toBe(asked);
  expect((await eventually("a notice in the chat", notices, (all) => all.length > 0))[0]).toStartWith(
    "Jobs, heartbeats, webhooks and delegated",
  );
});

test("an agent may not ask another one then, and says so to whom it works for", async () => {
  const asked = provider.requests.length;
  expect((await say("ask the helper")).body.content).toBe("it says so");
  expect(provider.requests.length).toBe(asked + 2); // the helper itself was not asked
  expect(await cents("agent")).toMatchObject({ helper: 2 });
});

test("people talk until the limit, then read one sentence, and the owner is told once", async () => {
  const refused = await say("are you there?");
  expect([refused.status, refused.body.error?.code]).toEqual([429, "budget_spent"]);
  expect(refused.body.error?.message).toStartWith(
    "The daily budget of this gateway is used up; it is free again at midnight",
  );
  expect((await gateway.chat("/usage", { session: SESSION })).body.content).toContain("$0.20 of $0.20, used up");
  const { budgets, notices: shown } = await statusOf(gateway);
  expect(budgets).toMatchObject([{ limit: "dailyUsd", max: DAILY_USD, unattendedMax: DAILY_USD * 0.8 }]);
  expect(shown.join()).toContain("budget.dailyUsd");
  const total = (await report("day")).total;
  expect(provider.charged()).toEqual({ inputTokens: total.inputTokens, outputTokens: total.outputTokens });
});

test("a higher limit lets everybody go on at once; a crash forgets nothing of what was spent and repeats nothing that was said", async () => {
  const told = (on = gateway) =>
    notices(on).then((all) => all.filter((text) => text.includes("`budget.dailyUsd`")).length);
  expect(await eventually("two notices to the owner", told, (count) => count === 2)).toBe(2);
  await saveSettings(gateway.home, { ...config(), budget: { dailyUsd: 5 } });
  await gateway.fetch("/api/config/reload", { method: "POST" });
  expect((await say("and now?")).body.content).toBe("noted");
  await saveSettings(gateway.home, config());
  await gateway.kill();
  await using again = await startGatewayProcess({ home: gateway.home, env: ENV });
  expect((await say("and now?", again)).status).toBe(429);
  expect(await told(again)).toBe(2);
});

test("a turn whose first answer uses the budget up ends before its second one, says so, and is counted once", async () => {
  await using model = await startFakeProvider(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? says("too much")
      : { kind: "tools", calls: [{ name: "session_status", input: {} }] },
  );
  const { models } = config();
  const { fake } = models.providers;
  await using poor = await startGatewayProcess({
    config: {
      agent: { model: "fake/fake-1", pool: { min: 0, max: 1 } },
      models: { providers: { fake: { ...fake, baseUrl: model.baseUrl } } },
      budget: { dailyTokens: 15 },
    },
    env: ENV,
  });
  await say("how are you", poor);
  const told = (await notices(poor)).filter((text) => text.startsWith("The daily budget of this gateway is used up"));
  expect(told.length).toBe(1); // besides what the owner is told about the limit
  expect(model.requests.length).toBe(1);
  expect((await report("day", poor)).total).toMatchObject({ turns: 1, inputTokens: 10, outputTokens: 5 });
});
