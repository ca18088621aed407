/** Every setting of the schema is named where owners look for it: in the reference, and those with a default also in the example file. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { ConfigSchema } from "./schema.ts";

const ROOT = join(import.meta.dir, "..", "..");
const reference = readFileSync(join(ROOT, "docs/reference/config.md"), "utf8");
const example: unknown = parse(readFileSync(join(ROOT, "examples/pi-gateway.example.jsonc"), "utf8"));

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly default?: unknown;
  readonly required?: readonly string[];
}

interface Setting {
  /** As the reference writes it. */
  readonly path: string;
  /** Where it stands in the example; null: below a name or in a list that the owner makes. */
  readonly keys: readonly string[] | null;
}

function settingsOf(node: Node, path: string, keys: readonly string[] | null): readonly Setting[] {
  if (node.properties)
    return Object.entries(node.properties).flatMap(([key, one]) => {
      const isThere = !one.properties || (node.required ?? []).includes(key); // what is switched on by being there has no default
      return settingsOf(one, path === "" ? key : `${path}.${key}`, keys && isThere ? [...keys, key] : null);
    });
  const [named] = Object.values(node.patternProperties ?? {});
  const entries = node.items?.properties ? settingsOf(node.items, `${path}[]`, null) : [];
  const below = named?.properties ? settingsOf(named, `${path}.NAME`, null) : [];
  const own: Setting = { path, keys: node.default === undefined ? null : keys };
  return [own, ...entries, ...below];
}

const settings = settingsOf(ConfigSchema as unknown as Node, "", []).filter(
  ({ path }) => !["$schema", "agents", "bindings"].includes(path), // lists that are sections: their entries follow
);

function isSet(keys: readonly string[]): boolean {
  let at: unknown = example;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return true;
}

test("the reference names every setting", () => {
  expect(settings.length).toBeGreaterThan(300);
  expect(settings.map(({ path }) => path).filter((path) => !reference.includes(`\`${path}\``))).toEqual([]);
});

test("the example file sets every setting that has a default", () => {
  const missing = settings.filter(({ keys }) => keys !== null && !isSet(keys)).map(({ path }) => path);
  expect(missing).toEqual([]);
});
