/** ARCHITECTURE.md tells the truth about names: every file and folder it mentions is there, and every function it names is in one of them. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const PATH = /^[\w.-]+(?:\/[\w.-]+)*\/?$/;
/** Of the state directory, not of the project. */
const STATE: readonly string[] = ["run/agents/", "sessions/"];

/** Paths with a folder in them, each with the folder of its table row: names in a row are seen from there. */
function mentioned(): readonly (readonly [path: string, from: string])[] {
  return text.split("\n").flatMap((line) => {
    const [, from = ""] = /^\| `([\w/]+\/)`/.exec(line) ?? [];
    const names = [...line.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    const paths = names.filter((name) => PATH.test(name) && name.includes("/") && /\/$|\.\w+$/.test(name));
    return paths.filter((path) => !STATE.includes(path)).map((path) => [path, from] as const);
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

/** `name` of `file.ts`: a function, and where it is. */
const named = [...text.matchAll(/`(\w+)` of `([\w./-]+\.ts)`/g)].map(
  ([, name = "", file = ""]) => [name, file] as const,
);

test.each(named)("%s is a name in %s", (name, file) => {
  const path = existsSync(join(root, "src", file)) ? join(root, "src", file) : join(root, file);
  expect(readFileSync(path, "utf8")).toMatch(new RegExp(`\\b${name}\\b`));
});
