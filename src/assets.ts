/** Finds what the build made (dist/): the page's files and the bridge extension. The single executable brings its own instead. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { GatewayError } from "./contracts/errors.ts";
import type { PageAssets, PageFile } from "./http/index.ts";
import type { Assets } from "./serve.ts";

/** console.json, as scripts/page-bundle.ts writes it. */
interface PageList {
  readonly build: string;
  readonly files: Readonly<
    Record<
      string,
      { readonly file: string; readonly type: string; readonly immutable: boolean; readonly gzip?: string }
    >
  >;
}

export function sourceAssets(): Assets {
  const dist = distFolder();
  return {
    page: async () =>
      loadPage((await Bun.file(join(dist, "console.json")).json()) as PageList, (file) => join(dist, file)),
    bridgePath: async () => join(dist, "bridge.js"),
    bun: [process.execPath, "--no-env-file"],
    bunEnv: {},
  };
}

/** Reads the page's files into memory once: they are small, and then serving them never waits for the disk. */
export async function loadPage(list: PageList, pathOf: (file: string) => string): Promise<PageAssets> {
  const read = (file: string) => Bun.file(pathOf(file)).bytes();
  const loading = Object.entries(list.files).map(async ([url, { file, type, immutable, gzip }]) => {
    const [body, packed] = await Promise.all([read(file), gzip === undefined ? null : read(gzip)]);
    return [url, { body, type, immutable, ...(packed ? { gzip: packed } : {}) }] as const;
  });
  return { build: list.build, files: new Map<string, PageFile>(await Promise.all(loading)) };
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
