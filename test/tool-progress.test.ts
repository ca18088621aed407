/** What a running tool says, as people see it in a chat: a real pi calls the tool, and a fake Bot API shows what the chat has. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import type { BotRoom } from "../src/testing/telegram/bot-room.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { FRIEND, said } from "../src/testing/telegram/people.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { endpoint, eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const TOKEN = "77:telegram-token-of-a-test";
/** Rewrites what is kept, as well: that is no reason to show nothing. */
const PLUGIN = `
  let arrive;
  const arrived = new Promise((resolve) => { arrive = resolve; });
  api.registerTool({
    name: "walk", description: "Walks. For tests.", parameters: { type: "object", properties: {} },
    execute: async (_id, _params, _signal, onUpdate) => {
      const say = (text) => onUpdate({ content: [{ type: "text", text }] });
      say("left home\\n\\u001b[32mhalf way\\u001b[0m, key ${TOKEN}");
      await arrived;
      return { content: [{ type: "text", text: "there" }] };
    },
  });
  api.registerHook("tool_result_persist", () => ({ output: "kept" }));
  api.registerRoute({ method: "POST", path: "/arrive", handle: () => { arrive(); return null; } });`;

let provider: FakeProvider;
let api: FakeBotApi;
let room: BotRoom;
let home: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  provider = await startFakeProvider((request) =>
    request.messages.at(-1)?.role === "tool"
      ? says("I have arrived.")
      : { kind: "tools", calls: [{ name: "walk", input: {} }] },
  );
  api = await startFakeBotApi();
  room = api.bot(TOKEN);
  home = await tempHome();
  await putPlugin(home.path, { id: "walker", body: PLUGIN });
  gateway = await startGatewayProcess({
    home: home.path,
    config: {
      ...endpoint(provider),
      roles: { owners: [`telegram:user:${FRIEND.id}`] },
      channels: { telegram: { botToken: TOKEN, apiRoot: api.apiRoot } },
      plugins: { enabled: ["walker"] },
    },
  });
  await eventually(
    "the plugin runs",
    async () => (await pluginsOf(gateway)).get("walker")?.state,
    (state) => state === "running",
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

test("a person on Telegram sees the newest line of a running tool under the tool's name, and then the answer alone", async () => {
  const texts = () =>
    room.messages.filter(({ chat, deleted }) => chat === String(FRIEND.id) && !deleted).map(({ text }) => text);
  api.push(TOKEN, said({ by: FRIEND, text: "go for a walk", messageId: room.nextMessageId() }));
  await eventually("the progress in the chat", texts, (seen) => seen.includes("… walk: half way, key [redacted]"));
  await gateway.fetch("/plugins/walker/arrive", { method: "POST" });
  await eventually("the answer", texts, (seen) => seen.includes("I have arrived."));
  expect(texts()).toEqual(["I have arrived."]);
});
