/** Errors of plugins as their author sees them: each names the file and line of the author's own file, however it came about. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { type PluginText, pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** The body begins in line 2. */
const AT_LOAD: readonly (PluginText & { readonly at: string; readonly says: string })[] = [
  { id: "syntax", body: "  const a = ;", at: "index.ts:2:", says: "Unexpected ;" },
  {
    id: "syntax-below",
    body: "  return used;",
    files: {
      "index.ts": 'import { used } from "./lib/below.ts";\nexport default () => used;\n',
      "lib/below.ts": "export const used = 1;\n\n}\n",
    },
    at: "lib/below.ts:3:",
    says: "Unexpected }",
  },
  {
    id: "no-import",
    body: "",
    files: { "index.ts": '\nimport { gone } from "./gone.ts";\nexport default () => gone;\n' },
    at: "index.ts:2:",
    says: "gone.ts",
  },
  { id: "thrower", body: '\n  throw new Error("no luck today");', at: "index.ts:3:", says: "no luck today" },
  { id: "slip", body: "  const nothing = [];\n  nothing[0].toString();", at: "index.ts:3:", says: "undefined" },
  {
    id: "wrong-tool",
    body: '\n\n  api.registerTool({ name: "x", parameters: {} });',
    at: "index.ts:4:",
    says: "description",
  },
  {
    id: "service",
    body: '  api.registerService({ name: "s", async start() {\n    throw new Error("cannot start");\n  } });',
    at: "index.ts:3:",
    says: "cannot start",
  },
  ...inJavaScript(
    ["syntax-js", "export default (api) => {\n  const a = ;\n};\n", "index.js:2:", "Unexpected ;"],
    [
      "thrower-js",
      '\n\nexport default () => {\n  throw new Error("no luck today");\n};\n',
      "index.js:4:",
      "no luck today",
    ],
  ),
];

type JavaScript = readonly [id: string, text: string, at: string, says: string];

function inJavaScript(...plugins: readonly JavaScript[]): typeof AT_LOAD {
  return plugins.map(([id, text, at, says]) => ({
    id,
    body: "",
    manifest: { main: "index.js" },
    files: { "index.js": text },
    at,
    says,
  }));
}

const FAILING_TOOL = `
  api.registerTool({
    name: "breaks",
    description: "Fails. For tests.",
    parameters: { type: "object", properties: {} },
    execute: async () => {
      return helper();
    },
  });
  function helper() {
    throw new TypeError("it broke");
  }
  api.registerHook("after_tool_call", ({ tool }) => {
    if (tool === "list_tasks") throw new Error("the hook broke");
  });`;

const FAILING_JAVASCRIPT = `export default (api) => {
  api.registerTool({
    name: "breaks_js",
    description: "Fails. For tests.",
    parameters: { type: "object", properties: {} },
    execute: async () => helper(),
  });
};

const helper = () => null.x;
`;

let home: TempHome;
let gateway: GatewayProcess;

beforeAll(async () => {
  home = await tempHome();
  for (const plugin of AT_LOAD) await putPlugin(home.path, plugin);
  await putPlugin(home.path, { id: "tooling", body: FAILING_TOOL });
  const files = { "index.js": FAILING_JAVASCRIPT };
  await putPlugin(home.path, { id: "tooling-js", body: "", manifest: { main: "index.js" }, files });
  const enabled = [...AT_LOAD.map(({ id }) => id), "tooling", "tooling-js"];
  const config = { plugins: { enabled }, agent: { pool: { min: 0, max: 1 } } };
  gateway = await startGatewayProcess({ home: home.path, config });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const log = (): string => {
  const folder = join(home.path, "logs");
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ name }) => readFileSync(join(folder, name), "utf8")).join("");
};

async function call(tool: string): Promise<string> {
  const body = JSON.stringify({ tool, params: {} });
  const headers = { "content-type": "application/json" };
  const response = await gateway.fetch("/api/tools/call", { method: "POST", headers, body });
  return ((await response.json()) as { error?: { message: string } }).error?.message ?? "";
}

describe("a plugin that does not come up says where in its author's file that is:", () => {
  test.each(AT_LOAD.map(({ id, at, says }) => [id, at, says] as const))("%s, at %s", async (id, at, says) => {
    const { state, trouble } = await eventually(
      `the end of the start of ${id}`,
      async () => (await pluginsOf(gateway)).get(id) ?? { state: "absent", trouble: null },
      ({ state: now }) => now === "failed",
    );
    expect(state).toBe("failed");
    expect(trouble).toContain(says);
    expect(trouble).toContain(`${join(home.path, "plugins", id, at)}`);
    expect(trouble).not.toContain("run/plugins");
  });
});

test("a tool of a plugin that fails tells the owner file and line of the author's file, in the answer and in the log", async () => {
  expect(await call("breaks")).toMatch(/^it broke \(tooling\/index\.ts:12:\d+\)$/);
  expect(await call("breaks_js")).toMatch(/\(tooling-js\/index\.js:10:\d+\)$/);
  const at = join(home.path, "plugins", "tooling", "index.ts:12:");
  await eventually("the log line", log, (text) => text.includes(at));
});

test("a plugin hook that fails is shown with file and line of the author's file", async () => {
  await call("list_tasks");
  const trouble = await eventually(
    "the trouble of the plugin",
    async () => (await pluginsOf(gateway)).get("tooling")?.trouble ?? "",
    (seen) => seen !== "",
  );
  expect(trouble).toContain("the hook broke");
  expect(trouble).toContain(join(home.path, "plugins", "tooling", "index.ts:15:"));
});
