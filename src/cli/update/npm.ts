/** What `pi-gw update` has npm do: name the newest version, and install one into a folder of its own. npm's own settings say from where. */
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import { parseJson } from "../../kit/json.ts";
import { BASE, versionRoot } from "../../update/index.ts";
import { recordOf, textOf } from "../read-value.ts";
import { readSmall } from "../state-directory.ts";
import type { CliWorld } from "../world.ts";

const PACKAGE = "pi-gateway";
const LOOK_MS = 60_000;
const INSTALL_MS = 15 * 60_000;
const MAX_SAID_CHARS = 2_000;
const PRIVATE_FOLDER = 0o700;
const INSTALLING = ".installing-";
const VERSION_NAME = /^\d+\.\d+\.\d+[0-9A-Za-z.+-]{0,50}$/;

export async function newestVersion(world: CliWorld): Promise<string> {
  const said = await npm(world, ["view", `${PACKAGE}@latest`, "version"], LOOK_MS);
  const version = said.trim();
  if (!VERSION_NAME.test(version))
    throw failed(`npm did not name a version of ${PACKAGE}, but said: ${version.slice(0, 200)}`);
  return version;
}

interface Wanted {
  /** As npm takes it: `pi-gateway@1.2.3`, or the path of a packed package. */
  readonly spec: string;
  /** Versions that are in use. */
  readonly taken: readonly string[];
}

/** Installs into `folder/VERSION` and returns the version; null: it is one that is in use, and nothing was installed. */
export async function install(world: CliWorld, folder: string, { spec, taken }: Wanted): Promise<string | null> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const work = join(folder, `${INSTALLING}${world.ids.next("update")}`);
  await mkdir(work, { mode: PRIVATE_FOLDER });
  try {
    const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
    await npm(world, ["install", "--prefix", work, "--omit=dev", ...quiet, spec], INSTALL_MS);
    const version = await versionIn(work);
    if (taken.includes(version)) return null;
    await rm(join(folder, version), { recursive: true, force: true }); // of an update that did not end; nobody uses it
    await rename(work, join(folder, version));
    return version;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Leaves `kept` alone. Nothing else of this folder is used by anybody. */
export async function removeOthers(folder: string, kept: readonly string[]): Promise<void> {
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || kept.includes(entry.name) || entry.name === BASE) continue;
    await rm(join(folder, entry.name), { recursive: true, force: true });
  }
}

/** Looks whether it is whole, as far as files can say. */
async function versionIn(work: string): Promise<string> {
  const root = versionRoot(work, ".");
  const parsed = parseJson((await readSmall(join(root, "package.json"))) ?? "", { maxChars: 65_536, maxDepth: 20 });
  const manifest = parsed.ok ? recordOf(parsed.value) : {};
  const version = textOf(manifest["version"]);
  const isWhole = ["bin/pi-gw", "dist/main.js", "dist/version"].every((file) => existsSync(join(root, file)));
  if (manifest["name"] !== PACKAGE || !VERSION_NAME.test(version) || !isWhole)
    throw failed("That is no package of pi-gateway that can be updated to.");
  return version;
}

async function npm(world: CliWorld, args: readonly string[], withinMs: number): Promise<string> {
  const program = Bun.which("npm", { PATH: world.environment.path });
  if (program === null) throw failed("npm was not found. It installs the new version; put it on the PATH.");
  const child = Bun.spawn([program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  using limit = world.clock.deadline(withinMs, () => new Error("too slow"));
  limit.signal.addEventListener("abort", () => child.kill("SIGKILL"), { once: true });
  const [output, said, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code === 0) return output;
  const why = limit.signal.aborted ? `it took longer than ${withinMs / 60_000} minutes` : said.trim();
  throw failed(`npm ${args[0]} did not work: ${why.slice(0, MAX_SAID_CHARS)}`);
}

function failed(why: string): GatewayError {
  return new GatewayError("update_failed", "the new version could not be installed", {
    say: `${why}\nNothing was changed.`,
  });
}
