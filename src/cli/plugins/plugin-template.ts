/** The files of a new plugin: a tool that works, a test of it, and what an editor needs to know. Pure. */

interface TemplateOptions {
  readonly id: string;
  readonly language: "ts" | "js";
  readonly gatewayVersion: string;
}

/** By name, in the order in which a person would read them. */
export function pluginTemplate({ id, language, gatewayVersion }: TemplateOptions): ReadonlyMap<string, string> {
  const [major = "0", minor = "0"] = gatewayVersion.split(".");
  const tool = id.replaceAll("-", "_");
  const manifest = {
    id,
    version: "1.0.0",
    main: `index.${language}`,
    gateway: `>=${major}.${minor}`,
    description: "Says how often a word has a letter.",
    config: { type: "object", properties: {}, additionalProperties: false },
  };
  return new Map([
    ["plugin.json", json(manifest)],
    [`index.${language}`, language === "ts" ? TYPESCRIPT(tool) : JAVASCRIPT(tool)],
    [`index.test.${language}`, TEST(tool, language)],
    ["tsconfig.json", json(tsconfig(language))],
    ["bun-test.d.ts", BUN_TEST],
  ]);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** For editors and `tsc`; the gateway reads none of it. */
function tsconfig(language: "ts" | "js") {
  return {
    compilerOptions: {
      target: "ESNext",
      module: "ESNext",
      moduleResolution: "bundler",
      lib: ["ESNext", "DOM"],
      types: [],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      resolveJsonModule: true,
      ...(language === "js" ? { allowJs: true, checkJs: true } : {}),
    },
    include: ["."],
  };
}

const BODY = (tool: string) => `  api.registerTool(
    defineTool({
      name: "${tool}",
      description: "Counts how often a letter is in a word.",
      parameters: {
        type: "object",
        properties: {
          word: { type: "string", minLength: 1, maxLength: 200 },
          letter: { type: "string", minLength: 1, maxLength: 1 },
        },
        required: ["word", "letter"],
        additionalProperties: false,
      },
      flags: { idempotent: true },
      async execute(_callId, { word, letter }) {
        const count = word.split(letter).length - 1;
        return { content: [{ type: "text", text: \`\${count}\` }] };
      },
    }),
  );`;

const TYPESCRIPT = (tool: string) => `import { defineTool, type GatewayPluginApi } from "pi-gateway/plugin";

export default function (api: GatewayPluginApi): void {
${BODY(tool)}
}
`;

const JAVASCRIPT = (tool: string) => `import { defineTool } from "pi-gateway/plugin";

/** @param {import("pi-gateway/plugin").GatewayPluginApi} api */
export default function (api) {
${BODY(tool)}
}
`;

const TEST = (tool: string, language: string) => `import { expect, test } from "bun:test";
import { openHarness } from "pi-gateway/plugin";
import manifest from "./plugin.json" with { type: "json" };
import plugin from "./index.${language}";

test("${tool} counts letters", async () => {
  await using harness = await openHarness(plugin, { manifest });
  const { text } = await harness.call("${tool}", { word: "strawberry", letter: "r" });
  expect(text).toBe("3");
});

test("${tool} refuses a call without a word", async () => {
  await using harness = await openHarness(plugin, { manifest });
  const { ok, code } = await harness.call("${tool}", { letter: "r" });
  expect({ ok, code }).toEqual({ ok: false, code: "invalid_params" });
});
`;

/** Remove it when @types/bun is installed. */
const BUN_TEST = `// The little of bun:test that index.test uses. With @types/bun installed, delete this file.
declare module "bun:test" {
  export function test(name: string, run: () => unknown): void;
  export function expect(value: unknown): { toBe(other: unknown): void; toEqual(other: unknown): void };
}
`;
