/** Every view of the web console from right to left: each sentence is read in the direction of its own letters, found by where its characters are drawn. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { ADDRESSES } from "../console/state/route.ts";
import { type Scene, startScene } from "../scripts/screenshots/scene.ts";
import { VIEWS } from "../scripts/screenshots/views.ts";
import { openBrowser, visit } from "./console-stage.ts";

setDefaultTimeout(120_000);

/** Those that no picture shows on a gateway of this kind; they are visited as they are. */
const MORE = [
  { name: "setup", path: ADDRESSES.setup, shows: "[data-testid=step-model]" },
  { name: "gateways", path: ADDRESSES.gateways, shows: "[data-testid=gateway]" },
] as const;

let browser: Browser;
let scene: Scene;

beforeAll(async () => {
  browser = await openBrowser();
  scene = await startScene(browser);
  await scene.leaveWaiting();
});
afterAll(async () => {
  await scene?.[Symbol.asyncDispose]();
  await browser?.close();
});

/**
 * Texts that are drawn against the direction of their letters. A text is what stands in one paragraph of the browser, and is judged when all of its letters
 * are of one direction: then each character of a line is drawn beyond the one before it.
 */
const MISDIRECTED = `(() => {
  const RTL = /[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc]/;
  const LTR = /[A-Za-z]/;
  const paragraphs = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    let box = node.parentElement;
    if (box === null || box.closest("svg, math, script, style, noscript") || !box.checkVisibility()) continue;
    while (getComputedStyle(box).display === "inline") box = box.parentElement;
    const stands = /flex|grid/.test(getComputedStyle(box).display) ? node : box; // what stands by itself there is a box of its own
    paragraphs.set(stands, [...(paragraphs.get(stands) ?? []), node]);
  }
  const charsOf = (node) => [...node.data].flatMap((char, at) => {
    if (/\\s/.test(char)) return [];
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const { top, left, width } = range.getBoundingClientRect();
    return width === 0 ? [] : [{ top, left }];
  });
  const wrong = [];
  for (const nodes of paragraphs.values()) {
    const text = nodes.map(({ data }) => data).join("");
    const isRtl = RTL.test(text);
    if (isRtl === LTR.test(text)) continue;
    const chars = nodes.flatMap(charsOf);
    const isWrong = chars.some(({ top, left }, at) => {
      const before = chars[at - 1];
      if (before === undefined || Math.abs(before.top - top) > 8) return false;
      return isRtl ? left >= before.left : left <= before.left;
    });
    if (isWrong) wrong.push(text.trim().replace(/\\s+/g, " ").slice(0, 80));
  }
  return wrong;
})()`;

const misdirected = (page: Page) => page.evaluate<readonly string[]>(MISDIRECTED);

test("sentences of every view are read in their own direction from right to left", async () => {
  const shown = [...VIEWS.filter(({ path }) => !path.startsWith("/docs")), ...MORE];
  const wrong: Record<string, readonly string[]> = {};
  for (const view of shown) {
    const path = view.path === "chat" ? scene.chat : view.path.startsWith("#") ? `/${view.path}` : view.path;
    await using on = await visit(browser, scene.gateway, { path });
    await on.page.evaluate(`document.documentElement.dir = "rtl"`);
    await on.page.locator(view.shows).first().waitFor();
    if ("act" in view) await view.act?.(on, scene);
    await on.page.waitForLoadState("networkidle");
    const found = await misdirected(on.page);
    if (found.length > 0) wrong[view.name] = found;
  }
  expect(wrong).toEqual({});
  const visited = shown.map(({ path }) => path.replace("/#", "#"));
  expect(Object.values(ADDRESSES).filter((address) => !visited.includes(address))).toEqual([]);
});
