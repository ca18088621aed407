/**
 * The tests of a run on Postgres: every file from which the tool is reached that gives a state directory its store (`home-database.ts`), without what
 * `sqlite-only.ts` names. A file that reaches no such tool would do the same on both engines.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { LeftOut } from "./sqlite-only.ts";

interface PostgresTests {
  readonly files: readonly string[];
  /** For `--test-name-pattern`; undefined: no single test is left out. */
  readonly names: string | undefined;
  /** Lines for a person: what is left out, and why. */
  readonly leftOut: readonly string[];
}

const STORE_TOOL = "src/testing/postgres/home-database.ts";
const DATABASE_TOOL = "src/testing/postgres/database.ts";

/** Throws when something is named that is not among the tests of a store: the list is wrong then, and a test is left out that nobody meant. */
export function postgresTests(root: string, files: readonly string[], list: readonly LeftOut[]): PostgresTests {
  const reaches = createReach(root);
  const stored = files.filter((file) => reaches(file, STORE_TOOL));
  const wrong = list.flatMap((entry) => problemOf(root, stored, entry));
  if (wrong.length > 0) throw new Error(`scripts/test/sqlite-only.ts: ${wrong.join("; ")}`);
  const whole = new Set(list.filter(({ test }) => test === undefined).map(({ file }) => file));
  const sentences = list.flatMap(({ test }) => (test === undefined ? [] : [test]));
  return {
    files: stored.filter((file) => !whole.has(file)),
    names:
      sentences.length === 0
        ? undefined
        : `^(?!.*(?:${sentences.map((one) => escaped(one).replaceAll("%s", ".*")).join("|")})$)`,
    leftOut: [
      `Left out, because they are about SQLite itself: ${whole.size} files and ${sentences.length} tests of other files.`,
      ...list.map(({ file, test, reason }) => `  ${file}${test === undefined ? "" : `, "${test}"`}: ${reason}`),
    ],
  };
}

/** Whether one of these files may ask for a database on a Postgres server. */
export function needPostgres(root: string, files: readonly string[]): boolean {
  const reaches = createReach(root);
  return files.some((file) => reaches(file, DATABASE_TOOL));
}

function problemOf(root: string, stored: readonly string[], { file, test }: LeftOut): readonly string[] {
  if (!existsSync(join(root, file))) return [`there is no file ${file}`];
  if (!stored.includes(file)) return [`${file} uses no store of the testing tools`];
  if (test === undefined || readFileSync(join(root, file), "utf8").includes(JSON.stringify(test))) return [];
  return [`${file} has no test "${test}"`];
}

function escaped(sentence: string): string {
  return sentence.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Follows imports between files of the project. Types alone are no imports. */
function createReach(root: string): (from: string, to: string) => boolean {
  const transpilers = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };
  const known = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const before = known.get(file);
    if (before) return before;
    const transpiler = file.endsWith("x") ? transpilers.tsx : transpilers.ts;
    const found = transpiler
      .scanImports(readFileSync(join(root, file), "utf8"))
      .filter(({ path }) => path.startsWith(".") && /\.tsx?$/.test(path))
      .map(({ path }) => relative(root, join(root, dirname(file), path)))
      .filter((path) => existsSync(join(root, path)));
    known.set(file, found);
    return found;
  };
  return (from, to) => {
    const seen = new Set([from]);
    for (const file of seen) {
      if (file === to) return true;
      for (const next of importsOf(file)) seen.add(next); // a set that grows is walked to its new end
    }
    return false;
  };
}
