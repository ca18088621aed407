/**
 * `npm run screenshots`: takes the pictures of the web console that the README and the docs show, and writes them to docs/images and nowhere else.
 * `-- --all DIR` takes every view in every look (light, dark, phone, right to left) for somebody who wants to look at them; `--only NAME,NAME` some views.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser } from "playwright-core";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../src/testing/postgres/store-tables.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { openBrowser, visit } from "../test/console-stage.ts";
import { ensureDist } from "./bundle.ts";
import { type Scene, startScene } from "./screenshots/scene.ts";
import { FIRST_VIEWS, SHARED_VIEW, type ShownView, VIEWS } from "./screenshots/views.ts";

const MAX_PICTURE_BYTES = 150_000;
const WIDE = { width: 1_280, height: 800 } as const;
const PHONE = { width: 390, height: 844 } as const;
const LIGHT = { look: "light", colorScheme: "light", viewport: WIDE, dir: "ltr" } as const;
const DARK = { look: "dark", colorScheme: "dark", viewport: WIDE, dir: "ltr" } as const;
const ON_PHONE = { look: "phone", colorScheme: "light", viewport: PHONE, dir: "ltr" } as const;
const RTL = { look: "rtl", colorScheme: "light", viewport: WIDE, dir: "rtl" } as const;
type Look = typeof LIGHT | typeof DARK | typeof ON_PHONE | typeof RTL;

/** Other looks that the docs show, of one view each. */
const MORE_FOR_DOCS = [
  { name: "light", file: "dark", look: DARK },
  { name: "light", file: "phone", look: ON_PHONE },
  { name: "inbox", file: "inbox-phone", look: ON_PHONE },
  { name: "activity", file: "rtl", look: RTL },
] as const;

interface Picture {
  readonly look: Look;
  readonly file: string;
}

interface Wanted {
  readonly folder: string;
  readonly isForDocs: boolean;
  isWanted(view: ShownView): boolean;
}

function wantedIn(root: string): Wanted {
  const argument = (name: string) => process.argv[process.argv.indexOf(name) + 1] ?? "";
  const all = process.argv.includes("--all") ? argument("--all") : null;
  const only = process.argv.includes("--only") ? argument("--only").split(",") : null;
  return {
    folder: all ?? join(root, "docs/images"),
    isForDocs: all === null,
    isWanted: ({ name }) => only === null || only.includes(name),
  };
}

function picturesOf({ name, onPhone }: ShownView, { isForDocs }: Wanted): readonly Picture[] {
  if (!isForDocs) return [LIGHT, DARK, ON_PHONE, RTL].map((look) => ({ look, file: `${name}-${look.look}` }));
  const own = { look: onPhone ? ON_PHONE : LIGHT, file: name };
  return [own, ...MORE_FOR_DOCS.filter((one) => one.name === name)].map(({ look, file }) => ({
    look,
    file: `console-${file}`,
  }));
}

async function takePictures(root: string): Promise<void> {
  await ensureDist(root);
  const wanted = wantedIn(root);
  mkdirSync(wanted.folder, { recursive: true });
  await using browser = await openBrowser();
  if (FIRST_VIEWS.some(wanted.isWanted)) {
    await using gateway = await startGatewayProcess({ config: { agent: { pool: { min: 0, max: 1 } } } });
    for (const view of FIRST_VIEWS.filter(wanted.isWanted))
      await takeView(browser, { gateway, scene: null }, view, wanted);
  }
  if (wanted.isWanted(SHARED_VIEW)) await takeShared(browser, wanted);
  if (!VIEWS.some(wanted.isWanted)) return;
  await using scene = await startScene(browser);
  let isWaiting = false;
  for (const view of VIEWS.filter(wanted.isWanted)) {
    if (view.waiting && !isWaiting) await scene.leaveWaiting();
    isWaiting ||= view.waiting === true;
    await takeView(browser, { gateway: scene.gateway, scene }, view, wanted);
  }
}

/** Without a Postgres server on this machine the picture stays as it is. */
async function takeShared(browser: Browser, wanted: Wanted): Promise<void> {
  if ((await testPostgres()) === null) return;
  await using database = await createTestDatabase(STORE_TABLES);
  const store = { url: database.url, secret: "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e" };
  const config = { agent: { pool: { min: 0, max: 1 } }, store };
  await using gateway = await startGatewayProcess({ config });
  await using _other = await startGatewayProcess({ config: { ...config, queue: { maxTotal: 77 } } });
  await takeView(browser, { gateway, scene: null }, SHARED_VIEW, wanted);
}

interface Place {
  readonly gateway: GatewayProcess;
  /** Null: nothing has happened there. */
  readonly scene: Scene | null;
}

async function takeView(browser: Browser, { gateway, scene }: Place, view: ShownView, wanted: Wanted): Promise<void> {
  const path = view.path === "chat" ? (scene?.chat ?? "/") : view.path;
  for (const { look, file } of picturesOf(view, wanted)) {
    const { dir, colorScheme, viewport } = look;
    await using shown = await visit(browser, gateway, { path, colorScheme, viewport });
    await shown.page.evaluate(`document.documentElement.dir = "${dir}"`);
    await shown.page.locator(view.shows).first().waitFor();
    if (scene !== null) await view.act?.(shown, scene);
    await shown.page.waitForLoadState("networkidle");
    await shown.page.evaluate(withoutPath(gateway.home));
    const bytes = await shown.page.screenshot({ path: join(wanted.folder, `${file}.png`) });
    console.log(`${file}.png: ${Math.round(bytes.length / 1_024)} KB`);
    if (wanted.isForDocs && bytes.length > MAX_PICTURE_BYTES)
      throw new Error(`${file}.png has ${bytes.length} bytes, which is too many.`);
  }
}

/** A program that writes the state directory as people know it: where the picture was taken is nobody's concern. */
function withoutPath(path: string): string {
  const [here, there] = [JSON.stringify(path), JSON.stringify("~/.pi-gateway")];
  return `{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(${here}, ${there});
  }`;
}

await takePictures(dirname(import.meta.dir));
process.exit(0); // the Postgres server of the tests lives as long as the process that asked for it
