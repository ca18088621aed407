/** What a suite of foreign programs is, and what several of them need: versions, tables, and the tests of this project by file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Totals, totalsOf } from "../test/totals.ts";

export const ROOT = join(import.meta.dir, "..", "..");

/** Programs of others that meet the gateway. */
export interface Suite {
  /** For `--only`, and the name of its section in the page. */
  readonly name: string;
  readonly title: string;
  /** What has to be there before it can be run, as a sentence; null: all of it is. Its section stays as it is meanwhile. */
  missing?(): string | null;
  run(): Promise<SuiteReport>;
}

export interface SuiteReport {
  /** False: something failed that is not named as left out. */
  readonly ok: boolean;
  /** The section, as Markdown without its heading. */
  readonly text: string;
}

/** Of an installed package. */
export function versionOf(name: string): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")) as unknown;
  return (manifest as { readonly version: string }).version;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Runs test files of this project in a process of their own; with `group`, its tests alone. What failing ones say goes to stderr. */
export async function runTestFiles(files: readonly string[], group?: string): Promise<Totals> {
  const only = group === undefined ? [] : ["-t", `^${group} `];
  const paths = files.map((file) => `./${file}`);
  const command = [process.execPath, "--no-env-file", "test", "--timeout=120000", ...only, ...paths];
  const child = Bun.spawn(command, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const said = Bun.stripANSI(`${stdout}\n${stderr}`);
  if (exitCode !== 0) console.error(said);
  return totalsOf(said, exitCode);
}
