/**
 * The installed pi as one file with bytecode, for the processes that tests start by the hundred: the same code, parsed once for all of them. Not for
 * users: each process holds 10 MB more of memory for it. Refuses a pi whose way to find packages it does not know.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { refuseFailure } from "../build-failure.ts";

const PACKAGE = "@earendil-works/pi-coding-agent";
const FIRST_LINE = /^#!.*\n/;
const FINDS_PACKAGES = "import.meta.resolve(";

/** Returns its entry. It lies in node_modules, so that the wall around agents is the same as for the installed one. */
export async function ensureCompiledPi(root: string): Promise<string> {
  const installed = join(root, "node_modules", PACKAGE);
  const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { version: string };
  const folder = join(root, "node_modules/.cache/pi-gateway", `pi-${version}-bun-${Bun.version}`);
  const entry = join("dist", "bundle", "rpc-entry.js");
  if (existsSync(join(folder, `${entry}.jsc`))) return join(folder, entry);
  const aside = `${folder}.${process.pid}`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(join(aside, "dist"), { recursive: true });
  cpSync(join(installed, "package.json"), join(aside, "package.json"));
  await compile(join(installed, entry), join(aside, dirname(entry)));
  if (!existsSync(join(aside, `${entry}.jsc`))) throw new Error("Bun made no bytecode of pi: look at its build");
  rmSync(folder, { recursive: true, force: true });
  renameSync(aside, folder); // whole or not at all, also when two runs make it at once
  return join(folder, entry);
}

async function compile(entry: string, outdir: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir,
    target: "bun",
    format: "cjs", // Bun has no bytecode of modules outside of executables
    bytecode: true,
    minify: { syntax: true, whitespace: true }, // names stay: errors are told apart by them
    plugins: [asScript],
    throw: false,
  });
  refuseFailure(result);
}

/** Bun writes the addresses of the installed files in the place of `import.meta.url`, so pi finds its own folder. The rest of `import.meta` a script has not. */
const asScript: Bun.BunPlugin = {
  name: "pi as a script",
  setup(build) {
    build.onLoad({ filter: /[\\/]pi-coding-agent[\\/]dist[\\/]bundle[\\/].*\.js$/ }, async ({ path }) => {
      const text = (await Bun.file(path).text()).replace(FIRST_LINE, "");
      const found = `((name) => Bun.pathToFileURL(Bun.resolveSync(name, ${JSON.stringify(dirname(path))})).href)(`;
      return { contents: text.replaceAll(FINDS_PACKAGES, found), loader: "js" };
    });
  },
};
