/** The documentation site: every link, anchor and picture is there, here and on a code host; and the site in a real browser. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Marked, type Token } from "marked";
import type { Browser } from "playwright-core";
import { siteGroups, type SitePage, targetOf } from "../scripts/docs-site/pages.ts";
import { renderPage } from "../scripts/docs-site/render.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, visit } from "./console-stage.ts";

setDefaultTimeout(120_000);

const PROJECT = resolve(import.meta.dir, "..");
const groups = siteGroups(PROJECT);
const pages = groups.flatMap((group) => group.pages);
const byFile = new Map(pages.map((page) => [page.file, page]));
const textOf = ({ file }: SitePage): string => readFileSync(join(PROJECT, file), "utf8");
const rendered = new Map(pages.map((page) => [page, renderPage(byFile, page, textOf(page))]));

/** Read and not imported: what the page imports has the types of a browser. */
const HELP_TEXT = readFileSync(join(PROJECT, "console/state/help-pages.ts"), "utf8");
const HELP_PAGES: Readonly<Record<string, string>> = Object.fromEntries(
  [...HELP_TEXT.matchAll(/(\w+): "(\/docs\/[^"]+)"/g)].map(([, view = "", address = ""]) => [view, address]),
);

function linksIn(markdown: string): readonly string[] {
  const found: string[] = [];
  const marked = new Marked();
  marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    if (token.type === "link" || token.type === "image") found.push(String(token.href));
  });
  return found;
}

describe("the documentation site", () => {
  test("has every page of docs/ in a group that a reader looks for", () => {
    expect(groups.find(({ name }) => name === "More")?.pages.map(({ file }) => file) ?? []).toEqual([]);
    expect(pages.length).toBeGreaterThan(55);
    expect(new Set(pages.map(({ address }) => address)).size).toBe(pages.length);
  });

  test("has no link, anchor or picture that leads nowhere, on the site or on a code host", () => {
    const broken = pages.flatMap((page) =>
      linksIn(textOf(page)).flatMap((href) => {
        const target = targetOf(byFile, page, href);
        const isThere =
          target.kind === "outside" ||
          (target.kind === "page"
            ? target.anchor === "" || rendered.get(target.page)?.headings.some(({ anchor }) => anchor === target.anchor)
            : existsSync(join(PROJECT, target.file)));
        return isThere ? [] : [`${page.file}: ${href}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("links pages by their addresses, shows files that are not on it as text, and loads nothing from elsewhere", () => {
    const [page] = pages;
    if (!page) throw new Error("no page");
    const { html } = renderPage(
      byFile,
      page,
      "# T\n\n## A `b` c!\n\n## A b c\n\n[x](docs/models.md#y) [s](src/main.ts) ![p](https://e.example/p.png) <script>1</script>\n\n<!-- not run -->\n",
    );
    expect(html).toContain('<h2 id="a-b-c">');
    expect(html).toContain('<h2 id="a-b-c-1">');
    expect(html).toContain('<a href="/docs/models#y">x</a>');
    expect(html).toContain('<span class="source" title="src/main.ts">s</span>');
    expect([html.includes("<script"), html.includes("<img"), html.includes("not run")]).toEqual([false, false, false]);
    const all = [...rendered.values()].map((one) => one.html).join("");
    expect([...all.matchAll(/ src="([^"]*)"/g)].filter(([, from = ""]) => !from.startsWith("/docs/images/"))).toEqual(
      [],
    );
  });

  test("has the page and the heading that each view of the web console names as its help", () => {
    const missing = Object.values(HELP_PAGES).filter((address) => {
      const [path, anchor] = address.split("#");
      const page = pages.find((one) => one.address === path);
      const isThere = page && (!anchor || rendered.get(page)?.headings.some((heading) => heading.anchor === anchor));
      return !isThere;
    });
    expect(missing).toEqual([]);
    expect(Object.keys(HELP_PAGES).length).toBeGreaterThan(10);
  });
});

describe("the documentation site in a browser", () => {
  let browser: Browser;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    const config = { agent: { pool: { min: 0, max: 1 } } };
    [browser, gateway] = await Promise.all([openBrowser(), startGatewayProcess({ config })]);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
  });

  test("is for those who have signed in, and has a policy that lets nothing in from outside", async () => {
    for (const path of ["/docs", "/docs/models", "/docs/search.json", "/docs/images/console-light.png"]) {
      expect((await fetch(`${gateway.url}${path}`)).status).toBe(401);
      expect((await gateway.fetch(path)).status).toBe(200);
    }
    expect((await gateway.fetch("/docs/nothing")).status).toBe(404);
    expect((await gateway.fetch("/docs/..%2F..%2Fpackage.json")).status).toBe(404);
    const page = await gateway.fetch("/docs/models", { headers: { "accept-encoding": "identity" } });
    expect(page.headers.get("content-security-policy")).toStartWith("default-src 'none'; script-src 'self'");
    expect(await page.text()).toContain("<!doctype html>");
  });

  test("is reached from a view, finds headings, follows links between pages, copies code, and is accessible", async () => {
    await using on = await visit(browser, gateway, { path: "/#/system/models" });
    const help = on.page.getByRole("link", { name: "Help about this view" });
    expect(await help.getAttribute("href")).toBe(HELP_PAGES["models"] ?? "");
    const { page } = on;
    await page.goto(`${gateway.url}/docs/models`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press("/");
    await page.keyboard.type("row level sec");
    const found = page.locator("#found a").first();
    await found.waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/postgres#row-level-security");
    await page.goto(`${gateway.url}/docs`);
    await page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Backups" }).click();
    await page.waitForURL("**/docs/backup");
    expect(await page.getByRole("button", { name: "Copy this code" }).count()).toBeGreaterThan(0);
    expect([on.problems, on.foreign, (await on.seen()).violations]).toEqual([[], [], []]);
  });
});
