/** Approvals, pairing and questions of extensions in the web console: a real browser, a real gateway, real pi; only the model is scripted. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type FakeBotApi, startFakeBotApi } from "../src/testing/telegram/fake-bot-api.ts";
import { said, STRANGER } from "../src/testing/telegram/people.ts";
import { textsIn } from "../src/testing/telegram/telegram-world.ts";
import { ASKING_EXTENSION, ASKING_TOOLS } from "./asking-extension.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, type Visit, visit } from "./console-stage.ts";
import { asked, endpoint, eventually, textOf } from "./whole-fixture.ts";

setDefaultTimeout(120_000);

let browser: Browser;
let provider: FakeProvider;
let gateway: GatewayProcess;
let extension: TempHome;
let telegram: FakeBotApi;

const BOT_TOKEN = "76:telegram-token-of-a-test";
const HIDDEN = "\u202e";

beforeAll(async () => {
  provider = await startFakeProvider((request) => {
    const last = request.messages.at(-1);
    const words = asked(request);
    if (words.startsWith("ask_"))
      return last?.role === "tool"
        ? says(`got ${textOf(last.content)}`)
        : { kind: "tools", calls: [{ name: words, input: {} }] };
    if (last?.role !== "user") return says("that is all");
    if (words.startsWith("shell: "))
      return { kind: "tools", calls: [{ name: "bash", input: { command: words.slice(7) } }] };
    if (words.startsWith("note: "))
      return { kind: "tools", calls: [{ name: "save_note", input: { title: "N", content: words.slice(6) } }] };
    return says("An ordinary answer.");
  });
  const base = endpoint(provider);
  telegram = await startFakeBotApi();
  extension = await tempHome();
  await writeFile(join(extension.path, "asking.ts"), ASKING_EXTENSION);
  const tools = ["bash", "save_note", ...ASKING_TOOLS];
  const extensions = [join(extension.path, "asking.ts")];
  const agent = { ...base.agent, tools, extensions, pool: { min: 0, max: 1 } };
  const channels = { telegram: { botToken: BOT_TOKEN, apiRoot: telegram.apiRoot } };
  const config = { ...base, agent, channels, tools: { approvals: { ask: ["save_note"], never: ASKING_TOOLS } } };
  [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ config })]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await extension?.[Symbol.asyncDispose]();
});

const made = (name: string): boolean => existsSync(join(gateway.home, "workspace", name));
const cardOf = ({ page }: Visit) => page.getByTestId("approval");
const button = (on: Visit, name: string) => cardOf(on).getByRole("button", { name, exact: true });

describe("a call that waits for the owner", () => {
  test("is shown in full, runs after Allow once and not before, and says so to screen readers", async () => {
    await using on = await visit(browser, gateway);
    const command = `echo '${"a long line ".repeat(300)}${HIDDEN}end' > allowed.txt`;
    await on.send(`shell: ${command}`);
    await cardOf(on).waitFor();
    const shown = await cardOf(on).locator("pre").innerText();
    expect(shown).toBe(command.replace(HIDDEN, "\\u202e"));
    expect(await cardOf(on).innerText()).toMatch(/bash waits for your approval[\s\S]*operator[\s\S]*10 minutes left/);
    expect(await on.page.getByTestId("announced").innerText()).toBe("bash waits for your approval.");
    expect(await on.page.getByTestId("tool-card").getAttribute("data-status")).toBe("pending");
    expect(made("allowed.txt")).toBe(false);

    await button(on, "Allow once").click();
    await on.replies.waitFor();
    expect(made("allowed.txt")).toBe(true);
    expect(await on.page.getByTestId("tool-card").getAttribute("data-status")).toBe("success");
    expect(await cardOf(on).count()).toBe(0); // the turn is over: its tool card says the rest
    expect([on.problems, (await on.seen()).violations]).toEqual([[], []]);
  });

  test("does not run after Deny, and its tool card shows the envelope the model was given", async () => {
    await using on = await visit(browser, gateway);
    await on.send("note: secret plans");
    await button(on, "Deny").press("Enter"); // with the keyboard alone
    await on.replies.waitFor();
    const card = on.page.getByTestId("tool-card");
    expect(await card.getAttribute("data-status")).toBe("blocked");
    await card.getByRole("button").click();
    const envelope = JSON.parse(await card.locator("pre[aria-label=Output]").innerText());
    expect(envelope).toMatchObject({ status: "blocked", tool: "save_note" });
    await on.reload();
    await card.waitFor();
    expect(await card.getAttribute("data-status")).toBe("blocked");
    expect(on.problems).toEqual([]);
  });

  test("shows how it was decided while its turn goes on, keeps the focus, and does not ask again for this conversation", async () => {
    await using on = await visit(browser, gateway);
    await on.send("shell: touch first.txt; sleep 2");
    await button(on, "Allow for this conversation").press("Enter");
    await on.page.locator("[data-testid=approval][data-decision=session]").waitFor();
    expect(await cardOf(on).innerText()).toContain("Allowed for this conversation");
    expect(await cardOf(on).evaluate((card) => card === card.ownerDocument.activeElement)).toBe(true);
    await on.replies.waitFor();
    await on.ask("shell: touch second.txt");
    expect([made("first.txt"), made("second.txt")]).toEqual([true, true]);
    expect(on.problems).toEqual([]);
  });

  test("is announced in other conversations and after a reload, and the way leads to it", async () => {
    await using on = await visit(browser, gateway);
    await on.send("shell: touch elsewhere.txt");
    await cardOf(on).waitFor();
    await on.page.getByTestId("new-chat").click();
    const banner = on.page.locator("[data-testid=banner] [data-kind=asks]");
    await banner.waitFor();
    expect(await cardOf(on).count()).toBe(0);
    await on.page.locator(".session .asks").waitFor();
    await on.reload();
    await banner.getByRole("button", { name: "Show" }).click();
    await cardOf(on).waitFor();
    expect(await banner.count()).toBe(0);

    await using other = await on.secondTab();
    await button(other, "Deny").click();
    await on.page.locator("[data-testid=tool-card][data-status=blocked]").waitFor();
    expect(made("elsewhere.txt")).toBe(false);
    expect(on.problems).toEqual([]);
  });

  test("goes with a stopped turn", async () => {
    await using on = await visit(browser, gateway);
    await on.send("shell: touch stopped.txt");
    await cardOf(on).waitFor();
    await on.page.getByTestId("stop").click();
    await cardOf(on).waitFor({ state: "detached" });
    expect(made("stopped.txt")).toBe(false);
  });

  test("has no accessibility violations, light, dark and on a phone", async () => {
    await using on = await visit(browser, gateway);
    await on.send(`shell: echo ${"x".repeat(400)}`);
    await cardOf(on).waitFor();
    expect(await accessibilityProblems(on.page)).toEqual([]);
    await on.page.setViewportSize({ width: 375, height: 720 });
    await button(on, "Deny").click();
    await on.replies.waitFor();
  });
});

describe("a question of an extension", () => {
  const question = ({ page }: Visit) => page.getByTestId("question");
  const lastReply = ({ replies }: Visit, text: string) => replies.filter({ hasText: text }).waitFor();

  test("is a card with a button for each choice: by mouse, by keyboard, and in every tab", async () => {
    await using on = await visit(browser, gateway);
    await on.send("ask_choice");
    await question(on).waitFor();
    expect(await question(on).innerText()).toMatch(/Which one\?[\s\S]*5 minutes left/);
    expect(await on.page.getByTestId("announced").innerText()).toBe("The assistant asks: Which one?");
    expect(await accessibilityProblems(on.page)).toEqual([]);
    await using other = await on.secondTab();
    await question(other).getByRole("button", { name: "coffee" }).waitFor();
    await question(on).getByRole("button", { name: "coffee" }).click();
    await lastReply(on, 'got "coffee"');
    await question(other).waitFor({ state: "detached" });
    await on.send("ask_yes");
    await question(on).getByRole("button", { name: "No", exact: true }).press("Enter");
    await lastReply(on, "got false");
    expect(on.problems).toEqual([]);
  });

  test("is a field for words, also on a phone and after a reload; or is dismissed", async () => {
    await using on = await visit(browser, gateway, { viewport: { width: 375, height: 720 }, colorScheme: "dark" });
    await on.send("ask_words");
    await question(on).waitFor();
    await on.reload();
    const field = question(on).getByRole("textbox", { name: "Your name?" });
    await field.fill("Ann Lee");
    expect(await accessibilityProblems(on.page)).toEqual([]);
    await field.press("Enter");
    await lastReply(on, 'got "Ann Lee"');
    await on.send("ask_text");
    const text = question(on).getByRole("textbox", { name: "Say it better." });
    expect(await text.inputValue()).toBe("so so");
    await question(on).getByRole("button", { name: "Dismiss" }).click();
    await lastReply(on, "got nothing");
    expect(on.problems).toEqual([]);
  });

  test("waits in its conversation while another is open, and goes with a stopped turn", async () => {
    await using on = await visit(browser, gateway);
    await on.send("ask_yes");
    await question(on).waitFor();
    await on.page.getByTestId("new-chat").click();
    const banner = on.page.locator("[data-testid=banner] [data-kind=asks]");
    await on.page.locator(".session .asks").waitFor();
    await banner.getByRole("button", { name: "Show" }).click();
    await question(on).waitFor();
    await on.page.getByTestId("stop").click();
    await question(on).waitFor({ state: "detached" });
    expect(on.problems).toEqual([]);
  });
});

describe("the view of tools", () => {
  test("lists the tools with who brought them, and opens by keyboard", async () => {
    await using on = await visit(browser, gateway);
    await on.page.getByRole("link", { name: "Activity" }).click();
    await on.page.getByRole("link", { name: "Tools" }).click();
    const tool = on.page.getByTestId("tool").filter({ hasText: "save_note" });
    await tool.getByRole("button").press("Enter");
    expect(await tool.innerText()).toMatch(/save_note[\s\S]*gateway[\s\S]*Flags/);
    expect(await on.page.getByRole("heading", { level: 1 }).innerText()).toBe("Tools");
    expect(await on.composer.count()).toBe(0);
    expect(await accessibilityProblems(on.page)).toEqual([]);
    expect(on.problems).toEqual([]);
  });

  test("shows the record of calls, narrows it, and leads back to the conversation of a call", async () => {
    await using on = await visit(browser, gateway);
    await on.send("note: for the record");
    await button(on, "Deny").click();
    await on.replies.waitFor();
    const conversation = on.page.url();
    await on.page.goto(`${gateway.url}/#/tools/calls`);
    const rows = on.page.getByTestId("call");
    await rows.first().waitFor();
    await using other = await visit(browser, gateway);
    await other.send("note: while somebody looks");
    await rows.first().getByText("waiting for approval").waitFor();
    await button(other, "Deny").click();
    await rows.first().getByText("not allowed").waitFor(); // nobody has read the list again
    await on.page.getByLabel("How it ended").selectOption("blocked");
    await on.page.getByLabel("Tool", { exact: true }).selectOption("save_note");
    await eventually(
      "only calls of save_note in the list",
      () => rows.locator(".tool-name").allTextContents(),
      (names) => names.length > 0 && names.every((name) => name === "save_note"),
    );
    const first = rows.nth(1);
    await first.getByRole("button").click();
    expect(await first.innerText()).toMatch(
      /not allowed[\s\S]*operator, from chat[\s\S]*for the record[\s\S]*did not approve/,
    );
    expect(await first.getByTestId("tool-card").getAttribute("data-status")).toBe("blocked");
    await first.getByRole("link", { name: "Where its time went" }).click();
    await on.page.getByTestId("waterfall").waitFor();
    await on.page.goBack();
    await eventually(
      "the same calls in the list",
      () => rows.count(),
      (count) => count > 1,
    );
    await first.getByRole("button").click();
    await first.getByRole("link").first().click();
    await on.replies.waitFor();
    expect(on.page.url()).toBe(conversation);
    await on.page.goBack();
    await first.getByRole("button").click();
    expect(await accessibilityProblems(on.page)).toEqual([]);
    expect(on.problems).toEqual([]);
  });
});

describe("somebody who writes from a channel", () => {
  const tell = (text: string) => {
    const room = telegram.bot(BOT_TOKEN);
    telegram.push(BOT_TOKEN, said({ by: STRANGER, text, messageId: room.nextMessageId() }));
  };
  const told = () => textsIn(telegram.bot(BOT_TOKEN), STRANGER.id);

  test("waits in the list of people, is answered once they are let in there, and is a stranger again when that is undone", async () => {
    await using on = await visit(browser, gateway);
    const { page } = on;
    await page.getByRole("link", { name: "Channels" }).click();
    await page.getByText("Nobody has written from a channel yet.").waitFor();
    tell("let me in");
    const person = page.getByTestId("person");
    expect(await person.innerText()).toContain(`telegram:user:${STRANGER.id}`);
    expect(await person.getAttribute("data-state")).toBe("pending");
    expect(await accessibilityProblems(page)).toEqual([]);

    const letIn = person.getByRole("button", { name: "Give access as member" });
    expect(await letIn.isDisabled()).toBe(true); // a click alone lets nobody in
    await person.getByLabel("Their code").fill(/\b[A-Z2-9]{8}\b/.exec(told().join("\n"))?.[0] ?? "");
    await letIn.click();
    await page.locator("[data-testid=person][data-state=approved]").waitFor();
    tell("am I in?");
    await eventually("the answer to the person who was let in", told, (seen) => seen.includes("An ordinary answer."));

    await person.getByRole("button", { name: "Undo" }).click();
    await page.locator("[data-testid=person][data-state=pending]").waitFor();
    const before = told().length;
    tell("and now?");
    await eventually(
      "no update is waiting",
      () => telegram.waiting(BOT_TOKEN),
      (ids) => ids.length === 0,
    );
    expect([told().length, on.problems]).toEqual([before, []]);
  });
});
