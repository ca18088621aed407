import { describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempHome } from "../testing/temp-home.ts";
import { createSourcePlaces } from "./source-places.ts";

const SOURCE = ["export function fail(): never {", '  throw new Error("no");', "}", ""].join("\n");

/** A built file whose map lies where the build puts it; `stack` is that of an error of it. */
async function builtProject() {
  const dir = await tempHome();
  mkdirSync(join(dir.path, "src"));
  writeFileSync(join(dir.path, "src", "fail.ts"), SOURCE);
  const folder = join(dir.path, "dist");
  await Bun.build({
    entrypoints: [join(dir.path, "src", "fail.ts")],
    outdir: folder,
    target: "bun",
    sourcemap: "external",
    minify: { whitespace: true, syntax: true },
  });
  const map = join(folder, "maps", "fail.js.map");
  mkdirSync(join(folder, "maps"));
  renameSync(join(folder, "fail.js.map"), map);
  const { fail } = (await import(join(folder, "fail.js"))) as { fail(): never };
  let stack = "";
  try {
    fail();
  } catch (error) {
    stack = (error as Error).stack ?? "";
  }
  return {
    folder,
    map,
    stack,
    source: join(dir.path, "src", "fail.ts"),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

describe("places in a stack", () => {
  test("are those of the sources, with line and column", async () => {
    await using built = await builtProject();
    expect(built.stack).toContain(`${built.folder}/fail.js:`); // Bun found no map by itself, or this would prove nothing
    const shown = createSourcePlaces(built.folder)(built.stack);
    expect(shown).toContain(`${built.source}:2:`);
    expect(shown).not.toContain("fail.js");
  });
  test("are known the second time without the map", async () => {
    await using built = await builtProject();
    const show = createSourcePlaces(built.folder);
    const first = show(built.stack);
    rmSync(built.map);
    expect(show(built.stack)).toBe(first);
  });
  test.each([
    ["there is no map", (file: string) => rmSync(file)],
    ["the map is broken", (file: string) => writeFileSync(file, "{")],
    ["the map knows nothing", (file: string) => writeFileSync(file, '{"version":3,"sources":[],"mappings":""}')],
  ])("stay as they are when %s", async (_case, harm) => {
    await using built = await builtProject();
    harm(built.map);
    expect(createSourcePlaces(built.folder)(built.stack)).toBe(built.stack);
  });
  test("of files of others stay as they are", async () => {
    await using built = await builtProject();
    const stack = "    at run (/somewhere/else/fail.js:2:9)";
    expect(createSourcePlaces(built.folder)(stack)).toBe(stack);
  });
});
