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

test.each([
  ["agent.network", { agent: { network: { allow: ["a.example", "*.b.example:8443"], ask: true } } }, []],
  ["agent.network", { agent: { network: { allow: ["https://a.example"] } } }, ["agent.network.allow[0]"]],
  ["agent.network", { agent: { network: { allow: ["a.example"], ask: "yes" } } }, ["agent.network.ask"]],
  ["agent.network", { agent: { network: { allow: ["a.example"], asks: true } } }, ["agent.network.asks"]],
  ["agent.network", { agent: { network: { ask: true } } }, ["agent.network.allow"]],
  ["agent.network", { agent: { network: "some" } }, ["agent.network"]],
  ["agent.workspace", { agent: { workspace: { scop: "person" } } }, ["agent.workspace.scop"]],
  ["heartbeat.activeHours", { heartbeat: { activeHours: { start: "08:00", end: "24:00" } } }, []],
  ...["25:00", "8:00", "08:60", "24:01", "noon"].map(
    (end) =>
      [
        "heartbeat.activeHours",
        { heartbeat: { activeHours: { start: "08:00", end } } },
        ["heartbeat.activeHours.end"],
      ] as [string, object, string[]],
  ),
  [
    "session.identityLinks",
    { session: { identityLinks: { a: Array(101).fill("x:user:1") } } },
    ["session.identityLinks.a"],
  ],
  ["gateway.trustedProxies", { gateway: { trustedProxies: ["::"] } }, []],
  ["hooks.mappings", { hooks: { mappings: { b: { message: "", signed: false } } } }, ["hooks.mappings.b.message"]],
])("%s with the value in %j has problems at %j", (_setting, settings, paths) => {
  const { problems } = checkConfigText(JSON.stringify(settings), () => undefined);
  expect(problems.map(({ path }) => path)).toEqual([...paths]);
});

/** Groups of settings for whose keys an editor has no complaint, whatever they are. */
function openGroups(node: SchemaNode & { readonly additionalProperties?: boolean }, path: string): readonly string[] {
  const own = node.properties && node.additionalProperties !== false ? [path] : [];
  const below = [
    ...Object.entries({ ...node.properties, ...node.patternProperties }),
    ...(node.anyOf ?? []).map((one) => ["", one] as const),
    ...(node.items ? [["[]", node.items] as const] : []),
  ];
  return [...own, ...below.flatMap(([key, one]) => openGroups(one, `${path}.${key}`))];
}

test("an editor underlines a misspelt key in every group of settings", () => {
  expect(openGroups(rootSchema(), "config")).toEqual([]);
});

const DAY_MS = 86_400_000;
const hosts = (count: number) => Array.from({ length: count }, (_, at) => `h${at}.example`);
const long = (chars: number) => "x".repeat(chars);

test.each<[kind: string, setting: string, most: unknown, tooMuch: unknown]>([
  ["a duration", "agent.timeoutMs", 24 * DAY_MS, 24 * DAY_MS + 1],
  ["a duration in words", "agent.timeoutMs", "24d", "25d"],
  ["a duration from its minimum on", "agent.timeoutMs", 1_000, 999],
  ["a secret", "channels.telegram.botToken", "x", ""],
  ["a list of hosts", "agent.network.allow", hosts(1_000), hosts(1_001)],
  ["a workspace", "agent.workspace", `/${long(4_095)}`, `/${long(4_096)}`],
  ["a workspace with its scope", "agent.workspace.path", `/${long(4_095)}`, `/${long(4_096)}`],
  ["a path", "agent.piPath", `/${long(4_095)}`, `/${long(4_096)}`],
  ["a list of paths", "agent.skills", Array(64).fill("~/x"), Array(65).fill("~/x")],
  ["an entry of a list of paths", "agent.skills", [long(4_096)], [long(4_097)]],
])("%s (%s) takes as much as it may, and nothing beyond", (_kind, setting, most, tooMuch) => {
  const problemsWith = (value: unknown) => {
    const settings = setting.split(".").reduceRight<unknown>((below, key) => ({ [key]: below }), value);
    return checkConfigText(JSON.stringify(settings), () => undefined).problems.map(({ path }) => path);
  };
  expect(problemsWith(most)).toEqual([]);
  expect(problemsWith(tooMuch)).toEqual([Array.isArray(tooMuch) && tooMuch.length === 1 ? `${setting}[0]` : setting]);
});
