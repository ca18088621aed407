/**
 * Fetches ngircd for the tests of the IRC channel, without root: Debian's package, unpacked into node_modules/.cache. Does nothing where there
 * is one already, and says in one line how it went.
 */
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { findNgircd, NGIRCD_CACHE } from "../../src/testing/irc/ngircd.ts";

const DEADLINE_MS = 60_000;
/** Where there is no network, that shall be known soon. */
const PATIENCE = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10"];

async function run(cwd: string, command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdio: ["ignore", "ignore", "pipe"], timeout: DEADLINE_MS });
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${said.trim().split("\n").at(-1) ?? ""}`);
}

async function fetchServer(): Promise<void> {
  mkdirSync(dirname(NGIRCD_CACHE), { recursive: true });
  const folder = await mkdtemp(`${NGIRCD_CACHE}-`);
  try {
    await run(folder, ["apt-get", ...PATIENCE, "download", "ngircd", "libident"]);
    for (const name of await readdir(folder)) await run(folder, ["dpkg", "-x", name, "root"]);
    await rm(NGIRCD_CACHE, { recursive: true, force: true });
    await rename(join(folder, "root"), NGIRCD_CACHE);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  try {
    if (!findNgircd()) await fetchServer();
    console.log(`IRC server: ${findNgircd()?.path ?? "none"}`);
    return 0;
  } catch (error) {
    console.error(`No IRC server: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

if (import.meta.main) process.exit(await main());
