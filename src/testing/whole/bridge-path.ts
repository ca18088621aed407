/** What agents of tests load and are started by: the built files where they are as new as their sources, because those would be compiled at every start. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..", "..");

export function bridgePath(): string {
  return built("bridge.js", ["bridge"]) ?? join(ROOT, "bridge", "index.ts");
}

/** The launcher of confined programs. */
export function sandboxPath(): string {
  const sources = ["src/sandbox", "src/sandbox/launcher"];
  return built("sandbox.js", sources) ?? join(ROOT, "src", "sandbox", "launcher", "launch.ts");
}

function built(name: string, folders: readonly string[]): string | null {
  const file = join(ROOT, "dist", name);
  const changed = folders
    .map((folder) => join(ROOT, folder))
    .flatMap((folder) => readdirSync(folder).map((source) => statSync(join(folder, source)).mtimeMs));
  const builtAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAt > Math.max(...changed) ? file : null;
}
