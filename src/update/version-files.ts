/**
 * The files in `versions/` of a state directory by which the launcher chooses a version. Each is one line that a shell can read, put in place by
 * a rename. `current`: which version runs, over which installed package. `trial`: a new version takes over with the next start, and the old one
 * again after that unless the new one removed the file. `started`: the launcher has started the new one.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { UpdateOutcome } from "../contracts/update.ts";
import { readPrivateJson, writePrivateJson } from "../store/index.ts";

/** The version that npm installed, which the launcher is part of. */
export const BASE = "base";

const VERSION_NAME = /^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$/;
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const MAX_OUTCOME_CHARS = 4_096;

export interface Trial {
  /** `BASE` or a version. */
  readonly before: string;
  readonly next: string;
  /** The version of the installed package. Another one in its place makes the line void. */
  readonly over: string;
  readonly switchedAt: number;
}

export interface VersionFiles {
  readonly folder: string;
  /** Whether the next start uses another version than the one before. */
  hasTrial(): boolean;
  /** Null: there is none, or it cannot be understood. */
  trial(): Trial | null;
  hasStarted(): boolean;
  /** Null: that of npm. */
  current(): { readonly version: string; readonly over: string } | null;
  /** The one step that switches: from here on a start tries the new version. */
  beginTrial(trial: Trial): void;
  /** The one step after which the new version stays. */
  endTrial(): void;
  setCurrent(version: string, over: string): void;
  outcome(): UpdateOutcome | null;
  writeOutcome(outcome: UpdateOutcome): void;
  /** What the new version said about its failed start. */
  failure(): string | null;
  writeFailure(why: string): void;
}

/** The folder of the package, as the launcher finds it. */
export function versionRoot(folder: string, version: string): string {
  return join(folder, version, "node_modules", "pi-gateway");
}

function isVersionName(text: string): boolean {
  return VERSION_NAME.test(text) && text !== BASE;
}

export function versionFiles(home: string): VersionFiles {
  const folder = join(home, "versions");
  const path = (name: string): string => join(folder, name);
  const drop = (name: string): void => rmSync(path(name), { force: true });
  return {
    folder,
    hasTrial: () => existsSync(path("trial")),
    trial: () => trialOf(wordsOf(path("trial"))),
    hasStarted: () => existsSync(path("started")),
    current() {
      const [version = "", over = ""] = wordsOf(path("current"));
      return isVersionName(version) && over !== "" ? { version, over } : null;
    },
    beginTrial({ before, next, over, switchedAt }) {
      drop("started"); // of a trial that is long over
      drop("failure");
      writeLine(folder, "trial", `${before} ${next} ${over} ${switchedAt}`);
    },
    endTrial() {
      drop("trial");
      drop("started");
      syncFolder(folder);
    },
    setCurrent(version, over) {
      if (version === BASE) drop("current");
      else writeLine(folder, "current", `${version} ${over}`);
    },
    outcome: () => outcomeOf(readPrivateJson(path("outcome.json"), MAX_OUTCOME_CHARS)),
    writeOutcome: (outcome) => writePrivateJson(path("outcome.json"), outcome),
    failure: () => (existsSync(path("failure")) ? readFileSync(path("failure"), "utf8").trim() || null : null),
    writeFailure: (why) => writeLine(folder, "failure", why.replaceAll(/\s+/g, " ")),
  };
}

function trialOf([before = "", next = "", over = "", at = ""]: readonly string[]): Trial | null {
  const switchedAt = Number(at);
  const isWhole = (before === BASE || isVersionName(before)) && isVersionName(next) && over !== "";
  return isWhole && Number.isSafeInteger(switchedAt) ? { before, next, over, switchedAt } : null;
}

function outcomeOf(value: unknown): UpdateOutcome | null {
  if (typeof value !== "object" || value === null) return null;
  const { from, to, at, kind, why } = value as Record<string, unknown>;
  if (typeof from !== "string" || typeof to !== "string" || typeof at !== "number") return null;
  if (kind !== "updated" && kind !== "returned") return null;
  return { from, to, at, kind, why: typeof why === "string" ? why : null };
}

function wordsOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trim().split(/\s+/);
  } catch {
    return []; // not there, or not for us: both mean that it says nothing
  }
}

function writeLine(folder: string, name: string, line: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const draft = join(folder, `.${name}.new`);
  const handle = openSync(draft, "w", PRIVATE_FILE);
  try {
    writeFileSync(handle, `${line}\n`); // all of it, or an error
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, join(folder, name));
  syncFolder(folder);
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
