/** Makes the documentation site out of README.md, docs/ and the pages beside them: one HTML file for each, a small index for search, one script and one stylesheet of its own. */
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { refuseFailure } from "../build-failure.ts";
import type { ConsoleFile } from "../console-bundle.ts";
import { type PageGroup, SITE, siteGroups, type SitePage } from "./pages.ts";
import { escaped, renderPage, type RenderedPage } from "./render.ts";

interface Entry {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly immutable: boolean;
}

const PICTURE = "image/png";
const MAX_LISTED_DEPTH = 3;

/** Writes the files below `dist`, and gives the list of them by address. */
export async function bundleDocs(
  root: string,
  dist: string,
  style: (file: string) => Promise<string>,
): Promise<Record<string, ConsoleFile>> {
  const entries = await siteEntries(root, style);
  const files: Record<string, ConsoleFile> = {};
  for (const [address, entry] of entries) files[address] = await write(address, entry, dist);
  return files;
}

async function siteEntries(root: string, style: (file: string) => Promise<string>): Promise<Map<string, Entry>> {
  const groups = siteGroups(root);
  const pages = groups.flatMap((group) => group.pages);
  const byFile = new Map(pages.map((page) => [page.file, page]));
  const rendered = new Map<SitePage, RenderedPage>();
  for (const page of pages) rendered.set(page, renderPage(byFile, page, await Bun.file(join(root, page.file)).text()));
  const entries = new Map<string, Entry>();
  const put = (address: string, type: string, content: string | Uint8Array, immutable = false): string => {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    entries.set(address, { type, bytes, immutable });
    return address;
  };
  const hashed = (text: string): string => Bun.hash(text).toString(36);
  const script = await siteScript(join(root, "console/docs-site.ts"));
  const sheet = await style(join(root, "console/style/docs-site.css"));
  const around = {
    script: put(`${SITE}/assets/site-${hashed(script)}.js`, "text/javascript; charset=utf-8", script, true),
    style: put(`${SITE}/assets/site-${hashed(sheet)}.css`, "text/css; charset=utf-8", sheet, true),
    groups,
    rendered,
  };
  for (const [page, content] of rendered)
    put(page.address, "text/html; charset=utf-8", pageHtml(page, content, around));
  put(`${SITE}/search.json`, "application/json", JSON.stringify(searchIndex(rendered)));
  const images = join(root, "docs/images");
  for (const name of readdirSync(images).filter((one) => one.endsWith(".png")))
    put(`${SITE}/images/${name}`, PICTURE, await Bun.file(join(images, name)).bytes());
  return entries;
}

/** Titles and headings: address, words, and for a heading the title of its page. */
function searchIndex(rendered: ReadonlyMap<SitePage, RenderedPage>): readonly (readonly string[])[] {
  return [...rendered].flatMap(([{ address }, { title, headings }]) => [
    [address, title],
    ...headings.filter(({ depth }) => depth > 1).map(({ anchor, text }) => [`${address}#${anchor}`, text, title]),
  ]);
}

async function siteScript(entry: string): Promise<string> {
  const result = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "iife",
    minify: true,
    throw: false,
  });
  refuseFailure(result);
  return (await result.outputs[0]?.text()) ?? "";
}

interface Around {
  readonly script: string;
  readonly style: string;
  readonly groups: readonly PageGroup[];
  readonly rendered: ReadonlyMap<SitePage, RenderedPage>;
}

function pageHtml(page: SitePage, { title, html, headings }: RenderedPage, around: Around): string {
  const listed = headings.filter(({ depth }) => depth > 1 && depth <= MAX_LISTED_DEPTH);
  const onThisPage = listed.map(
    ({ anchor, text, depth }) => `<li class="depth-${depth}"><a href="#${anchor}">${escaped(text)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en" data-theme="auto">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · pi-gateway</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="${around.style}">
<script src="${around.script}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="bar">
<a class="brand" href="${SITE}">pi-gateway</a>
<form role="search" class="search" action="${SITE}">
<label class="hidden" for="search">Find in the documentation</label>
<input id="search" type="search" maxlength="100" placeholder="Find in titles" autocomplete="off" spellcheck="false" aria-controls="found">
<ul id="found" class="found" aria-label="Found" hidden></ul>
<p class="hidden" role="status" id="found-count"></p>
</form>
<a class="to-console" href="/">Console</a>
</header>
<div class="frame">
<nav class="pages" aria-label="Documentation"><details open><summary>Pages</summary>${navigation(page, around)}</details></nav>
<main id="content" tabindex="-1" class="prose">
${html}</main>
${onThisPage.length < 2 ? "" : `<nav class="on-page" aria-label="On this page"><p>On this page</p><ul>${onThisPage.join("")}</ul></nav>`}
</div>
</body>
</html>
`;
}

function navigation(current: SitePage, { groups, rendered }: Around): string {
  const item = (page: SitePage): string => {
    const name = page.file === "README.md" ? "Overview" : (rendered.get(page)?.title ?? page.file);
    return `<li><a href="${page.address}"${page === current ? ' aria-current="page"' : ""}>${escaped(name)}</a></li>`;
  };
  return groups.map(({ name, pages }) => `<h2>${name}</h2><ul>${pages.map(item).join("")}</ul>`).join("");
}

/** Text is kept compressed alone: every browser reads it so, and the package stays small. */
async function write(address: string, { type, bytes, immutable }: Entry, dist: string): Promise<ConsoleFile> {
  const isPicture = type === PICTURE;
  const extension = type.startsWith("text/html") ? ".html" : "";
  const file = `${address.slice(1)}${address === SITE ? "/index" : ""}${extension}${isPicture ? "" : ".gz"}`;
  mkdirSync(dirname(join(dist, file)), { recursive: true });
  await Bun.write(join(dist, file), isPicture ? bytes : Bun.gzipSync(new Uint8Array(bytes), { level: 9 }));
  return { file, type, immutable, ...(isPicture ? {} : { packed: true as const }) };
}
