/** What agents of tests load and are started by: the built files where they are as new as their sources, because those would be compiled at every start. */
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..", "..");

/** One file even where the sources are newer: a confined process can read no other. */
export function bridgePath(): string {
  return built("bridge.js", ["bridge", "src/kit", "src/kit/mux"]) ?? bundledBridge();
}

function bundledBridge(): string {
  const folder = join(ROOT, "node_modules", ".cache", "pi-gateway-tests-bridge");
  const file = join(folder, "dist", "bridge.js");
  const aside = `${file}.${process.pid}`;
  mkdirSync(join(folder, "dist"), { recursive: true });
  // as in the product: says that the bridge is a module; without it pi would compile the bridge at every start
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const source = join(ROOT, "bridge", "index.ts");
  const made = Bun.spawnSync([process.execPath, "build", source, "--target=bun", `--outfile=${aside}`]);
  if (!made.success) throw new Error(`the bridge could not be built: ${made.stderr.toString()}`);
  renameSync(aside, file);
  return file;
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
