/** Variables in a text, and how much is reported about a text that is not right. */
import { expect, test } from "bun:test";
import { checkConfigText } from "./check.ts";
import { showText } from "./problem.ts";
import { substitute } from "./substitute.ts";

const VARIABLES: Readonly<Record<string, string>> = { A: "one", B_2: "", C: "${A}", bot_token2: "small" };
const variables = (name: string): string | undefined => VARIABLES[name];

test.each([
  ["plain", { kind: "text", text: "plain", fromVariable: false }],
  ["a $ and a }", { kind: "text", text: "a $ and a }", fromVariable: false }],
  ["${A}", { kind: "text", text: "one", fromVariable: true }],
  ["<${A}${A}>", { kind: "text", text: "<oneone>", fromVariable: true }],
  ["${bot_token2}", { kind: "text", text: "small", fromVariable: true }],
  ["${B_2}", { kind: "text", text: "", fromVariable: true }],
  ["${C}", { kind: "text", text: "${A}", fromVariable: true }],
  ["$${A}", { kind: "text", text: "${A}", fromVariable: false }],
  ["$${A}${A}", { kind: "text", text: "${A}one", fromVariable: true }],
  ["${NONE}", { kind: "unset", name: "NONE" }],
  ["${A}${NONE}", { kind: "unset", name: "NONE" }],
  ["${}", { kind: "malformed" }],
  ["${2A}", { kind: "malformed" }],
  ["${A-b}", { kind: "malformed" }],
  ["${A} ${", { kind: "malformed" }],
  [`\${${"A".repeat(256)}}`, { kind: "malformed" }],
])("the text %j stands for %j", (text, found) => {
  expect(substitute(text, variables) as unknown).toEqual(found);
});

test("a text with very many problems is told with the first fifty, in the order in which they stand", () => {
  const keys = Array.from({ length: 80 }, (_, n) => `"queue${n}": 1`).join(",\n");
  const { problems } = checkConfigText(`{ "gateway": {\n${keys}\n} }`, variables);
  expect(problems).toHaveLength(50);
  expect(problems.map(({ line }) => line)).toEqual(Array.from({ length: 50 }, (_, n) => n + 2));
});

test("problems of one line are told from left to right", () => {
  const { problems } = checkConfigText('{ "gateway": { "zzz1": 1, "zzz2": 1 }, "logging": { "level": 3 } }', variables);
  const columns = problems.map(({ column }) => column);
  expect(columns.length).toBeGreaterThan(1);
  expect(columns).toEqual(columns.toSorted((a, b) => a - b));
});

test("a text that is no JSON at all is told with its first five mistakes", () => {
  const mistakes = Array.from({ length: 40 }, (_, n) => `"a${n}": `).join(", ");
  expect(checkConfigText(`{ ${mistakes} }`, variables).problems).toHaveLength(5);
});

test.each([
  ["ada@example.com", '"ada@example.com"'],
  ["https://models.example/v1", '"https://models.example/v1"'],
  ["https://ada:swordfish@models.example/v1", "(hidden)"],
])("a message about %s shows %s", (text, shown) => {
  expect(showText(text)).toBe(shown);
});

test("an agent that has nothing of its own is not warned about what all agents have", () => {
  const agent = { skills: ["/skills/birds"], tools: "chat" };
  const warned = (agents: readonly object[]) =>
    checkConfigText(JSON.stringify({ agent, agents }), variables).warnings.map(({ path }) => path);
  expect(warned([{ id: "a" }])).toEqual(["agent.skills"]);
  expect(warned([{ id: "a", tools: "chat" }])).toEqual(["agent.skills", "agents[0].skills"]);
});

test("settings of a plugin are taken as they are, with variables filled in at every depth, and no name of JavaScript's own", () => {
  const written = `{ "plugins": { "config": { "build": {
    "token": "\${A}", "list": ["<\${A}>", 5, [true, "\${A}"]], "deep": { "none": null, "text": "$\${A}" },
    "port": "5", "__proto__": { "x": 1 }, "constructor": "y"
  } } } }`;
  const { config, problems } = checkConfigText(written, variables);
  expect(problems).toEqual([]);
  expect(config?.plugins.config["build"]).toEqual({
    token: "one",
    list: ["<one>", 5, [true, "one"]],
    deep: { none: null, text: "${A}" },
    port: "5",
  });
  const unset = checkConfigText('{"plugins": {"config": {"build": {"a": ["${NOBODY}"]}}}}', variables);
  expect(unset.problems.map(({ message }) => message)).toEqual([
    "plugins.config.build uses ${NOBODY}, but that environment variable is not set. Set it, or write the value here.",
  ]);
});
