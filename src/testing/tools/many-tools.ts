/** A plugin with as many tools as somebody with a dozen MCP servers has: schemas of real tools, names and descriptions of their length. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serverOf, toolCorpus } from "./tool-corpus.ts";

/** As many as one user of real servers had; their schemas and descriptions were 2.9 MB in every request. */
export const MANY_TOOLS = 923;
export const MANY_TOOLS_PLUGIN = "servers";
/** Found by its own words alone. */
export const RARE_TOOL = "periscope_raise_mast";

const MAX_NAME_CHARS = 60;
const DESCRIPTION_CHARS = 2_300;

const BODY = `import { readFileSync } from "node:fs";
export default function (api) {
  for (const tool of JSON.parse(readFileSync(new URL("./tools.json", import.meta.url), "utf8")))
    api.registerTool({
      ...tool,
      flags: { idempotent: true },
      execute: async (_id, params) => ({ content: [{ type: "text", text: tool.name + " got " + JSON.stringify(params) }] }),
    });
}
`;

interface ManyTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

async function manyTools(): Promise<readonly ManyTool[]> {
  const corpus = await toolCorpus();
  const rare: ManyTool = {
    name: RARE_TOOL,
    description: "Raises the mast of the submarine's periscope.",
    parameters: { type: "object", properties: { metres: { type: "integer" } }, required: ["metres"] },
  };
  const many = Array.from({ length: MANY_TOOLS - 1 }, (_, at): ManyTool[] => {
    const tool = corpus[at % corpus.length];
    if (!tool) return [];
    const words = `${serverOf(tool)} ${tool.name}`.replaceAll(/[^A-Za-z0-9]+/g, " ");
    const name = `${words.replaceAll(" ", "_").slice(0, MAX_NAME_CHARS)}_${at}`;
    const about = `${words}: one of many. `;
    const description = about.repeat(Math.ceil(DESCRIPTION_CHARS / about.length));
    return [{ name, description, parameters: tool.inputSchema }];
  });
  return [...many.flat(), rare];
}

/** Into the state directory of a gateway, which has to enable it. */
export async function putManyTools(home: string): Promise<void> {
  const folder = join(home, "plugins", MANY_TOOLS_PLUGIN);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const about = { id: MANY_TOOLS_PLUGIN, version: "1.0.0", main: "index.mjs", gateway: ">=0.1" };
  const files = { "plugin.json": about, "tools.json": await manyTools() };
  for (const [name, value] of Object.entries(files))
    await writeFile(join(folder, name), JSON.stringify(value), { mode: 0o600 });
  await writeFile(join(folder, "index.mjs"), BODY, { mode: 0o600 });
}
