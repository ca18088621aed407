/** What the web console shows of the assistant's work on messages: real browser, real gateway, real pi; only the model is scripted. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { tempHome, type TempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { type Play, playing } from "../src/testing/whole/tool-play.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { endpoint, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const PHONE = { width: 390, height: 844 } as const;
/** Where pictures of the web console are put for somebody who wants to look at them. */
const PICTURES = Bun.env.PAGE_PICTURES;
let home: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;
let browser: Browser;
let reply: (request: ProviderRequest) => FakeReply = () => says("ok");
/** What has the focus in the moment the quote above the composer leaves the web console: whoever types on loses no key. */
const FOCUS_WHEN_THE_QUOTE_GOES = `new Promise((resolve) => {
  const observer = new MutationObserver(() => {
    if (document.querySelector("[data-testid=replying]")) return;
    observer.disconnect();
    resolve(document.activeElement.id);
  });
  observer.observe(document.body, { childList: true, subtree: true });
})`;
/** Ids that the tools returned. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  home = await tempHome();
  provider = await startFakeProvider((request) => reply(request));
  const base = endpoint(provider);
  const config = { ...base, agent: { ...base.agent, pool: { min: 0, max: 1 } } };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ home: home.path, config })]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const does = (play: Play): void => {
  reply = playing(play);
};
const sentId = (sent: unknown): string => (sent as { message_id?: string }).message_id ?? "";
const bubble = ({ page }: Visit, text: string) => page.locator("[data-testid=message]", { hasText: text });
const marksOf = (on: Visit, text: string) => bubble(on, text).getByTestId("marks");

async function look(path: string): Promise<void> {
  for (const [name, options] of [
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: PHONE }],
  ] as const) {
    await using seen = await visit(browser, gateway, { path, ...options });
    await marksOf(seen, "please work on messages").scrollIntoViewIfNeeded();
    if (PICTURES !== undefined) await seen.page.screenshot({ path: join(PICTURES, `${name}.png`) });
    if (name === "light") expect(await accessibilityProblems(seen.page)).toEqual([]);
  }
}

test("the web console shows reactions, pins, replies and formats at once, after a reload, and after a restart of the gateway", async () => {
  await using owner = await visit(browser, gateway);
  does(function* ({ facts }) {
    yield ["message", { action: "react", messageId: facts.message, emoji: ["👍", "🎉"] }];
    yield ["message", { action: "pin", messageId: facts.message }];
    ids.thread = sentId(
      yield ["send_message", { text: "One **step** done.", replyTo: facts.message, parseMode: "plain" }],
    );
    yield [
      "send_message",
      { text: "Two <b>steps</b> <img src=x onerror='window.seen.ran=true'>done.", parseMode: "HTML" },
    ];
    const gone = sentId(yield ["send_message", { text: "a mistake" }]);
    yield ["message", { action: "delete", messageId: gone }];
    return "All **done**.";
  });
  await owner.ask("please work on messages");
  const shown = async (on: Visit) => {
    await bubble(on, "All done.").waitFor();
    expect(await marksOf(on, "please work on messages").innerText()).toBe("Pinned\n👍\n🎉");
    expect(await bubble(on, "One **step** done.").getByTestId("answered").innerText()).toBe("please work on messages");
    expect(await bubble(on, "Two steps done.").locator("b").innerText()).toBe("steps");
    expect(await bubble(on, "All done.").locator("strong").innerText()).toBe("done");
    expect(await bubble(on, "a mistake").count()).toBe(0);
    expect((await on.seen()).ran).toBe(false);
    expect([on.problems, on.foreign]).toEqual([[], []]);
  };
  await shown(owner);
  await owner.reload();
  await shown(owner);
  const path = new URL(owner.page.url()).hash;
  await look(`/${path}`);

  const { port } = new URL(gateway.url);
  await gateway.stop();
  gateway = await startGatewayProcess({ home: home.path, port: Number(port) });
  await using later = await visit(browser, gateway, { path: `/${path}` });
  await shown(later);
  does(function* () {
    const read = (yield ["message", { action: "read", limit: 10 }]) as { messages: { id: string; text: string }[] };
    const asked = read.messages.find(({ text }) => text === "please work on messages")?.id;
    yield ["message", { action: "react", messageId: asked, emoji: "👍", remove: true }];
    yield ["message", { action: "pin", messageId: asked, unpin: true }];
    yield ["message", { action: "edit", messageId: ids.thread, text: "One step, edited." }];
    return "Changed.";
  });
  await later.ask("and once more");
  await bubble(later, "Changed.").waitFor();
  expect(await marksOf(later, "please work on messages").innerText()).toBe("🎉");
  expect(await bubble(later, "One step, edited.").innerText()).toContain("Edited");
});

test("a person replies to a message by keyboard, on a phone and from right to left, and the quote leads to that message", async () => {
  reply = () => says("שלום וברוך הבא לשיחה שלנו");
  await using on = await visit(browser, gateway, { viewport: PHONE });
  await on.ask("teach me a greeting");
  const first = bubble(on, "שלום וברוך");
  await first.waitFor();
  const quote = on.page.getByTestId("replying");
  const begin = async () => {
    await first.getByTestId("reply").focus();
    await on.page.keyboard.press("Enter");
    await quote.waitFor();
    await on.page.locator("#composer:focus").waitFor();
  };
  await begin();
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.keyboard.press("Escape");
  await quote.waitFor({ state: "detached" });
  await begin();
  const focused = on.page.evaluate<string>(FOCUS_WHEN_THE_QUOTE_GOES);
  await quote.getByRole("button", { name: "Do not reply to this message" }).click();
  expect(await focused).toBe("composer");
  await begin();
  expect(await quote.innerText()).toContain("Assistant");
  if (PICTURES !== undefined) await on.page.screenshot({ path: join(PICTURES, "replying-phone.png") });
  reply = () => says("It means welcome.");
  await on.ask("what does it mean?");
  await bubble(on, "It means welcome.").waitFor();
  expect(await quote.count()).toBe(0);
  const answered = bubble(on, "what does it mean?").getByTestId("answered");
  expect(await answered.innerText()).toBe("שלום וברוך הבא לשיחה שלנו");
  await on.reload();
  await answered.getByRole("button").click();
  expect(await on.page.evaluate<string>("document.activeElement?.textContent")).toContain("שלום וברוך");
  if (PICTURES !== undefined) await on.page.screenshot({ path: join(PICTURES, "replied-phone.png") });
  expect(await on.page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(PHONE.width);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  expect([on.problems, on.foreign]).toEqual([[], []]);
});
