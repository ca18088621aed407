/** Writing in the web console: commands, steering, voice, pictures. Real browser, real gateway, real pi; only the model and the service that listens are scripted. */
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
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, paste, type Visit, visit } from "./console-stage.ts";
import { asked, endpoint, eventually, WHOLE_TEST_MS, wordsOf } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** Where pictures of the web console are put for somebody who wants to look at them. */
const PICTURES = Bun.env.PAGE_PICTURES;
const MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
const PHONE = { width: 390, height: 844 } as const;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const RICH = `Euler: $e^{i\\pi} + 1 = 0$, and for $5 more:

$$\\sum_{n=1}^{\\infty} \\frac{1}{n^2} = \\frac{\\pi^2}{6}$$

\`\`\`mermaid
flowchart LR
  A[Message] --> B{Agent free?}
  B -->|yes| C[Answer]
  B -->|no| D[Queue] --> B
\`\`\`

The end.`;
/** What the web console must not do, in a diagram. */
const HOSTILE_DIAGRAM = `\`\`\`mermaid
flowchart LR
  A["<img src=https://evil.example/x.png onerror='parent.seen.ran=true'>"] --> B
  click A href "javascript:parent.seen.ran=true"
  click B call fetch("https://evil.example")
  %%{init: {"securityLevel": "loose", "themeCSS": "@import url(https://evil.example/a.css);"}}%%
\`\`\``;
const TABLE = `| ${"Month of the year|".repeat(12)}\n| ${"---|".repeat(12)}\n| ${"unbreakably-long-value|".repeat(12)}`;

let home: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;
let browser: Browser;
let listener: ReturnType<typeof Bun.serve>;
let reply: (request: ProviderRequest) => FakeReply = () => says("ok");

beforeAll(async () => {
  home = await tempHome();
  provider = await startFakeProvider((request) => reply(request));
  listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const file = (await request.formData()).get("file");
      return Response.json({ text: file instanceof File && file.size > 0 ? "water the plants" : "" });
    },
  });
  const { agent } = endpoint(provider);
  const models = [{ id: "fake-1" }, { id: "fake-2", reasoning: true }];
  const config = {
    agent: { ...agent, pool: { min: 0, max: 1 } },
    agents: [{ id: "helper" }],
    models: { providers: { fake: { baseUrl: provider.baseUrl, apiKey: "a-key-for-tests-5521", models } } },
    media: { transcription: { baseUrl: `http://127.0.0.1:${listener.port}/v1` } },
  };
  [browser, gateway] = await Promise.all([openBrowser(MICROPHONE), startGatewayProcess({ home: home.path, config })]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await listener?.stop(true);
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const picture = async ({ page }: Visit, name: string): Promise<void> => {
  if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
};
/** What the model has read of a conversation, oldest first. */
const history = (): readonly string[] =>
  (provider.requests.at(-1)?.messages ?? [])
    .filter(({ role }) => role === "user" || role === "assistant")
    .map(({ role, content }) => `${role}: ${wordsOf(content)}`);
const rows = ({ page }: Visit) => page.locator("[data-testid=message]");
const lines = async (on: Visit): Promise<readonly string[]> =>
  rows(on).evaluateAll((all) => all.map((row) => row.querySelector(".bubble, .prose")?.textContent?.trim() ?? ""));
/** What the list of the gateway holds: a conversation in which nothing was said is not among it. */
const sessionsShown = ({ page }: Visit): Promise<number> =>
  page.evaluate<number>("fetch('/api/sessions').then((answer) => answer.json()).then(({ items }) => items.length)");
const clean = (on: Visit): void => expect([on.problems, on.foreign]).toEqual([[], []]);

test("slash commands are completed with help while they are written, and an unknown one is answered without a model", async () => {
  reply = () => says("should not be asked");
  await using on = await visit(browser, gateway);
  const options = on.page.getByTestId("slash-list").getByRole("option");
  await on.composer.fill("/");
  await options.first().waitFor();
  expect(await options.count()).toBeGreaterThanOrEqual(8);
  await on.composer.fill("/mod");
  await on.page.getByRole("option", { name: /model/ }).waitFor();
  expect(await on.composer.getAttribute("aria-activedescendant")).toBe("slash-model");
  await picture(on, "slash-list");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.composer.press("Enter");
  expect(await on.composer.inputValue()).toBe("/model ");
  await on.page.getByTestId("slash-help").getByText("/model").waitFor();
  await on.composer.fill("/stauts");
  await on.page.getByTestId("slash-help").getByText("There is no command").waitFor();
  await picture(on, "slash-unknown");
  await on.ask("/stauts");
  expect(await on.replies.innerText()).toContain("/status");
  await on.composer.fill("/");
  await options.first().waitFor();
  await on.composer.press("Escape");
  await options.first().waitFor({ state: "detached" });
  await on.composer.fill("/n");
  await on.composer.press("ArrowDown");
  await on.composer.press("Tab");
  expect(await on.composer.inputValue()).toMatch(/^\/\w+ $/);
  expect(provider.requests).toHaveLength(0);
  clean(on);
});

test("words are steered into a running answer with a button or Ctrl+Enter, and the model reads them in the same turn", async () => {
  const held = Promise.withResolvers<void>();
  reply = (request) =>
    asked(request).includes("count slowly") ? says("one", held.promise, " two") : says("Blue it is.");
  await using on = await visit(browser, gateway);
  await on.send("count slowly");
  await on.page.getByTestId("stop").waitFor();
  expect(await on.page.getByTestId("steer").count()).toBe(0);
  await on.composer.fill("in blue please");
  await on.page.getByTestId("steer").waitFor();
  await picture(on, "steer");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.composer.press("Control+Enter");
  await on.page.locator("[data-role=user]", { hasText: "in blue please" }).waitFor();
  expect(on.asked.filter((method) => method.startsWith("chat."))).toEqual(["chat.send", "chat.steer"]);
  await eventually(
    "the steered words are taken",
    () => on.answered,
    (answered) => answered.includes("chat.steer"),
  );
  held.resolve(); // before that, an answer that ends would make a turn of its own of them
  await on.replies.getByText("Blue it is.").waitFor();
  expect(await on.page.getByTestId("turn-footer").count()).toBe(1);
  clean(on);
});

test("a voice message is recorded, attached, and its words are put into the composer", async () => {
  reply = () => says("They are watered.");
  await using on = await visit(browser, gateway);
  await on.context.grantPermissions(["microphone"], { origin: gateway.url });
  await on.page.getByTestId("record").click();
  await on.page.getByTestId("recording").waitFor();
  await picture(on, "recording");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.getByRole("button", { name: "Discard the recording" }).click();
  await on.page.getByTestId("record").waitFor();
  expect(await on.page.locator(".thumb").count()).toBe(0);
  await on.page.getByTestId("record").click();
  await on.page.getByTestId("recording").getByText("0:01").waitFor();
  await on.page.getByTestId("end-recording").click();
  await on.page.locator(".thumb.done").waitFor();
  await eventually(
    "the words in the composer",
    () => on.composer.inputValue(),
    (text) => text === "water the plants",
  );
  await picture(on, "recorded");
  await on.composer.press("Enter");
  await on.replies.getByText("They are watered.").waitFor();
  expect(await on.page.getByTestId("file").innerText()).toMatch(/^voice\.(webm|ogg|m4a)/);
  clean(on);
});

test("a microphone that the browser does not give out is named in a sentence", async () => {
  await using on = await visit(browser, gateway);
  await on.page.evaluate(
    "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))",
  );
  await on.page.getByTestId("record").click();
  await on.page.getByRole("alert").getByText("does not let this page use the microphone").waitFor();
});

test("pictures open large and lead from one to the next, and files of any kind are attached", async () => {
  reply = () => says("Seen.");
  await using on = await visit(browser, gateway);
  await paste(on.composer, { name: "first.png", bytes: PNG });
  await paste(on.composer, { name: "second.png", bytes: PNG });
  await on.page.getByTestId("attach").setInputFiles({
    name: "data.xyz",
    mimeType: "application/x-unheard-of",
    buffer: Buffer.from([0, 1, 2, 3, 255]),
  });
  await on.page.locator(".thumb.done").nth(2).waitFor();
  await on.ask("look at these");
  expect(await on.page.getByTestId("file").innerText()).toContain("data.xyz");
  await on.page.getByRole("button", { name: "Show first.png large" }).click();
  const box = on.page.getByRole("dialog", { name: "first.png" });
  await box.waitFor();
  await picture(on, "lightbox");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.keyboard.press("ArrowRight");
  await on.page.getByRole("dialog", { name: "second.png" }).waitFor();
  await on.page.keyboard.press("Escape");
  await on.page.getByTestId("lightbox").waitFor({ state: "detached" });
  const focused = () => on.page.evaluate<string>("document.activeElement.getAttribute('aria-label')");
  await eventually("the focus is back where it was", focused, (label) => label === "Show first.png large");
  clean(on);
});

test("messages show when they were said, are copied, and a wide table scrolls in its own place with a shadow where more is", async () => {
  reply = () => says(TABLE);
  await using on = await visit(browser, gateway, { viewport: PHONE });
  await on.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: gateway.url });
  await on.ask("a wide table please");
  expect(await on.page.getByTestId("row-time").count()).toBe(2);
  const table = on.page.locator(".table");
  expect(await table.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true);
  const attachment = "getComputedStyle(document.querySelector('.table')).backgroundAttachment";
  expect(await on.page.evaluate<string>(attachment)).toContain("local");
  await picture(on, "table-phone");
  await on.page.locator("[data-role=user]").getByRole("button", { name: "Copy message" }).click();
  expect(await on.page.evaluate<string>("navigator.clipboard.readText()")).toBe("a wide table please");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  clean(on);
});

test("a message is edited and sent again, an answer is written anew, and a conversation is branched: the model remembers what was before and nothing else", async () => {
  let count = 0;
  reply = () => says(`answer ${++count}`);
  await using on = await visit(browser, gateway);
  await using other = await on.secondTab();
  for (const text of ["one", "two", "three"]) await on.ask(text);
  const before = { user: "user: one", first: "assistant: answer 1" };
  expect(history()).toEqual([before.user, before.first, "user: two", "assistant: answer 2", "user: three"]);

  await rows(on).filter({ hasText: "two" }).getByTestId("edit").click();
  await on.page.getByTestId("edit-again").fill("two, but better");
  await picture(on, "edit");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.getByTestId("edit-again").press("Enter");
  await rows(on).filter({ hasText: "answer 4" }).waitFor();
  expect(await lines(on)).toEqual(["one", "answer 1", "two, but better", "answer 4"]);
  expect(history()).toEqual([before.user, before.first, "user: two, but better"]);
  await rows(other).filter({ hasText: "answer 4" }).waitFor();
  expect(await lines(other)).toEqual(await lines(on));

  await rows(on).filter({ hasText: "answer 4" }).getByTestId("regenerate").click();
  await rows(on).filter({ hasText: "answer 5" }).waitFor();
  expect(await lines(on)).toEqual(["one", "answer 1", "two, but better", "answer 5"]);
  expect(history()).toEqual([before.user, before.first, "user: two, but better"]);
  await on.reload();
  await rows(on).filter({ hasText: "answer 5" }).waitFor();
  expect(await lines(on)).toEqual(["one", "answer 1", "two, but better", "answer 5"]);

  const address = on.page.url();
  await rows(on).filter({ hasText: "answer 1" }).getByTestId("branch").click();
  await on.page.getByRole("heading", { name: "one (branch)" }).waitFor();
  await rows(on).filter({ hasText: "answer 1" }).waitFor();
  await picture(on, "branch");
  await on.ask("another way");
  expect(await lines(on)).toEqual(["one", "answer 1", "another way", "answer 6"]);
  expect(history()).toEqual([before.user, before.first, "user: another way"]);
  await rows(on).filter({ hasText: "one" }).first().getByTestId("edit").click();
  await on.page.getByTestId("edit-again").fill("quite another beginning");
  await on.page.getByRole("button", { name: "Send again" }).click();
  await rows(on).filter({ hasText: "answer 7" }).waitFor();
  expect(history()).toEqual(["user: quite another beginning"]);
  expect(await lines(on)).toEqual(["quite another beginning", "answer 7"]);

  await on.page.goto(address);
  await rows(on).filter({ hasText: "answer 5" }).waitFor();
  await on.ask("four");
  expect(history().slice(-3)).toEqual(["user: two, but better", "assistant: answer 5", "user: four"]);
  expect(await accessibilityProblems(on.page)).toEqual([]);
  clean(on);
  clean(other);
});

test("agent, model and thinking are chosen before the first message and hold for the conversation alone", async () => {
  reply = () => says("Chosen well.");
  await using on = await visit(browser, gateway);
  const answering = on.page.getByTestId("answering");
  await answering.getByText("fake/fake-1").waitFor();
  await answering.click();
  const dialog = on.page.getByRole("dialog", { name: "Who answers here" });
  await dialog.getByLabel("fake/fake-2", { exact: true }).check();
  await on.page.locator("[data-testid=choose-thinking]:enabled").selectOption("high");
  await answering.getByText("fake/fake-2 · thinks: high").waitFor();
  await picture(on, "answering");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  await on.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await on.page.getByTestId("session").count()).toBe(await sessionsShown(on));
  await on.ask("hello there");
  expect(provider.requests.at(-1)?.body).toMatchObject({ model: "fake-2", reasoning_effort: "high" });
  await on.reload();
  await answering.getByText("fake/fake-2 · thinks: high").waitFor();

  await answering.click();
  await dialog.getByText("Another agent begins a new conversation.").waitFor();
  const address = on.page.url();
  await on.page.getByTestId("choose-agent").selectOption("helper");
  await answering.getByText("helper · model").waitFor();
  expect(on.page.url()).not.toBe(address);
  await on.page.keyboard.press("Escape");
  await on.ask("hello helper");
  expect(provider.requests.at(-1)?.body).toMatchObject({ model: "fake-1" });
  await on.page.locator(`[data-session^="agent:helper:webchat:dm:"]`).waitFor();
  clean(on);
});

test("formulas and diagrams are drawn, each loaded when there is one, and a hostile diagram reaches nothing", async () => {
  await using on = await visit(browser, gateway);
  const loaded: string[] = [];
  on.page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  reply = () => says("An ordinary answer.");
  await on.ask("say something plain");
  expect(loaded.filter((path) => /katex|diagram/.test(path))).toEqual([]);

  reply = () => says(...(RICH.match(/[\s\S]{1,20}/g) ?? []));
  await on.ask("show me a formula and a diagram");
  await on.page.locator("math").nth(1).waitFor();
  expect(await on.page.locator("math annotation").allTextContents()).toEqual([
    "e^{i\\pi} + 1 = 0",
    "\\sum_{n=1}^{\\infty} \\frac{1}{n^2} = \\frac{\\pi^2}{6}",
  ]);
  expect(await on.page.locator(".prose", { hasText: "Euler" }).innerText()).toContain("and for $5 more:");
  const drawn = on.page.getByTestId("diagram");
  await drawn.waitFor();
  const size =
    "(async () => { const i = document.querySelector('[data-testid=diagram]'); await i.decode(); return [i.naturalWidth, i.naturalHeight]; })()";
  const [width = 0, height = 0] = await on.page.evaluate<number[]>(size);
  expect([width > 200, height > 50]).toEqual([true, true]);
  const colourInTheMiddle = () =>
    on.page.evaluate<number>(`(async () => {
      const image = document.querySelector("[data-testid=diagram]");
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: 3, height: 3 });
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0, 3, 3);
      return Math.max(...context.getImageData(1, 1, 1, 1).data.slice(0, 3));
    })()`);
  expect(await colourInTheMiddle()).toBeGreaterThan(150);
  await on.page.emulateMedia({ colorScheme: "dark" });
  await eventually("dark boxes on dark paper", colourInTheMiddle, (light) => light < 150);
  await drawn.scrollIntoViewIfNeeded();
  await picture(on, "rich-dark");
  await on.page.emulateMedia({ colorScheme: "light" });
  await eventually("light boxes again", colourInTheMiddle, (light) => light > 150);
  await picture(on, "rich");
  expect(await accessibilityProblems(on.page)).toEqual([]);

  reply = () => says(HOSTILE_DIAGRAM);
  await on.ask("be hostile in a diagram");
  await on.page
    .locator("[data-testid=message]")
    .last()
    .locator("[data-testid=diagram], [data-testid=diagram-note]")
    .waitFor();
  await eventually(
    "no diagram is being drawn",
    () => on.page.getByText("Drawing the diagram").count(),
    (count) => count === 0,
  );
  await picture(on, "hostile-diagram");
  expect((await on.seen()).ran).toBe(false);
  expect(await on.page.evaluate<string>("document.querySelector('.diagram-frame').getAttribute('sandbox')")).toBe(
    "allow-scripts",
  );
  reply = () => says("```mermaid\nnot a diagram at all\n```");
  await on.ask("a broken one");
  await on.page.getByTestId("diagram-note").getByText("could not be drawn").waitFor();
  expect([(await on.seen()).violations, on.foreign]).toEqual([[], []]);
  expect(on.problems.filter((problem) => !problem.includes("violates the following Content Security Policy"))).toEqual(
    [],
  );
  const { headers } = await fetch(`${gateway.url}/diagram.html`);
  expect(headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'unsafe-inline'; .*frame-ancestors 'self'; sandbox allow-scripts$/,
  );
});

test("thoughts of the model are folded above its answer, during it and after a reload", async () => {
  const held = Promise.withResolvers<void>();
  const thoughts = ["I should ", "count the plants."];
  reply = () => ({ kind: "text", thoughts, pieces: ["There are ", held.promise, "three."] });
  await using on = await visit(browser, gateway);
  await on.page.getByTestId("answering").click();
  await on.page.getByRole("dialog").getByLabel("fake/fake-2", { exact: true }).check();
  await on.page.getByTestId("answering").getByText("fake/fake-2").waitFor();
  await on.page.keyboard.press("Escape");
  await on.send("how many plants?");
  const live = on.page.getByTestId("live-reasoning");
  await live.getByText("Thoughts so far").click();
  await live.getByText("I should count the plants.").waitFor();
  expect(await accessibilityProblems(on.page)).toEqual([]);
  held.resolve();
  await on.replies.getByText("There are three.").waitFor();
  const folded = on.page.getByTestId("reasoning");
  await folded.waitFor();
  await on.reload();
  expect(await folded.getByText("count the plants").count()).toBe(0);
  await folded.getByText("Thoughts").click();
  await folded.getByText("I should count the plants.").waitFor();
  await picture(on, "reasoning");
  expect(await accessibilityProblems(on.page)).toEqual([]);
  expect(await on.replies.locator(".prose").innerText()).toBe("There are three.");
  clean(on);
});

test("the gateway is told of a conversation that is opened and of the first keystroke in it, and not of a draft that is shown again", async () => {
  reply = () => says("ok");
  await using on = await visit(browser, gateway);
  const hints = (): number => on.asked.filter((method) => method === "sessions.prepare").length;
  await eventually("the hint of the opening", hints, (count) => count === 1);
  await on.composer.pressSequentially("a slow thought");
  await eventually("the hint of the first keystroke", hints, (count) => count === 2);
  await on.reload();
  await eventually("the hint of the next opening", hints, (count) => count === 3);
  expect(await on.composer.inputValue()).toBe("a slow thought");
  const sent = on.asked.filter((method) => method === "chat.send").length;
  await on.page.keyboard.press("Enter");
  await on.replies.getByText("ok").waitFor();
  expect([hints(), on.asked.filter((method) => method === "chat.send").length]).toEqual([3, sent + 1]);
  clean(on);
});
