/** Bundles the web console into hashed files with gzip copies, and the list (console.json) by which the gateway serves them. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { refuseFailure } from "./build-failure.ts";
import { bundleDocs } from "./docs-site/build-site.ts";

export interface ConsoleList {
  /** Changes when any file of the web console changes. */
  readonly build: string;
  /** By URL path. Paths of files are relative to dist/. */
  readonly files: Record<string, ConsoleFile>;
  /** The documentation site, which is for those who have signed in. */
  readonly docs: Record<string, ConsoleFile>;
}

export interface ConsoleFile {
  readonly file: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly gzip?: string;
  /** The file itself is compressed, and there is no other: it is large, and browsers read it so. */
  readonly packed?: true;
  /** Its content security policy, where that is not the one of the web console. */
  readonly policy?: string;
}

const BUILD_ID_CHARS = 12;
const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json",
  webmanifest: "application/manifest+json",
  png: "image/png",
  woff2: "font/woff2",
};
/** `@import "./style/base.css";`, a line of its own. */
const STYLE_IMPORT = /^@import "([^"]+)";$/gm;
/** What is larger is kept compressed alone. */
const MAX_TWICE_BYTES = 1024 * 1024;
const ALREADY_SMALL = new Set(["png", "woff2"]);

export async function bundleConsole(source: string, dist: string): Promise<ConsoleList> {
  const result = await Bun.build({
    entrypoints: [join(source, "index.html")],
    target: "browser",
    minify: true,
    splitting: true,
    publicPath: "/",
    naming: { entry: "[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
    throw: false,
  });
  refuseFailure(result);

  const contents = new Map<string, Uint8Array>();
  for (const output of result.outputs) {
    const path = output.path.replace(/^\.?\/*/, "");
    contents.set(path === "index.html" ? "/" : `/${path}`, new Uint8Array(await output.arrayBuffer()));
  }
  const style = await bundledStyle(join(source, "style.css"));
  const styleUrl = `/assets/style-${Bun.hash(style).toString(36)}.css`;
  contents.set(styleUrl, new TextEncoder().encode(style));
  contents.set("/", withStyle(contents.get("/") ?? new Uint8Array(), styleUrl));
  const diagrams = await diagramPage(join(source, "diagrams", "draw.ts"));
  if (diagrams) contents.set(DIAGRAM_PAGE, new TextEncoder().encode(diagrams.html));
  const favicon = join(source, "favicon.svg"); // browsers ask for it by this name
  if (existsSync(favicon)) contents.set("/favicon.svg", await Bun.file(favicon).bytes());
  for (const [url, bytes] of await workerFiles(source)) contents.set(url, bytes);
  const docs = await bundleDocs(dirname(source), dist, bundledStyle);
  return writeConsole(contents, { dist, docs }, new Map(diagrams ? [[DIAGRAM_PAGE, diagrams.policy]] : []));
}

const DIAGRAM_PAGE = "/diagram.html";
const ICONS = ["icon-192.png", "icon-512.png", "badge-96.png"];

/** The service worker, at the root because it looks after all addresses below its own, and the icons that it and the manifest name. */
async function workerFiles(source: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const entry = join(source, "worker", "service-worker.ts");
  if (!existsSync(entry)) return new Map();
  const worker = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "iife",
    minify: true,
    throw: false,
  });
  refuseFailure(worker);
  const files = new Map<string, Uint8Array>();
  for (const output of worker.outputs) files.set("/service-worker.js", new Uint8Array(await output.arrayBuffer()));
  for (const icon of ICONS) files.set(`/icons/${icon}`, await Bun.file(join(source, "icons", icon)).bytes());
  return files;
}

/**
 * The page that draws diagrams: one file with the library in it, which may run that one script and do nothing else. It has no origin, even when
 * somebody opens it by itself, so nothing in it can reach the gateway as the person who looks at it.
 */
async function diagramPage(entry: string): Promise<{ readonly html: string; readonly policy: string } | null> {
  if (!existsSync(entry)) return null;
  const drawing = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "iife",
    minify: true,
    throw: false,
  });
  refuseFailure(drawing);
  const library = await Bun.file(new URL(import.meta.resolve("@mermaid-js/tiny"))).text();
  const [own] = drawing.outputs;
  // neither may end the script that it is in
  const script = `${library}\n${await own?.text()}`.replaceAll("</script", "<\\/script").replaceAll("<!--", "\\x3C!--");
  const digest = new Bun.CryptoHasher("sha256").update(script).digest("base64");
  return {
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Diagram</title><body><script>${script}</script>`,
    policy: `default-src 'none'; script-src 'sha256-${digest}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts`,
  };
}

/**
 * Bun's own bundler writes `inset-inline-start` and `:dir(rtl)` for browsers that do not know them, by a list of languages, which is wrong for a
 * page whose direction is not the one of its language. The stylesheet is therefore put together here, as it is written.
 */
async function bundledStyle(file: string): Promise<string> {
  const text = await Bun.file(file).text();
  const parts = text.matchAll(STYLE_IMPORT).map(([, path = ""]) => bundledStyle(join(dirname(file), path)));
  const rest = text.replace(STYLE_IMPORT, "");
  return (await Promise.all([...parts, packedStyle(rest)])).join("");
}

/** Without comments, and without space that means nothing. */
function packedStyle(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,]) ?/g, "$1")
    .trim();
}

function withStyle(html: Uint8Array, url: string): Uint8Array {
  const text = new TextDecoder().decode(html);
  return new TextEncoder().encode(text.replace("<script", `<link rel="stylesheet" href="${url}"><script`));
}

async function writeConsole(
  contents: ReadonlyMap<string, Uint8Array>,
  { dist, docs }: { readonly dist: string; readonly docs: ConsoleList["docs"] },
  policies: ReadonlyMap<string, string>,
): Promise<ConsoleList> {
  const hash = new Bun.CryptoHasher("sha256");
  const files: Record<string, ConsoleFile> = {};
  for (const [url, bytes] of [...contents].toSorted(([a], [b]) => a.localeCompare(b))) {
    hash.update(url).update(bytes);
    const policy = policies.get(url);
    files[url] = { ...(await writeConsoleFile(url, bytes, dist)), ...(policy === undefined ? {} : { policy }) };
  }
  for (const [url, { file }] of Object.entries(docs)) hash.update(url).update(await Bun.file(join(dist, file)).bytes());
  const list: ConsoleList = { build: hash.digest("hex").slice(0, BUILD_ID_CHARS), files, docs };
  await Bun.write(join(dist, "console.json"), JSON.stringify(list, null, 1));
  return list;
}

async function writeConsoleFile(url: string, bytes: Uint8Array, dist: string): Promise<ConsoleFile> {
  const file = `console${url === "/" ? "/index.html" : url}`;
  const extension = file.slice(file.lastIndexOf(".") + 1);
  const type = TYPES[extension] ?? "application/octet-stream";
  mkdirSync(dirname(join(dist, file)), { recursive: true });
  const entry = { file, type, immutable: url.startsWith("/assets/") };
  const isSmall = ALREADY_SMALL.has(extension);
  if (!isSmall) await Bun.write(join(dist, `${file}.gz`), Bun.gzipSync(new Uint8Array(bytes), { level: 9 }));
  if (!isSmall && bytes.byteLength > MAX_TWICE_BYTES) return { ...entry, file: `${file}.gz`, packed: true };
  await Bun.write(join(dist, file), bytes);
  return isSmall ? entry : { ...entry, gzip: `${file}.gz` };
}
