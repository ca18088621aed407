/** The bridge that agents of tests load: the built one where it is as new as its sources, because pi would compile those at every start. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..", "..");

export function bridgePath(): string {
  const sources = join(ROOT, "bridge");
  const built = join(ROOT, "dist", "bridge.js");
  const changed = readdirSync(sources).map((name) => statSync(join(sources, name)).mtimeMs);
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAt > Math.max(...changed) ? built : join(sources, "index.ts");
}
