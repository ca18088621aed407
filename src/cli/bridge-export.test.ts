/** The extension for somebody's own pi: tools are data in it, whatever they say. */
import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolSpec } from "../contracts/tools/tool.ts";
import { tempHome } from "../testing/temp-home.ts";
import { extensionText, refuseBroken } from "./extension-text.ts";

const spec = (name: string, description: string, parameters: object = { type: "object" }): ToolSpec => ({
  name,
  label: name,
  description,
  parameters: parameters as ToolSpec["parameters"],
});

const HOSTILE = [
  '"; globalThis.owned = true; //',
  "`${globalThis.owned = true}`",
  "*/ globalThis.owned = true; /*",
  "\u2028globalThis.owned = true\u2029",
  "</script>\\u0022\\",
  "line one\nglobalThis.owned = true",
];

describe("an exported extension", () => {
  test("registers the tools exactly as they are, and what they say is never run", async () => {
    await using home = await tempHome();
    const parameters = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"a":{"enum":["\\"`${1}"]}}}',
    ) as object;
    const specs = HOSTILE.map((text, n) => spec(`tool_${n}`, text, parameters));
    const file = join(home.path, "extension.js");
    await writeFile(file, extensionText(specs, 'http://127.0.0.1:1"; globalThis.owned = true; "'));
    const registered: ToolSpec[] = [];
    const { default: extension } = (await import(file)) as { default(pi: object): void };
    extension({ registerTool: (tool: ToolSpec) => registered.push(tool) });
    expect("owned" in globalThis).toBe(false);
    expect(registered.map(({ description }) => description)).toEqual(HOSTILE);
    expect(JSON.stringify(registered[0]?.parameters)).toBe(JSON.stringify(parameters));
  });

  test("is checked before it is written: it must parse, have one default export and import nothing", () => {
    expect(() => refuseBroken("export default function () {")).toThrow("not a program");
    expect(() => refuseBroken("export const a = 1;")).toThrow("other imports or exports");
    expect(() => refuseBroken('import "node:fs"; export default 1;')).toThrow("other imports or exports");
    expect(() => refuseBroken("export default 1;")).not.toThrow();
  });
});
