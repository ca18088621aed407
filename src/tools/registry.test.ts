/** A tool with a bad schema is quarantined: seen by operators, not offered to agents, refused when called, and no harm to the others. */
import { expect, test } from "bun:test";
import type { Tool } from "../contracts/tools/tool.ts";
import { createToolRegistry } from "./registry.ts";

const tool = (name: string, parameters: Tool["parameters"]): Tool => ({
  name,
  label: name,
  description: name,
  parameters,
  flags: { idempotent: true },
  timeoutMs: 1_000,
  execute: async () => ({ content: [] }),
});

const good = tool("good", { type: "object", properties: { text: { type: "string" } }, required: ["text"] });
const bad = tool("bad", { type: "object", properties: { text: { $ref: "https://a.example/text.json" } } });
const BECAUSE =
  "At properties/text: $ref https://a.example/text.json leads out of the schema; only # references are followed.";

test("a tool with a bad schema is listed with the reason and not offered; the others are as before", () => {
  const registry = createToolRegistry([bad, good]);
  expect(registry.list().map(({ name }) => name)).toEqual(["good"]);
  expect(registry.list().map(({ name, status, reason }) => ({ name, status, reason }))).toEqual([
    { name: "bad", status: "quarantined", reason: BECAUSE },
    { name: "good", status: "ok", reason: undefined },
  ]);
  expect(registry.get("good")?.problems({ text: "hi" })).toEqual([]);
});

test("a call of a quarantined tool is refused with the reason, whatever it sends", () => {
  expect(createToolRegistry([bad]).get("bad")?.problems({})).toEqual([`the tool cannot be used. ${BECAUSE}`]);
});

test("problems begin with the parameter they are about", () => {
  const registered = createToolRegistry([good]).get("good");
  expect(registered?.problems({ txt: 1 })).toEqual(["text: is missing; it must be a string"]);
  expect(registered?.problems([])).toEqual(["parameters: must be an object, not a list"]);
});
