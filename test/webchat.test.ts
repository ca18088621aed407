/** The web console's own chat in a whole gateway with real pi: a waiting message that is changed, and a reaction that the assistant hears of. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { TranscriptItem } from "../src/contracts/chat.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, type ProviderRequest, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, eventually, openSocket, told, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const SESSION = "agent:default:webchat:dm:page";
const held = deferred<void>();
let provider: FakeProvider;
let gateway: GatewayProcess;

beforeAll(async () => {
  provider = await startFakeProvider((request) =>
    asked(request).includes("wait for me") ? says("slow ", held.promise, "answer") : says("quick answer"),
  );
  gateway = await startGatewayProcess({ config: endpoint(provider) });
});
afterAll(async () => {
  held.resolve();
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const transcript = async (): Promise<readonly TranscriptItem[]> => {
  const response = await gateway.fetch(`/api/sessions/${encodeURIComponent(SESSION)}/transcript?limit=50`);
  return ((await response.json()) as { items: TranscriptItem[] }).items;
};
const wholeRequest = (): string => JSON.stringify(provider.requests.at(-1)?.messages);

test("a message is changed while it waits, and not after that; a sign under a reply is told once", async () => {
  const page = await openSocket(gateway);
  const send = async (text: string) =>
    (await page.request("chat.send", { session: SESSION, text, clientId: text.replaceAll(" ", "-") })) as {
      accepted: string;
    };
  const first = await send("wait for me");
  await provider.arrived(1);
  const second = await send("how is the wether");
  expect(await page.request("chat.edit", { id: second.accepted, text: "how is the weather" })).toEqual({
    edited: true,
  });
  await expect(page.request("chat.edit", { id: first.accepted, text: "x" })).rejects.toThrow("being answered already");
  held.resolve();
  const items = await eventually("the answer", transcript, (seen) => seen.some(({ text }) => text === "quick answer"));
  expect(wholeRequest()).toContain("how is the weather");
  expect(wholeRequest()).not.toContain("wether");
  expect(items.find(({ id }) => id === second.accepted)).toMatchObject({ editedAt: expect.any(Number) });
  await expect(page.request("chat.edit", { id: second.accepted, text: "x" })).rejects.toThrow("Send another one");

  const reply = items.find(({ text }) => text === "quick answer")?.id ?? "";
  expect(await page.request("chat.react", { id: reply, emoji: "👎" })).toEqual({ reacted: true });
  await eventually("the reaction in the transcript", transcript, (seen) =>
    seen.some(({ id, reaction }) => id === reply && reaction === "👎"),
  );
  await send("what did I think of that");
  await eventually(
    "two answers",
    transcript,
    (seen) => seen.filter(({ text }) => text === "quick answer").length === 2,
  );
  expect(wholeRequest()).toContain(
    `👎 from 'You' (operator) to your message ${reply} 'quick answer'`.replaceAll("'", '\\"'),
  );
  const heard = wholeRequest().split("👎 from").length;
  await send("and now");
  await eventually(
    "three answers",
    transcript,
    (seen) => seen.filter(({ text }) => text === "quick answer").length === 3,
  );
  expect(wholeRequest().split("👎 from").length).toBe(heard);
  page.close();
});

test("a reply names a message of its session: it is stored, shown with it and told to the model, and no other id is taken", async () => {
  const page = await openSocket(gateway);
  const replies = (params: object) =>
    page.request("chat.send", {
      session: SESSION,
      clientId: `reply-${JSON.stringify(params).length}`,
      ...params,
    } as never);
  const answer = (await transcript()).findLast(({ role }) => role === "assistant");
  const replyTo = answer?.id ?? "";
  await expect(replies({ text: "what?", replyTo: "no-such-message" })).rejects.toThrow("There is no message");
  const other = await gateway.chat("somewhere else", { session: "elsewhere" });
  expect(other.status).toBe(200);
  const posted = (body: object) =>
    gateway.fetch("/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ session: "elsewhere", text: "not that one", ...body }),
    });
  const refused = await posted({ replyTo });
  expect([refused.status, await refused.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
  const before = provider.requests.length;
  const { accepted } = (await replies({ text: "say more about it", replyTo })) as { accepted: string };
  await provider.arrived(before + 1);
  const items = await eventually("the reply", transcript, (seen) => seen.some(({ id }) => id === accepted));
  expect(items.find(({ id }) => id === accepted)).toMatchObject({ text: "say more about it", replyTo });
  const words = told(provider.requests.at(-1) as ProviderRequest);
  expect(words).toContain(`replies to: ${replyTo}`);
  expect(words).toMatch(/source="message that this replies to"[^>]*name="Assistant"[^>]*>\nquick answer\n/);
  page.close();
});
