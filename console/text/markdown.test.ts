/** Sanitising, and blocks that are not rendered twice: both exist only in a real browser. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { findBrowser } from "../../src/testing/whole/find-browser.ts";

const START_MS = 60_000;

declare function sanitize(html: string): string;
declare function show(text: string): void;

let browser: Browser;
let page: Page;

beforeAll(async () => {
  const found = await findBrowser();
  const env = Object.fromEntries(
    Object.entries({ ...process.env, ...found.env }).filter((pair) => pair[1] !== undefined),
  );
  browser = await chromium.launch({
    executablePath: found.path,
    args: [...found.args],
    env: env as Record<string, string>,
  });
  page = await browser.newPage();
  const built = await Bun.build({ entrypoints: [join(import.meta.dir, "markdown-fixture.tsx")], target: "browser" });
  await page.addScriptTag({ content: (await built.outputs[0]?.text()) ?? "", type: "module" });
  await page.waitForFunction(() => "show" in globalThis);
}, START_MS);

afterAll(async () => {
  await browser.close();
});

describe("should the renderer ever let HTML through", () => {
  test.each([
    ["<script>alert(1)</script>ok", "ok"],
    ["<img src=x onerror=alert(1)>", ""],
    ['<a href="javascript:alert(1)">x</a>', "<a>x</a>"],
    ['<a href="data:text/html,<script>1</script>">x</a>', "<a>x</a>"],
    ['<p style="position:fixed" onclick="x()" id="root">x</p>', "<p>x</p>"],
    ["<svg><script>alert(1)</script></svg><form action=/x><input></form>", ""],
    ["<iframe src=//evil.example></iframe><style>*{}</style>", ""],
  ])("%s is made harmless", async (dirty, clean) => {
    expect(await page.evaluate((html) => sanitize(html), dirty)).toBe(clean);
  });
});

test("links keep what makes them safe, and code keeps its copy button", async () => {
  await page.evaluate(() => show("[x](https://example.com)\n\n```ts\nlet a = 1;\n```"));
  const link = page.getByRole("link", { name: "x" });
  expect([await link.getAttribute("target"), await link.getAttribute("rel")]).toEqual([
    "_blank",
    "noopener noreferrer",
  ]);
  expect(await page.locator("button[data-copy]").count()).toBe(1);
});

test("while text streams in, blocks that are finished are not built again", async () => {
  const kept = await page.evaluate(async () => {
    show("");
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    show("# One\n\ntwo\n\nthree\n\nfo");
    await frame();
    const before = document.querySelector("h1");
    show("# One\n\ntwo\n\nthree\n\nfour and more");
    await frame();
    return [
      before !== null,
      before === document.querySelector("h1"),
      document.body.textContent?.includes("four and more"),
    ];
  });
  expect(kept).toEqual([true, true, true]);
});
