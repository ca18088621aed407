/**
 * Makes dist/ out of the sources: the gateway, the bridge for pi, and the web console. Skips the work when nothing changed. Builds aside and moves
 * finished files into place, the stamp last, so that a build that dies or meets another one never leaves a dist/ that claims to be whole.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { refuseFailure } from "./build-failure.ts";
import { bundleConsole } from "./console-bundle.ts";
import { declarationsOf } from "./declarations.ts";
import { currentStamp, isFresh, noteLook, stampFile } from "./stamp.mjs";

const MAX_TRIES = 3; // sources that change during the build are built again
const LOCK_STALE_MS = 10_000; // publishing takes milliseconds; an older lock belongs to a dead process
const LOCK_POLL_MS = 20;
const KEEP_OLD_MS = 24 * 3_600_000; // from the day they were replaced: a running gateway may still load parts of the build it started from
const FILES = ".files"; // the names of all files of the build that is in place
const PACKED = ".npmignore"; // tells npm to pack this build alone, without older parts beside it
const HASHED = /^(console\/assets\/|(?:sdk\/|maps\/)?chunk-)/; // named after their contents, so old and new ones live side by side

/** `pi-gateway/NAME`, as `exports` of package.json says. */
const SDK_MODULES = [
  { name: "plugin", entry: "src/sdk/plugin.ts" },
  { name: "client", entry: "src/client/client.ts" },
] as const;

export async function ensureDist(root: string): Promise<"fresh" | "built"> {
  if (isFresh(root)) return "fresh";
  for (let attempt = 1; ; attempt++) {
    const lookedAt = Date.now();
    const stamp = currentStamp(root);
    const aside = join(root, "dist", `.build-${process.pid}-${attempt}`);
    try {
      await buildInto(root, aside);
      if (currentStamp(root) !== stamp && attempt < MAX_TRIES) continue;
      await publish(root, aside, stamp);
      noteLook(root, lookedAt);
      return "built";
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  }
}

async function buildInto(root: string, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const shared = { root, target: "bun", outdir: folder, sourcemap: "external", minify: { syntax: true } } as const;
  await bundled({
    ...shared,
    minify: { syntax: true, whitespace: true }, // its text stays in memory: three megabytes less, and read faster
    entrypoints: [join(root, "src/main.ts")],
    naming: { entry: "main.js", chunk: "chunk-[hash].js" },
    splitting: true, // small commands load a fraction of the code, which halves their start
    external: ["@earendil-works/*"],
    plugins: [leanLibraries],
  });
  await bundled({
    ...shared,
    entrypoints: [join(root, "bridge/index.ts")],
    naming: "bridge.js",
    sourcemap: "none",
  });
  const small = { root, target: "bun", outdir: folder, minify: { syntax: true, whitespace: true } } as const;
  for (const [source, naming] of [
    ["bridge/preload.ts", "bridge.preload.js"],
    ["src/sandbox/launcher/relay.ts", "sandbox.relay.js"],
  ] as const)
    await bundled({ ...small, entrypoints: [join(root, source)], naming });
  await bundled({
    ...small,
    entrypoints: [join(root, "src/sandbox/launcher/launch.ts")],
    naming: "sandbox.js",
    // it runs before every agent process, and compiling takes longer than all it does
    bytecode: true,
    format: "cjs",
  });
  await bundleSdk(root, folder);
  await bundled({
    ...shared,
    entrypoints: [join(root, "src/mcp/client/host/host.ts")],
    naming: "mcp-host.js",
    sourcemap: "none",
  });
  for (const file of filesBelow(folder, "")) if (file.endsWith(".js.map")) await setAside(folder, file);
  await bundleConsole(join(root, "console"), folder);
}

/** What authors of plugins and clients import, with its types: a package by itself, which `pi-gw plugins new` writes beside plugins. */
async function bundleSdk(root: string, folder: string): Promise<void> {
  await bundled({
    root,
    target: "bun",
    outdir: folder,
    minify: { syntax: true, whitespace: true },
    entrypoints: SDK_MODULES.map(({ entry }) => join(root, entry)),
    naming: { entry: "sdk/[name].js", chunk: "sdk/chunk-[hash].js" },
    splitting: true, // the harness brings the gateway's gate along, which a plugin does not need
  });
  for (const { name, entry } of SDK_MODULES)
    await Bun.write(join(folder, "sdk", `${name}.d.ts`), await declarationsOf(root, entry));
  const { version, license } = (await Bun.file(join(root, "package.json")).json()) as Record<string, string>;
  const exports = SDK_MODULES.map(({ name }) => [`./${name}`, { types: `./${name}.d.ts`, default: `./${name}.js` }]);
  const files = filesBelow(join(folder, "sdk"), ""); // an older build may have left others beside them
  await Bun.write(join(folder, "version"), `${version}\n`); // for the launcher, which is a shell and reads no JSON
  const about = { name: "pi-gateway", version, license, type: "module", files, exports: Object.fromEntries(exports) };
  await Bun.write(join(folder, "sdk", "package.json"), `${JSON.stringify(about, null, 2)}\n`);
}

/**
 * In a folder of its own: Bun reads a map that lies beside its file at the first error, and keeps it in memory. Names are those that are right
 * from dist/, one level above the build folder. The texts of the sources are two thirds of a map, and a trace needs names and lines alone.
 */
async function setAside(folder: string, file: string): Promise<void> {
  const map: { sources: string[]; sourcesContent: string[] } = await Bun.file(join(folder, file)).json();
  map.sources = map.sources.map((source) => source.replace(/^\.\.\/\.\.\//, "../"));
  map.sourcesContent = map.sources.map(() => "");
  await Bun.write(join(folder, "maps", file), JSON.stringify(map));
  rmSync(join(folder, file));
}

interface Leaner {
  /** The file of a library, below node_modules. */
  readonly file: string;
  readonly find: RegExp;
  readonly replace: string;
}

/** Parts of libraries that we do not use, and that would make every start longer. */
const LEANER: readonly Leaner[] = [
  // pino asks who called it, for a way of writing that we do not use: Bun would read the source map of the whole gateway
  { file: "pino/lib/caller.js", find: /^[^]*$/, replace: "module.exports = () => [];" },
  // writing in another thread loads all that threads need
  {
    file: "pino/lib/transport.js",
    find: /^[^]*$/,
    replace: "module.exports = () => { throw new Error('left out'); };",
  },
  { file: "pino/lib/tools.js", find: /require\('worker_threads'\)/, replace: "({ isMainThread: true })" },
  // commands that are programs of their own
  {
    file: "commander/lib/command.js",
    find: /import childProcess from 'node:child_process';/,
    replace:
      "const childProcess = { spawn: (...given) => process.getBuiltinModule('node:child_process').spawn(...given) };",
  },
];

export const leanLibraries: Bun.BunPlugin = {
  name: "lean libraries",
  setup(build) {
    for (const { file, find, replace } of LEANER) {
      const path = new RegExp(`node_modules[\\\\/]${file.replaceAll(".", "\\.").replaceAll("/", "[\\\\/]")}$`);
      build.onLoad({ filter: path }, async ({ path: found }) => {
        const text = await Bun.file(found).text();
        if (!find.test(text)) throw new Error(`${file} has changed: look again at what is left out of it`);
        return { contents: text.replace(find, () => replace), loader: "js" };
      });
    }
  },
};

async function bundled(options: Bun.BuildConfig): Promise<void> {
  const result = await Bun.build({ ...options, throw: false });
  refuseFailure(result);
}

/** Moves the finished files into dist/. One process at a time, because files of two different builds must not mix. */
async function publish(root: string, aside: string, stamp: string): Promise<void> {
  const dist = join(root, "dist");
  const lock = join(dist, ".lock");
  await takeLock(lock);
  try {
    rmSync(stampFile(root), { force: true });
    const files = filesBelow(aside, "");
    beginOldAge(dist);
    for (const file of files.toSorted(hashedFirst)) {
      mkdirSync(dirname(join(dist, file)), { recursive: true });
      renameSync(join(aside, file), join(dist, file));
    }
    dropOldFiles(dist, new Set(files));
    writeFileSync(join(aside, "files"), JSON.stringify(files)); // renamed, so that whoever dies here leaves no half of it
    renameSync(join(aside, "files"), join(dist, FILES));
    writeFileSync(join(aside, "packed"), packedText(files));
    renameSync(join(aside, "packed"), join(dist, PACKED));
    writeFileSync(join(aside, "stamp"), stamp);
    renameSync(join(aside, "stamp"), stampFile(root));
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Everything is left out but the files of this build. */
function packedText(files: readonly string[]): string {
  return ["**", "!*/", ...files.map((file) => `!/${file}`), ""].join("\n");
}

async function takeLock(lock: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const held = statSync(lock, { throwIfNoEntry: false });
    if (held && Date.now() - held.mtimeMs > LOCK_STALE_MS) rmSync(lock, { recursive: true, force: true });
    await Bun.sleep(LOCK_POLL_MS);
  }
}

/** What names hashed files may only arrive when they are there. */
function hashedFirst(a: string, b: string): number {
  return Number(HASHED.test(b)) - Number(HASHED.test(a));
}

/** However old the build is that is replaced now, its files count as new. */
function beginOldAge(dist: string): void {
  const list = join(dist, FILES);
  const replaced: string[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  for (const file of replaced) if (existsSync(join(dist, file))) utimesSync(join(dist, file), new Date(), new Date());
}

function dropOldFiles(dist: string, current: ReadonlySet<string>): void {
  for (const file of filesBelow(dist, "")) {
    const path = join(dist, file);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found || !HASHED.test(file) || current.has(file)) continue;
    if (Date.now() - found.mtimeMs > KEEP_OLD_MS) rmSync(path, { force: true });
  }
}

function filesBelow(root: string, folder: string): string[] {
  const found = statSync(join(root, folder), { throwIfNoEntry: false });
  if (!found) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

if (import.meta.main) {
  const root = dirname(import.meta.dir);
  await ensureDist(root).catch((error: unknown) => {
    console.error(`pi-gateway could not be built.\n${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  });
}
