/** The input schemas of real tools, for tests that must not meet only schemas we wrote ourselves. */
import { join } from "node:path";

export interface CorpusTool {
  readonly package: string;
  readonly version: string;
  readonly license: string | null;
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export async function toolCorpus(): Promise<readonly CorpusTool[]> {
  const text = await Bun.file(join(import.meta.dir, "../data/tool-schemas.jsonl")).text();
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** `@scope/server-name` → `server-name`. */
export const serverOf = (tool: CorpusTool): string => tool.package.replace(/^@[^/]*\//, "");
