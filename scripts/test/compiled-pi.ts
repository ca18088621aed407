/** The installed pi as one file with bytecode: a start takes a third less of a processor. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { compileScript, placeMark } from "./compile-script.ts";

const PACKAGE = "@earendil-works/pi-coding-agent";
const ENTRY = join("dist", "bundle", "rpc-entry.js");

/** Returns its entry. It lies in node_modules, so that the wall around agents is the same as for the installed one. */
export async function ensureCompiledPi(root: string): Promise<string> {
  const installed = join(root, "node_modules", PACKAGE);
  const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { version: string };
  const folder = join(root, "node_modules/.cache/pi-gateway", `pi-${version}-bun-${Bun.version}-${placeMark(root)}`);
  if (existsSync(join(folder, ENTRY))) return join(folder, ENTRY);
  const aside = `${folder}.${process.pid}`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  cpSync(join(installed, "package.json"), join(aside, "package.json"));
  await compileScript({ entry: join(installed, ENTRY), outdir: join(aside, dirname(ENTRY)) });
  rmSync(folder, { recursive: true, force: true });
  renameSync(aside, folder); // whole or not at all, also when two runs make it at once
  return join(folder, ENTRY);
}
