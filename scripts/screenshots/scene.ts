/**
 * A gateway as a household would have it after a month, for pictures of the web console: a scripted model, a Telegram bot, jobs, keys, spending, and
 * things that wait for a person. Nothing of it reaches beyond loopback.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type FakeReply, type ProviderRequest, says, startFakeProvider } from "../../src/testing/fake-provider.ts";
import { startPushService, type TestPushService } from "../../src/testing/push-service.ts";
import { startFakeBotApi } from "../../src/testing/telegram/fake-bot-api.ts";
import { said } from "../../src/testing/telegram/people.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { visit } from "../../test/console-stage.ts";
import { SAID, seedViews } from "../../test/views-seed.ts";
import { asked, eventually } from "../../test/whole-fixture.ts";
import * as data from "./scene-data.ts";

const BOT_TOKEN = "123456:token-of-the-bot-in-the-pictures";
const GRACE = { id: 33, first_name: "Grace" } as const;
const MODELS = [{ id: "house-1", reasoning: true, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 0 } }];

export interface Scene extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  readonly push: TestPushService;
  /** What follows the gateway's address for the conversation that is worth showing. */
  readonly chat: string;
  /** From then on approvals and a question wait for a person, and every view says so. */
  leaveWaiting(): Promise<void>;
}

export async function startScene(browser: Browser): Promise<Scene> {
  const parts = new AsyncDisposableStack();
  const home = parts.use(await tempHome());
  const provider = parts.use(await startFakeProvider(answer));
  const telegram = parts.use(await startFakeBotApi());
  const push = parts.use(startPushService());
  // markup is for tests
  const earlier = SAID.map((one) => ({ ...one, text: one.text.replaceAll(/<\/?b>/g, "") }));
  await seedViews(home.path, [...earlier, ...data.month()]);
  await writeFile(join(home.path, "asking.ts"), data.ASKING);
  const config = {
    ...data.SHOWN_CONFIG,
    agent: {
      model: "house/house-1",
      pool: { min: 0, max: 5 },
      tools: ["bash", "edit", "read", "write", "add_task", "ask_choice"],
      extensions: [join(home.path, "asking.ts")],
    },
    models: { providers: { house: { baseUrl: provider.baseUrl, apiKey: "a-key-of-the-pictures", models: MODELS } } },
    tools: { approvals: { ask: ["bash", "edit", "write"], never: ["ask_choice"] } },
    channels: { telegram: { botToken: BOT_TOKEN, apiRoot: telegram.apiRoot } },
    notifications: { pushServices: [push.origin] },
  };
  const gateway = parts.use(await startGatewayProcess({ home: home.path, config }));
  for (const job of data.JOBS) await post(gateway, "/api/cron/jobs", { ...job, delivery: "silent" });
  for (const key of data.KEYS) await post(gateway, "/api/keys", key);
  const chat = await talk(browser, gateway);
  telegram.push(BOT_TOKEN, said({ by: GRACE, text: "hello, it is me", messageId: 1 }));
  await shows(gateway, "/api/pairing", GRACE.first_name);
  return {
    gateway,
    push,
    chat,
    leaveWaiting: () => leaveWaiting(browser, gateway),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function answer(request: ProviderRequest): FakeReply {
  if (request.messages.at(-1)?.role !== "user") return data.AFTERWARDS;
  const words = asked(request);
  return data.ANSWERS.find(([begin]) => words.includes(begin))?.[1] ?? says("Gladly. Here is a short answer.");
}

async function post(gateway: GatewayProcess, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await gateway.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
}

const shows = (gateway: GatewayProcess, path: string, words: string) =>
  eventually(
    `${path} shows ${words}`,
    async () => (await gateway.fetch(path)).text(),
    (text) => text.includes(words),
  );

/** Returns the address of the conversation to show. */
async function talk(browser: Browser, gateway: GatewayProcess): Promise<string> {
  await using owner = await visit(browser, gateway);
  for (const [index, questions] of data.CONVERSATIONS.entries()) {
    if (index > 0) {
      await owner.page.getByTestId("new-chat").click();
      await owner.page.locator(".empty").waitFor();
    }
    for (const question of questions) await owner.ask(question);
  }
  return owner.page.url().slice(gateway.url.length);
}

async function leaveWaiting(browser: Browser, gateway: GatewayProcess): Promise<void> {
  for (const words of data.WAITING) {
    await using speaker = await visit(browser, gateway);
    await speaker.send(words);
    await speaker.page.locator("[data-testid=approval], [data-testid=question]").first().waitFor();
  }
}
