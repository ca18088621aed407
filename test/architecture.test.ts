/** ARCHITECTURE.md tells the truth about names: every file, folder and function it mentions is there, and the story of a message has the order of the code. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const PATH = /^[\w.-]+(?:\/[\w.-]+)*\/?$/;
/** Of the state directory, or made by the build. */
const NOT_SOURCE = /^(?:run\/agents\/|sessions\/|dist\/)/;
/** Files that are read from top to bottom: their functions stand in the order in which the story of a message names them. */
const READ_IN_ORDER: readonly string[] = ["flow/receive.ts", "flow/turn.ts", "flow/attempt.ts"];

/** Paths with a folder in them, each with the folder of its table row: names in a row are seen from there. */
function mentioned(): readonly (readonly [path: string, from: string])[] {
  return text.split("\n").flatMap((line) => {
    const [, from = ""] = /^\| `([\w/]+\/)`/.exec(line) ?? [];
    const names = [...line.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    const paths = names.filter((name) => PATH.test(name) && name.includes("/") && /\/$|\.\w+$/.test(name));
    return paths.filter((path) => !NOT_SOURCE.test(path)).map((path) => [path, from] as const);
  });
}

function isThere(path: string, from: string): boolean {
  return [path, join("src", path), join("src", from, path)].some((one) => existsSync(join(root, one)));
}

const paths = new Map(mentioned().map(([path, from]) => [`${path} (${from})`, [path, from] as const]));

test("the page mentions many files", () => {
  expect(paths.size).toBeGreaterThan(80);
});

test.each([...paths.values()])("%s is there, seen from its row %p", (path, from) => {
  expect(isThere(path, from)).toBe(true);
});

/** `name` of `file.ts`, also over the end of a line. */
function namedIn(part: string): readonly (readonly [name: string, file: string])[] {
  return [...part.matchAll(/`(\w+)`\s+of\s+`([\w./-]+\.ts)`/g)].map(
    ([, name = "", file = ""]) => [name, file] as const,
  );
}

function codeOf(file: string): string {
  const inSource = join(root, "src", file);
  return readFileSync(existsSync(inSource) ? inSource : join(root, file), "utf8");
}

/** Where the file declares it: as a function, a constant, or a member of an object or class. -1: nowhere. */
function declarationOf(name: string, code: string): number {
  const declared = code.search(new RegExp(`\\b(?:function\\*?|const|let|class) ${name}\\b`));
  if (declared !== -1) return declared;
  return code.search(new RegExp(`^ +(?:readonly |async )*${name}(?::|,$|\\(.*\\{$)`, "m"));
}

function section(title: string): string {
  return text.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
}

test("a mention is no declaration", () => {
  const code = "const other = wanted(1);\nexport async function found() {\n  wanted(other);\n}\n";
  expect([declarationOf("wanted", code), declarationOf("found", code) > 0]).toEqual([-1, true]);
});

test.each(namedIn(text))("%s is declared in %s", (name, file) => {
  expect(declarationOf(name, codeOf(file))).not.toBe(-1);
});

describe("each story names its functions in order", () => {
  test.each([
    ["The story of a message", 30],
    ["The story of a tool call", 12],
    ["The story of a job", 10],
    ["Start", 10],
    ["Stop", 5],
    ["Recovery after kill -9", 8],
  ])("%s: at least %d of them", (title, least) => {
    expect(namedIn(section(title)).length).toBeGreaterThanOrEqual(least);
  });

  test.each(READ_IN_ORDER)("%s has them in the order of the story", (file) => {
    const code = codeOf(file);
    const told = namedIn(section("The story of a message")).flatMap(([name, where]) => (where === file ? [name] : []));
    const inFile = told.toSorted((one, other) => declarationOf(one, code) - declarationOf(other, code));
    expect(told.length).toBeGreaterThan(2);
    expect(told).toEqual(inFile);
  });
});
