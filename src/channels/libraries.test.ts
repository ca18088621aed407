/** The libraries of platforms are large: nothing that every start loads may bring one along. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");
const LIBRARIES = /^(?:grammy|@grammyjs\/|@discordjs\/)/;

interface Reached {
  readonly files: ReadonlySet<string>;
  /** As `file → library`. */
  readonly libraries: readonly string[];
}

/** What is loaded with these files; with `lazily`, also what they load when they need it. Types are not loaded. */
function reach(from: readonly string[], lazily: boolean): Reached {
  const scanner = new Bun.Transpiler({ loader: "ts" });
  const files = new Set<string>();
  const libraries: string[] = [];
  const waiting = from.map((file) => join(ROOT, file));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const { path, kind } of scanner.scanImports(readSource(file))) {
      if (kind === "dynamic-import" && !lazily) continue;
      if (LIBRARIES.test(path)) libraries.push(`${file.slice(ROOT.length + 1)} → ${path}`);
      const next = resolve(dirname(file), path);
      if (path.startsWith(".") && next.endsWith(".ts") && existsSync(next)) waiting.push(next);
    }
  }
  return { files, libraries };
}

const sources = new Map<string, string>();
function readSource(file: string): string {
  const known = sources.get(file) ?? readFileSync(file, "utf8");
  sources.set(file, known);
  return known;
}

test("no start loads the library of a platform; opening its channel does", () => {
  const always = reach(["src/main.ts", "src/gateway.ts", "src/serve.ts", "src/cli/index.ts"], false);
  expect(always.libraries).toEqual([]);
  expect(always.files.size).toBeGreaterThan(200); // it has looked at the gateway, not at nothing
  const opened = reach(["src/builtin.ts"], true).libraries.join("\n");
  for (const library of ["grammy", "@discordjs/core", "@discordjs/rest", "@discordjs/ws"])
    expect(opened).toContain(`→ ${library}`);
});

test("reading the settings of a channel loads nothing either: its door is light", () => {
  const doors = ["src/channels/telegram/index.ts", "src/channels/discord/index.ts", "src/channels/webchat/index.ts"];
  expect(reach(doors, false).libraries).toEqual([]);
});
