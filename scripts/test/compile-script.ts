/**
 * Makes one file with bytecode of a program of many modules, for processes that tests start by the hundred: the same code, parsed once for all of
 * them. Not for users: a process holds what was compiled in memory, 10 MB and more. Refuses what Bun makes no bytecode of.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { refuseFailure } from "../build-failure.ts";

interface ScriptOptions {
  readonly entry: string;
  readonly outdir: string;
  /** Packages that are not to be in it. */
  readonly external?: readonly string[];
  /** What the text of a file has to be instead; as it is, when this gives nothing. */
  readonly edit?: (path: string, text: string) => string;
}

const FIRST_LINE = /^#!.*\n/;

/** A copy of a project needs its own: what was compiled names places in the one it was compiled in, which agents of the other may not read. */
export function placeMark(root: string): string {
  return Bun.hash(root).toString(36);
}

export async function compileScript({ entry, outdir, external = [], edit }: ScriptOptions): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir,
    target: "bun",
    format: "cjs", // Bun has no bytecode of modules outside of executables
    bytecode: true,
    minify: { syntax: true, whitespace: true }, // names stay: errors are told apart by them
    external: [...external],
    plugins: [asScript(dirname(entry), edit ?? ((_path, text) => text))],
    throw: false,
  });
  refuseFailure(result);
  if (!existsSync(join(outdir, `${basename(entry)}.jsc`))) throw new Error(`Bun made no bytecode of ${entry}`);
}

/** Scripts have no `import.meta`: what it says of a module is written in its place, with the folder of the file that was compiled. */
function asScript(folder: string, edit: (path: string, text: string) => string): Bun.BunPlugin {
  return {
    name: "modules as a script",
    setup(build) {
      const below = new RegExp(`^${folder.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")}[\\\\/].*\\.js$`);
      build.onLoad({ filter: below }, async ({ path }) => {
        const place = JSON.stringify(dirname(path));
        const text = edit(path, (await Bun.file(path).text()).replace(FIRST_LINE, ""))
          .replaceAll("import.meta.resolve(", `((name) => Bun.pathToFileURL(Bun.resolveSync(name, ${place})).href)(`)
          .replaceAll("import.meta.require", "require")
          .replaceAll("import.meta.dir", place);
        return { contents: text, loader: "js" };
      });
    },
  };
}
