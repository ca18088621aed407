/** Finds what the build made (dist/): the files of the web console and the bridge extension. The single executable brings its own instead. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { GatewayError } from "./contracts/errors.ts";
import type { ConsoleAssets, ConsoleFile } from "./http/index.ts";
import type { Assets } from "./serve.ts";

/** console.json, as scripts/console-bundle.ts writes it. */
interface ConsoleList {
  readonly build: string;
  readonly files: Readonly<Record<string, ListedFile>>;
  readonly docs: Readonly<Record<string, ListedFile>>;
}

interface ListedFile {
  readonly file: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly gzip?: string;
  readonly packed?: true;
  readonly policy?: string;
}

export function sourceAssets(dist = distFolder()): Assets {
  return {
    console: async () =>
      loadConsole((await Bun.file(join(dist, "console.json")).json()) as ConsoleList, (file) => join(dist, file)),
    bridgePath: async () => join(dist, "bridge.js"),
    sandboxPath: async () => join(dist, "sandbox.js"),
    sdk: () => sdkFiles(join(dist, "sdk")),
    mcpHostPath: async () => join(dist, "mcp-host.js"),
    bun: [process.execPath, "--no-env-file"],
    bunEnv: {},
  };
}

/** What its package.json lists. */
async function sdkFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const { files } = (await Bun.file(join(folder, "package.json")).json()) as { readonly files: readonly string[] };
  return new Map(["package.json", ...files].map((name) => [name, join(folder, name)]));
}

/**
 * The files of the web console. Those that are named after their contents are read when a browser asks for them. The others are read now: a
 * newer build puts its own in their place, which belong to other files.
 */
export async function loadConsole(list: ConsoleList, pathOf: (file: string) => string): Promise<ConsoleAssets> {
  const open = async (file: string, immutable: boolean) =>
    immutable ? Bun.file(pathOf(file)) : Bun.file(pathOf(file)).bytes();
  const loading = Object.entries(list.files).map(async ([url, { file, gzip, packed, ...facts }]) => {
    const { immutable } = facts;
    if (packed) return [url, { body: null, gzip: await open(file, immutable), ...facts }] as const;
    const [body, small] = await Promise.all([open(file, immutable), gzip === undefined ? null : open(gzip, immutable)]);
    return [url, { body, ...facts, ...(small ? { gzip: small } : {}) }] as const;
  });
  const docs = Object.entries(list.docs).map(([url, { file, packed, gzip: _gzip, ...facts }]) => {
    const found = Bun.file(pathOf(file)); // read when somebody asks for it
    return [url, packed ? { body: null, gzip: found, ...facts } : { body: found, ...facts }] as const;
  });
  const files = new Map<string, ConsoleFile>(await Promise.all(loading));
  return { build: list.build, files, docs: new Map<string, ConsoleFile>(docs) };
}

/** Beside the bundle when it runs from dist/, below the project's root when it runs from src/. */
function distFolder(): string {
  const candidates = [import.meta.dir, join(import.meta.dir, "..", "dist")];
  const found = candidates.find(
    (folder) =>
      existsSync(join(folder, "console.json")) && statSync(join(folder, "bridge.js"), { throwIfNoEntry: false }),
  );
  if (found) return found;
  throw new GatewayError("internal", "dist/ is missing", {
    say: "The gateway has not been built. Start it with npm start or pi-gw, which build it when needed.",
  });
}
