/** Puts the plugin that the conformance suite of MCP needs into a state directory. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const CONFORMANCE_PLUGIN = "conformance";

export async function putConformancePlugin(home: string): Promise<void> {
  const folder = join(home, "plugins", CONFORMANCE_PLUGIN);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const manifest = { id: CONFORMANCE_PLUGIN, version: "1.0.0", main: "index.ts", gateway: ">=0.1" };
  await writeFile(join(folder, "plugin.json"), JSON.stringify(manifest), { mode: 0o600 });
  const text = await readFile(join(import.meta.dir, "mcp-conformance-plugin.ts"), "utf8");
  await writeFile(join(folder, "index.ts"), `${text}\nexport default conformancePlugin;\n`, { mode: 0o600 });
}
