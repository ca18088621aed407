/** The schema and the check agree: what a section allows can be written into a file. */
import { expect, test } from "bun:test";
import { checkConfigText } from "../check/check.ts";
import { asSchemaNode, rootSchema, type SchemaNode } from "../schema-node.ts";

/** A record, so that the compiler asks for all of them: a keyword that SchemaNode learns has to be named here as well. */
const READ: Readonly<Record<keyof SchemaNode, true>> = {
  type: true,
  properties: true,
  patternProperties: true,
  required: true,
  items: true,
  anyOf: true,
  const: true,
  default: true,
  description: true,
  minimum: true,
  maximum: true,
  minLength: true,
  maxLength: true,
  pattern: true,
  minItems: true,
  maxItems: true,
  secret: true,
  security: true,
  duration: true,
  free: true,
  expects: true,
};
/** For readers of the JSON Schema; the check refuses or reports unknown keys by its own rules. */
const FOR_EDITORS = ["additionalProperties", "$id", "title"];

function unread(node: SchemaNode, path: string): readonly string[] {
  const own = Object.keys(node).filter((keyword) => !Object.hasOwn(READ, keyword) && !FOR_EDITORS.includes(keyword));
  const below = [
    ...Object.entries({ ...node.properties, ...node.patternProperties }),
    ...(node.anyOf ?? []).map((one, at) => [`anyOf ${at}`, one] as const),
    ...(node.items ? [["[]", node.items] as const] : []),
  ];
  return [
    ...own.map((keyword) => `${path} ${keyword}`),
    ...below.flatMap(([key, one]) => unread(one, `${path}.${key}`)),
  ];
}

test("the schema says nothing in words that the check does not read", () => {
  expect(unread(rootSchema(), "config")).toEqual([]);
  expect(unread(asSchemaNode({ properties: { scope: { enum: ["a"] } } }), "config")).toEqual(["config.scope enum"]);
});

test.each(["agent", "person"])(
  "a workspace with the scope %s can be configured, for all agents and for one",
  (scope) => {
    const workspace = { path: "/srv/work", scope };
    const text = JSON.stringify({ agent: { workspace }, agents: [{ id: "clerk", workspace }] });
    const { config, problems } = checkConfigText(text, () => undefined);
    expect(problems).toEqual([]);
    expect([config?.agent.workspace, config?.agents[0]?.workspace]).toEqual([workspace, workspace] as never);
  },
);
