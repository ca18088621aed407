/** Where the pi to run is. Looks in a fixed order and keeps a reason for every place it passed over, so that `doctor` can show them. */
import { type Stats, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../config/index.ts";

interface FindPiOptions {
  /** agent.piPath */
  readonly piPath: string | undefined;
  /** The gateway's own executable; a packaged gateway carries pi beside it. */
  readonly execPath: string;
  readonly environment: Pick<Environment, "path" | "piPath">;
  /** How Bun is run, for a pi that is a script. */
  readonly bun: readonly string[];
}

type PiCommand =
  | {
      readonly kind: "found";
      readonly argv: readonly string[];
      readonly file: string;
      readonly looked: readonly Looked[];
    }
  | { readonly kind: "missing"; readonly say: string; readonly looked: readonly Looked[] };

interface Looked {
  readonly where: string;
  readonly result: string;
}

type Check =
  | { readonly ok: true; readonly argv: readonly string[]; readonly file: string }
  | { readonly ok: false; readonly why: string };

const PACKAGE = "@earendil-works/pi-coding-agent";
const ENTRY = join("dist", "bundle", "rpc-entry.js");
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

export function findPi(options: FindPiOptions): PiCommand {
  const looked: Looked[] = [];
  const named = namedPi(options);
  for (const [where, look] of candidates(options, named)) {
    const check = look();
    looked.push({ where, result: check.ok ? `found ${check.file}` : check.why });
    if (check.ok) return { kind: "found", argv: check.argv, file: check.file, looked };
    // A path the owner has named is meant: falling back to another pi would hide the mistake.
    if (named) return { kind: "missing", say: `${named.by} cannot be used: ${check.why}.`, looked };
  }
  return {
    kind: "missing",
    say: "The pi agent was not found. Install the gateway's dependencies, or set agent.piPath.",
    looked,
  };
}

interface NamedPi {
  readonly path: string;
  /** The setting or the variable. */
  readonly by: string;
}

function namedPi({ piPath, environment }: FindPiOptions): NamedPi | null {
  if (piPath !== undefined) return { path: piPath, by: "agent.piPath" };
  return environment.piPath === null ? null : { path: environment.piPath, by: "PI_GATEWAY_PI" };
}

function candidates(options: FindPiOptions, named: NamedPi | null): readonly [string, () => Check][] {
  const { bun } = options;
  if (named) return [[`${named.by} (${named.path})`, () => checkNamed(named.path, bun)]];
  const beside = dirname(options.execPath);
  const above = join(dirname(beside), "node_modules"); // of a checkout that runs from dist/
  return [
    [`the installed package ${PACKAGE}`, () => checkInstalled(bun)],
    [join(beside, "node_modules", PACKAGE), () => checkFile(join(beside, "node_modules", PACKAGE, ENTRY), bun)],
    [join(above, PACKAGE), () => checkFile(join(above, PACKAGE, ENTRY), bun)],
    [join(beside, "pi"), () => checkFile(join(beside, "pi"), bun)],
    ["pi on PATH", () => checkPath(options.environment.path, bun)],
  ];
}

function checkInstalled(bun: readonly string[]): Check {
  try {
    return checkFile(Bun.fileURLToPath(import.meta.resolve(`${PACKAGE}/rpc-entry`)), bun);
  } catch {
    return { ok: false, why: "not installed" }; // resolve throws when there is no such package
  }
}

function checkPath(path: string, bun: readonly string[]): Check {
  const found = Bun.which("pi", { PATH: path });
  return found ? checkFile(found, bun) : { ok: false, why: "there is none" };
}

/** The owner may name the executable, the package folder, or the entry file. */
function checkNamed(path: string, bun: readonly string[]): Check {
  if (statOf(path)?.isDirectory()) return checkFile(join(path, ENTRY), bun);
  return checkFile(path, bun);
}

function checkFile(path: string, bun: readonly string[]): Check {
  const stat = statOf(path);
  if (!stat) return { ok: false, why: `${path} does not exist` };
  const file = realpathSync(path);
  if (!stat.isFile()) return { ok: false, why: `${file} is not a file` };
  const open = tooOpen(file, stat.mode);
  if (open) return { ok: false, why: open };
  return { ok: true, file, argv: commandFor(file, bun) };
}

/** Whoever can change this file can act as the gateway. Package managers make files writable by the owner's group; that much is taken. */
function tooOpen(file: string, mode: number): string | null {
  if ((mode & WRITABLE_BY_ALL) !== 0) return `${file} can be changed by every user of this machine (chmod o-w it)`;
  const folder = lstatSync(dirname(file));
  if ((folder.mode & WRITABLE_BY_ALL) !== 0 && (folder.mode & STICKY) === 0) {
    return `the folder of ${file} can be changed by every user of this machine (chmod o-w it)`;
  }
  return null;
}

/** A script runs under our Bun; pi's own command line is swapped for the entry made for pipes, which is smaller. */
function commandFor(file: string, bun: readonly string[]): readonly string[] {
  if (file.endsWith("rpc-entry.js")) return [...bun, file];
  const entry = join(dirname(file), "rpc-entry.js");
  if (file.endsWith(join("dist", "bundle", "cli.js")) && statOf(entry)?.isFile()) return [...bun, entry];
  if (/\.(js|mjs|ts)$/.test(file)) return [...bun, file, "--mode", "rpc"];
  return [file, "--mode", "rpc"];
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}
