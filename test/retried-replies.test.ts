/** Lost and doubtful replies that an owner sends again, in a whole gateway with a fake Telegram: what the chat shows, and what is written down about it. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { TroubledPart, TroubledState } from "../src/contracts/delivery.ts";
import type { AuditEntry } from "../src/contracts/store/tool-calls.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import type { BotRoom } from "../src/testing/telegram/bot-room.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { FRIEND, said } from "../src/testing/telegram/people.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { asked, endpoint, eventually, statusOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const TOKEN = "78:telegram-token-of-a-test";
const BLOCKED = { kind: "refused", code: 403, description: "Forbidden: bot was blocked by the user" } as const;
let provider: FakeProvider;
let api: FakeBotApi;
let room: BotRoom;
let gateway: GatewayProcess;

const config = (access: object = { dmPolicy: "allowlist", allowFrom: [String(FRIEND.id)] }) => ({
  ...endpoint(provider),
  agent: { ...endpoint(provider).agent, pool: { min: 0, max: 1 } },
  channels: { telegram: { botToken: TOKEN, apiRoot: api.apiRoot, ...access } },
});

beforeAll(async () => {
  provider = await startFakeProvider((request) => says(`answer to ${asked(request)}`));
  api = await startFakeBotApi();
  room = api.bot(TOKEN);
  gateway = await startGatewayProcess({ config: config() });
});
afterEach(() => api.bewitch(null));
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const tell = (text: string): number => api.push(TOKEN, said({ by: FRIEND, text, messageId: room.nextMessageId() }));
const texts = () => room.messages.filter(({ deleted }) => !deleted).map(({ text }) => text);
const itemsAt = async <T>(path: string) => ((await (await gateway.fetch(path)).json()) as { items: T[] }).items;
const troubled = (state: TroubledState) => itemsAt<TroubledPart>(`/api/outbox?state=${state}`);
const lost = async (text: string, state: TroubledState = "dead") =>
  (await troubled(state)).find(({ message }) => message.text === text);
async function retry(id: string, query = ""): Promise<{ status: number; said: string }> {
  const answer = await gateway.fetch(`/api/outbox/${encodeURIComponent(id)}/retry${query}`, { method: "POST" });
  const { error } = (await answer.json()) as { error?: { message: string } };
  return { status: answer.status, said: error?.message ?? "" };
}
const shown = (text: string, times = 1) =>
  eventually(`"${text}" in the chat`, texts, (seen) => seen.filter((one) => one === text).length === times);
/** Its reply is refused for good. */
async function lose(words: string): Promise<TroubledPart> {
  api.bewitch((method) => (method === "sendMessage" ? BLOCKED : null));
  tell(words);
  const part = await eventually(
    "the lost reply",
    () => lost(`answer to ${words}`),
    (seen) => seen !== undefined,
  );
  api.bewitch(null);
  return part as TroubledPart;
}
const settings = async (next: object) => {
  await saveSettings(gateway.home, next);
  expect((await gateway.fetch("/api/config/reload", { method: "POST" })).status).toBe(200);
};

test("a reply that Telegram refused is sent when its owner asks for it, once, behind newer ones, and the audit log says so", async () => {
  const part = await lose("first");
  tell("second");
  await shown("answer to second");
  expect(texts()).not.toContain("answer to first");
  expect((await statusOf(gateway)).outbox.dead).toBeGreaterThan(0);
  const before = (await statusOf(gateway)).outbox.dead;
  const answers = await Promise.all([retry(part.id), retry(part.id)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  await shown("answer to first");
  expect(texts().indexOf("answer to first")).toBeGreaterThan(texts().indexOf("answer to second"));
  await eventually(
    "its end",
    () => retry(part.id),
    ({ said: why }) => why.includes("has arrived"),
  );
  expect(texts().filter((text) => text === "answer to first")).toHaveLength(1);
  expect(await lost("answer to first")).toBeUndefined();
  expect((await statusOf(gateway)).outbox.dead).toBe(before - 1);
  const [entry, ...more] = await itemsAt<AuditEntry>("/api/audit?kind=reply.retried");
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ actor: "operator", subject: part.id, detail: { channel: "telegram", from: "dead" } });
  const verified = await (await gateway.fetch("/api/audit/verification", { method: "POST" })).json();
  expect(verified).toMatchObject({ verification: { kind: "intact" } });
});

test("a reply that is refused once more is in the list again, and is not sent by itself when the chat is open", async () => {
  const part = await lose("third");
  api.bewitch((method) => (method === "sendMessage" ? BLOCKED : null));
  expect((await retry(part.id)).status).toBe(200);
  const again = await eventually(
    "its second end",
    () => lost("answer to third"),
    (seen) => seen !== undefined,
  );
  expect(again).toMatchObject({ id: part.id, retried: { from: "dead", now: "dead" } });
  api.bewitch(null);
  tell("fourth");
  await shown("answer to fourth");
  expect(texts()).not.toContain("answer to third");
});

test("a doubtful reply is sent again only by somebody who knows that it may be shown twice, and stays known as doubtful", async () => {
  api.misbehave("sendMessage", { kind: "cut_after" });
  tell("fifth");
  await shown("answer to fifth", 2); // a lost answer is sent once more, as ever
  const look = () => lost("answer to fifth", "ambiguous");
  const part = (await eventually("the doubtful reply", look, (seen) => seen !== undefined)) as TroubledPart;
  expect(await retry(part.id)).toMatchObject({ status: 409, said: expect.stringContaining("may show it twice") });
  expect(await look()).toEqual(part);
  expect((await retry(part.id, "?mayRepeat=true")).status).toBe(200);
  await shown("answer to fifth", 3);
  const after = await eventually("its end", look, (seen) => seen?.retried?.now === "sent");
  expect(after).toMatchObject({ state: "ambiguous", retried: { from: "ambiguous" } });
});

test("a reply to somebody without access, to a channel that is gone or of a deleted conversation stays as it is", async () => {
  const part = await lose("sixth");
  await settings(config({ dmPolicy: "allowlist", allowFrom: [] }));
  expect(await retry(part.id)).toMatchObject({ status: 409, said: expect.stringContaining("no access any more") });
  const { channels: _gone, ...without } = config();
  await settings(without);
  const gone = ({ said: why }: { said: string }) => why.includes("no channel telegram");
  expect((await eventually("the channel is closed", () => retry(part.id), gone)).status).toBe(409);
  expect(await lost("answer to sixth")).toEqual(part);
  const path = `/api/sessions/${encodeURIComponent(part.sessionKey)}`;
  expect((await gateway.fetch(path, { method: "DELETE" })).status).toBe(200);
  expect(await retry(part.id)).toMatchObject({ status: 404, said: expect.stringContaining("no such reply") });
  expect(texts()).not.toContain("answer to sixth");
});
