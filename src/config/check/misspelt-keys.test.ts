/** Every place inside a security section where a key can be misspelt, by the schema: a setting that silently does not count is a problem there. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../index.ts";
import { recordOf, rootSchema, type SchemaNode } from "../schema-node.ts";
import { joinPath } from "../../kit/schema/problem.ts";

interface Place {
  /** As a problem names it. */
  readonly path: string;
  readonly strict: boolean;
  /** The whole file with this value at the place. */
  file(value: unknown): unknown;
}

const MISSPELT = "zqzqzqzq";
const NAMES = ["alpha", "owner", "telegram:user:1", "-100", "123456789012345678"];

/** Every group of settings below this one: in groups, in entries that the owner names, in lists. */
function groupsIn(schema: SchemaNode, place: Place): readonly Place[] {
  const { path, strict, file } = place;
  const own = schema.properties && path !== "" ? [place] : [];
  const grouped = Object.entries(schema.properties ?? {}).flatMap(([key, below]) =>
    groupsIn(below, {
      path: joinPath(path, key),
      strict: strict || below.security === true,
      file: (value) => file({ [key]: value }),
    }),
  );
  const record = recordOf(schema);
  const name = NAMES.find((one) => record?.pattern.test(one)) ?? "";
  const named = record
    ? groupsIn(record.value, { path: joinPath(path, name), strict, file: (value) => file({ [name]: value }) })
    : [];
  const listed = schema.items
    ? groupsIn(schema.items, { path: `${path}[0]`, strict, file: (value) => file([value]) })
    : [];
  const either = (schema.anyOf ?? []).flatMap((one) => groupsIn(one, place));
  return [...own, ...grouped, ...named, ...listed, ...either];
}

const groups = groupsIn(rootSchema(), { path: "", strict: false, file: (value) => value }).filter(
  ({ strict }) => strict,
);

test("security sections have groups, named entries and lists of groups", () => {
  const paths = groups.map(({ path }) => path);
  expect(paths).toContain("gateway.auth");
  expect(paths).toContain("hooks.mappings.alpha");
  expect(paths.some((path) => path.includes("[0]"))).toBe(true);
});

test.each(groups)("a misspelt key in $path is a problem", ({ path, file }) => {
  const { problems, warnings } = checkConfigText(JSON.stringify(file({ [MISSPELT]: 1 })), () => undefined);
  const about = (found: typeof problems) => found.filter((one) => one.path === joinPath(path, MISSPELT)).length;
  expect([about(problems), about(warnings)]).toEqual([1, 0]);
});
