/** What a person sees: the built page in a real browser, in front of a real gateway with real pi. Only the model is scripted. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { type Visit, openBrowser, paste, visit } from "./console-stage.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { type ScriptedGateway, startScriptedGateway } from "./console-model.ts";
import { eventually } from "./whole-fixture.ts";

const TEST_MS = 120_000;
const MAX_TEXT_CHARS = 200_000;
const DEMO = { agent: { pool: { min: 0, max: 1 } } };
const SIGNED_OUT = /status of 401/;

setDefaultTimeout(TEST_MS);

let browser: Browser;
/** Answers with the demo model. */
let demo: GatewayProcess;
/** Answers with what console-model.ts says. */
let scripted: ScriptedGateway;

beforeAll(async () => {
  [browser, demo, scripted] = await Promise.all([
    openBrowser(),
    startGatewayProcess({ config: DEMO }),
    startScriptedGateway(),
  ]);
});

afterAll(async () => {
  await browser.close();
  await Promise.all([demo[Symbol.asyncDispose](), scripted[Symbol.asyncDispose]()]);
});

const rows = async ({ page }: Visit) => {
  const texts = await page.locator("[data-testid=message], [data-testid=tool-card]").allInnerTexts();
  return texts.map((text) => text.replace(/\b\d+ ms$/, "… ms")); // measured by pi while it runs, by the gateway afterwards
};
const openToolCards = (on: Visit) => on.page.locator("[data-testid=tool-card] .tool-body");

describe("signing in", () => {
  test("with the link the gateway printed works once, and leaves no trace in the address", async () => {
    await using first = await visit(browser, demo, {
      signedIn: false,
      path: demo.signIn.slice(demo.url.length),
    });
    await first.composer.waitFor();
    expect(first.page.url()).not.toContain("code");
    expect(await first.page.evaluate("history.length")).toBeLessThanOrEqual(2);
    const cookies = await first.context.cookies();
    expect(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))).toEqual([
      { httpOnly: true, sameSite: "Strict" },
    ]);
    expect(await first.page.evaluate("document.cookie")).toBe("");
    expect(first.problems).toEqual([]);

    await using second = await visit(browser, demo, { signedIn: false, path: demo.signIn.slice(demo.url.length) });
    await second.page.getByTestId("sign-in").waitFor();
    expect(await second.page.getByRole("alert").innerText()).toContain("sign-in link");
    expect(await second.context.cookies()).toEqual([]);
    expect(second.page.url()).not.toContain("code");
  });

  test("with the token works, and a wrong one is answered with a sentence", async () => {
    await using guest = await visit(browser, demo, { signedIn: false });
    const { page } = guest;
    const secret = page.getByLabel("Token or password");
    await secret.fill("not-the-token");
    await secret.press("Enter");
    await page.getByRole("alert").getByText("not the gateway's token").waitFor();
    expect(await guest.context.cookies()).toEqual([]);
    await secret.fill(demo.token);
    await secret.press("Enter");
    await guest.composer.waitFor();
    expect(await page.getByTestId("sign-in").count()).toBe(0);
    expect(guest.problems.filter((problem) => !SIGNED_OUT.test(problem))).toEqual([]);
  });

  test("is needed again after signing out, even for somebody who kept the cookie", async () => {
    await using owner = await visit(browser, demo);
    const kept = await owner.context.cookies();
    await owner.page.getByRole("link", { name: "System" }).click();
    await owner.page.getByRole("button", { name: "Sign out" }).click();
    await owner.page.getByTestId("sign-in").waitFor();
    expect(await owner.context.cookies()).toEqual([]);
    await owner.context.addCookies(kept);
    await owner.reload();
    await owner.page.getByTestId("sign-in").waitFor();
  });

  test("with a forged cookie shows the form", async () => {
    await using owner = await visit(browser, demo);
    await owner.composer.waitFor();
    const [cookie] = await owner.context.cookies();
    if (!cookie) throw new Error("there is no cookie to forge");
    const last = cookie.value.endsWith("A") ? "B" : "A";
    await owner.context.addCookies([{ ...cookie, value: cookie.value.slice(0, -4) + last.repeat(4) }]);
    await owner.reload();
    await owner.page.getByTestId("sign-in").waitFor();
  });
});

describe("a conversation", () => {
  test("streams the reply in, and then holds it exactly once", async () => {
    await using owner = await visit(browser, demo);
    await owner.ask("hello");
    const { lengths, mostReplies, violations } = await owner.seen();
    expect(new Set(lengths).size).toBeGreaterThanOrEqual(3);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(mostReplies).toBe(1);
    expect(await owner.page.getByTestId("live").count()).toBe(0);
    expect(await owner.replies.innerText()).toContain("I am the demo model of pi-gateway");
    expect(await owner.page.locator("[data-role=user]").count()).toBe(1);
    // A second reading would mean that the reply did not come by itself and the web console went to look for it.
    expect(owner.asked.filter((method) => method === "sessions.get")).toHaveLength(1);
    expect([violations, owner.problems, owner.foreign]).toEqual([[], [], []]);
  });

  test("shows a tool as a folded card that opens by mouse and by keyboard", async () => {
    await using owner = await visit(browser, demo);
    await owner.ask("status");
    const card = owner.page.getByTestId("tool-card");
    expect(await card.count()).toBe(1);
    expect(await card.getAttribute("data-status")).toBe("success");
    expect(await card.innerText()).toMatch(/session_status[\s\S]*\d m?s/);
    expect(await openToolCards(owner).count()).toBe(0);

    const line = card.getByRole("button");
    await line.click();
    expect(await line.getAttribute("aria-expanded")).toBe("true");
    expect(await card.locator("pre[aria-label=Input]").innerText()).toContain("{");
    expect(await card.locator("pre[aria-label=Output]").innerText()).toContain("Model: gwdemo/demo");
    await line.press("Enter");
    await openToolCards(owner).waitFor({ state: "detached" });
    await line.press("Space");
    await openToolCards(owner).waitFor();
    expect(owner.problems).toEqual([]);
  });

  test("shows a picture that the assistant sends, at once and after a reload", async () => {
    await using owner = await visit(browser, demo);
    await owner.send("send me a chart");
    const picture = owner.page.locator("[data-role=assistant] .pictures img");
    const width = () => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);
    await eventually(
      "the picture is shown",
      () => picture.count(),
      (count) => count === 1,
    );
    await eventually("the picture in full size", width, (pixels) => pixels === 320);
    await owner.page.getByText("I called the tool send_media").waitFor();
    await owner.reload();
    await eventually("the picture in full size after a reload", width, (pixels) => pixels === 320);
    const { violations } = await owner.seen();
    expect([violations, owner.problems, owner.foreign]).toEqual([[], [], []]);
  });

  test("offers a file that a browser could run for download only, by its name and size", async () => {
    await using owner = await visit(browser, demo);
    await writeFile(join(demo.home, "workspace", "drawing.svg"), '<svg onload="window.seen.ran = true"></svg>');
    await owner.ask("echo: Here you are:\nMEDIA:drawing.svg");
    const chip = owner.page.getByTestId("file");
    await chip.waitFor();
    expect(await chip.innerText()).toMatch(/drawing\.svg\s+43 bytes/);
    const [download] = await Promise.all([owner.page.waitForEvent("download"), chip.click()]);
    expect(download.suggestedFilename()).toBe("drawing.svg");
    expect((await owner.seen()).ran).toBe(false);
    expect(owner.problems).toEqual([]);
  });

  test("is the same after a reload and in a second tab, which also follows what is said next", async () => {
    await using owner = await visit(browser, demo);
    await owner.ask("echo: first words");
    await owner.ask("status");
    const before = await rows(owner);
    expect(before).toHaveLength(5);

    await owner.reload();
    await owner.replies.nth(1).waitFor();
    expect(await rows(owner)).toEqual(before);
    await using other = await owner.secondTab();
    await other.replies.nth(1).waitFor();
    expect(await rows(other)).toEqual(before);

    await owner.ask("echo: third words");
    await other.replies.nth(2).waitFor();
    expect(await rows(other)).toEqual(await rows(owner));
    expect(await other.replies.last().locator(".prose").innerText()).toBe("third words");
    expect([owner.problems, other.problems]).toEqual([[], []]);
  });

  test("can be stopped in the middle of a reply", async () => {
    await using owner = await visit(browser, demo);
    await owner.send("tell me a long story");
    await owner.page.getByTestId("live").getByText("watch the words arrive").waitFor();
    await owner.page.getByTestId("stop").click();
    const notice = owner.page.locator("[data-testid=message][data-kind=notice]");
    await notice.waitFor();
    expect(await notice.innerText()).toStartWith("Stopped.");
    expect(await notice.getAttribute("data-outcome")).toBe("aborted");
    expect(await owner.page.getByText("the little message slept well").count()).toBe(0);
    expect(await owner.page.getByTestId("stop").count()).toBe(0);
    expect(await owner.page.locator("[data-kind=reply]").count()).toBe(1);
  });

  test("offers to try again what failed", async () => {
    await using owner = await visit(browser, scripted.gateway);
    await owner.send("fail once, then answer");
    const notice = owner.page.locator("[data-testid=message][data-kind=notice]");
    expect(await notice.getAttribute("data-outcome")).toBe("failed");
    await notice.getByRole("button", { name: "Retry" }).click();
    const reply = owner.page.locator("[data-kind=reply]");
    expect(await reply.locator(".prose").innerText()).toBe("Now it works.");
    expect(await owner.page.locator("[data-role=user] .bubble").allInnerTexts()).toEqual([
      "fail once, then answer",
      "fail once, then answer",
    ]);
    expect(owner.problems).toEqual([]);
  });

  test("keeps the words of a message the gateway does not take", async () => {
    await using owner = await visit(browser, demo);
    await owner.composer.waitFor();
    const text = `begin ${"x".repeat(MAX_TEXT_CHARS)} end`;
    await owner.send(text);
    const refused = owner.page.locator("[data-kind=failed]");
    await refused.getByText("Not sent.").waitFor();
    expect(await refused.getByRole("alert").innerText()).toContain("Shorten it");
    await refused.getByRole("button", { name: "Edit" }).click();
    expect(await owner.composer.inputValue()).toBe(text);
    await owner.ask("echo: shorter");
    expect(await owner.page.locator("[data-role=user] .bubble").allInnerTexts()).toEqual(["echo: shorter"]);
  });

  test("shows which sign somebody chose for an answer, also after a reload, and takes it back", async () => {
    await using on = await visit(browser, demo);
    await on.send("hello");
    await on.replies.waitFor();
    const good = on.page.getByRole("button", { name: "Good answer" });
    const bad = on.page.getByRole("button", { name: "Bad answer" });
    const colourOf = (button: typeof good) =>
      button.evaluate((it) => it.ownerDocument.defaultView?.getComputedStyle(it).color);
    const chosen = (state: string) =>
      eventually(
        `the reaction button is ${state}`,
        () => good.getAttribute("aria-pressed"),
        (seen) => seen === state,
      );
    await good.click();
    await chosen("true");
    await on.page.reload();
    await chosen("true");
    await on.composer.focus(); // away from the button, which looks different under the mouse
    expect(await bad.getAttribute("aria-pressed")).toBe("false");
    expect(await colourOf(good)).not.toBe(await colourOf(bad));
    expect(await good.locator("svg").count()).toBe(1); // drawn: not every machine has a font for it
    await good.click();
    await chosen("false");
    expect(on.problems).toEqual([]);
  });

  test("keeps a draft over a reload", async () => {
    await using owner = await visit(browser, demo);
    await owner.composer.fill("half a thou");
    await owner.reload();
    await owner.composer.waitFor();
    expect(await owner.composer.inputValue()).toBe("half a thou");
  });
});

test("images that are attached and pasted reach the model and are there after a reload", async () => {
  await using owner = await visit(browser, scripted.gateway);
  await owner.composer.waitFor();
  const picture = await owner.page.screenshot({ clip: { x: 0, y: 0, width: 40, height: 30 } });
  await owner.page
    .getByTestId("attach")
    .setInputFiles({ name: "attached.png", mimeType: "image/png", buffer: picture });
  await paste(owner.composer, { name: "pasted.png", bytes: picture });
  await owner.page.locator(".thumb.done").nth(1).waitFor();
  await owner.ask("what is in these images?");
  expect(await owner.page.locator(".thumb").count()).toBe(0);
  expect(scripted.imagesIn("what is in these images?")).toBe(2);

  await owner.reload();
  await owner.replies.waitFor();
  const shown = owner.page.locator("[data-role=user] img");
  const widths = await shown.evaluateAll(async (images) => {
    await Promise.all(images.map((image) => image.decode()));
    return images.map((image) => image.naturalWidth);
  });
  expect(widths).toEqual([40, 40]);
  const names = await Promise.all([0, 1].map((at) => shown.nth(at).getAttribute("alt")));
  expect(names).toEqual(["attached.png", "pasted.png"]);
  expect(owner.problems).toEqual([]);
});

test("a gateway killed in mid-reply comes back to a page that shows everything once", async () => {
  await using owner = await visit(browser, scripted.gateway);
  await owner.send("a slow answer, please");
  await owner.page.getByTestId("live").getByText("Half of the").waitFor();
  await scripted.gateway.kill();
  const offline = owner.page.locator("[data-testid=banner] [data-kind=offline]");
  await offline.waitFor();
  await owner.send("said while nobody listened");
  await owner.page.locator("[data-kind=sending]").waitFor();

  await scripted.startAgain();
  await owner.replies.nth(1).waitFor();
  await offline.waitFor({ state: "detached" });
  const expected = [
    "a slow answer, please",
    "Half of the answer, and the rest.",
    "said while nobody listened",
    "An ordinary answer.",
  ];
  const words = () => owner.page.locator("[data-testid=message] :is(.bubble, .prose)").allInnerTexts();
  expect(await words()).toEqual(expected);
  expect((await owner.seen()).mostReplies).toBe(2);
  await owner.reload();
  await owner.replies.nth(1).waitFor();
  expect(await words()).toEqual(expected);
});

describe("the web console", () => {
  test("runs nothing and fetches nothing that a model put into its answer", async () => {
    await using owner = await visit(browser, scripted.gateway);
    await owner.ask("be hostile");
    const text = await owner.replies.innerText();
    expect(text).toContain("<script>");
    expect(text).toContain("End of the attack.");
    const hrefs = await owner.replies.locator("a").evaluateAll((links) => links.map((link) => link.protocol));
    expect(new Set(hrefs)).toEqual(new Set(["https:"]));
    expect(await owner.replies.locator("img, script, iframe, form, style, svg:not(.icon)").count()).toBe(0);
    await owner.reload();
    await owner.replies.waitFor();
    const { ran, violations } = await owner.seen();
    expect({ ran, violations, foreign: owner.foreign, problems: owner.problems }).toEqual({
      ran: false,
      violations: [],
      foreign: [],
      problems: [],
    });
  });

  test.each(["/?gatewayUrl=", "/#gatewayUrl=", "/?url=", "/#/chat/x?gatewayUrl="])(
    "never connects to an address that it is given by %s",
    async (path) => {
      let knocks = 0;
      using canary = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(++knocks)) });
      await using owner = await visit(browser, demo, { path: `${path}ws://127.0.0.1:${canary.port}` });
      await owner.page.locator("[data-testid=connection][data-state=open]").waitFor();
      await owner.ask("echo: at home");
      const { violations } = await owner.seen();
      expect({ knocks, violations, foreign: owner.foreign }).toEqual({ knocks: 0, violations: [], foreign: [] });
    },
  );

  test("has no accessibility violations, light, dark and on a phone", async () => {
    await using guest = await visit(browser, demo, { signedIn: false });
    await guest.page.getByTestId("sign-in").waitFor();
    expect(await accessibilityProblems(guest.page)).toEqual([]);
    await using owner = await visit(browser, demo);
    await owner.ask("hello");
    await owner.ask("status");
    await owner.page.getByTestId("tool-card").getByRole("button").click();
    await openToolCards(owner).waitFor();
    expect(await accessibilityProblems(owner.page)).toEqual([]);
  });
});
