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
  mkdirSync(join(folder, "dist"), { recursive: true });
  // as in the product: says that the bridge is a module; without it pi would compile the bridge at every start
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  bundle("preload.ts", file.replace(/\.js$/, ".preload.js"));
  bundle("index.ts", file);
  return file;
}

function bundle(source: string, file: string): void {
  const aside = `${file}.${process.pid}`;
  const path = join(ROOT, "bridge", source);
  const made = Bun.spawnSync([process.execPath, "build", path, "--target=bun", `--outfile=${aside}`]);
  if (!made.success) throw new Error(`bridge/${source} could not be built: ${made.stderr.toString()}`);
  renameSync(aside, file);
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
