/**
 * Makes dist/gateway: the gateway of this checkout as an executable that holds its code compiled, for the machine it is made on. bin/pi-gw runs it
 * for `start` when it was made of the build that is in place, and dist/main.js in every other case. Refuses to put one in place that does not run.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { refuseFailure } from "./build-failure.ts";
import { ensureDist, leanLibraries } from "./bundle.ts";
import { compiledStampFile, stampFile } from "./stamp.mjs";

/** Names that the generated program imports; written with their types, so that the checks know that they have a user. */
const MAIN: keyof typeof import("../src/main.ts") = "main";
const ASSETS: keyof typeof import("../src/assets.ts") = "sourceAssets";

const ENTRY = `import { dirname } from "node:path";
import { ${ASSETS} } from "../../src/assets.ts";
import { ${MAIN} } from "../../src/main.ts";
const assets = ${ASSETS}(dirname(process.execPath));
// agents run in this same file, so that they share its pages in memory; the variable makes it plain Bun
const bun = [process.execPath, "--no-env-file"];
process.exitCode = await ${MAIN}(process.argv.slice(2), { ...assets, bun, bunEnv: { BUN_BE_BUN: "1" } });
`;
/** Code of a start is left to the interpreter from its first line on; \`compileAsUsual\` of src/kit ends that. */
const JIT_POLICY = 8;
const START_MS = 30_000;

/** Returns the executable; made anew when dist/ is another build than the one it was made of. */
export async function ensureCompiled(root: string): Promise<string> {
  await ensureDist(root);
  const dist = join(root, "dist");
  const stamp = readFileSync(stampFile(root), "utf8");
  const place = join(dist, "gateway");
  if (existsSync(place) && readIfThere(compiledStampFile(root)) === stamp) return place;
  const folder = join(dist, `.compile-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const made = join(dist, `.gateway-${process.pid}`); // beside dist/main.js, because it looks for its files beside itself
    try {
      writeFileSync(join(folder, "entry.ts"), ENTRY);
      await compile(folder, made, null);
      const order = join(folder, "start.order");
      await runStart(made, order);
      await compile(folder, made, order);
      await runStart(made, null);
      rmSync(compiledStampFile(root), { force: true });
      renameSync(made, place);
    } finally {
      rmSync(made, { force: true });
    }
    writeFileSync(join(folder, "stamp"), stamp);
    renameSync(join(folder, "stamp"), compiledStampFile(root)); // last: what has no stamp is not run
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return place;
}

/** `order`: what a start used, which is put together at the front, so that it reads less of itself. */
async function compile(folder: string, outfile: string, order: string | null): Promise<void> {
  const result = await Bun.build({
    entrypoints: [join(folder, "entry.ts")],
    target: "bun",
    minify: { syntax: true, whitespace: true },
    external: ["@earendil-works/*"],
    plugins: [leanLibraries],
    sourcemap: "external", // the log names places in the sources
    bytecode: true,
    format: "esm",
    splitting: true,
    compile: {
      outfile,
      execArgv: ["--smol", "--no-install"],
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      bytecodeOrder: order,
      jitPolicy: JIT_POLICY,
    },
    throw: false,
  });
  refuseFailure(result);
  for (const { kind, path } of result.outputs) if (kind === "sourcemap") rmSync(path, { force: true }); // they are inside as well
  chmodSync(outfile, 0o755);
}

/** A start and a stop with a state directory of its own, without agents. Throws when either fails. `order`: where to write which code was used. */
async function runStart(executable: string, order: string | null): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "pi-gateway-compile-"));
  try {
    writeFileSync(join(home, "pi-gateway.jsonc"), '{ "agent": { "pool": { "min": 0 } } }', { mode: 0o600 });
    const child = Bun.spawn([executable, "start", "--home", home, "--port", "0", "--json"], {
      env: { PATH: process.env.PATH ?? "", HOME: home, ...(order === null ? {} : { BUN_BYTECODE_ORDER_OUT: order }) },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: START_MS,
    });
    const { value } = await child.stdout.getReader().read();
    child.kill("SIGTERM");
    const code = await child.exited;
    if (value === undefined || code !== 0)
      throw new Error(`the compiled gateway did not start (it ended with ${code})`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function readIfThere(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

if (import.meta.main) {
  await ensureCompiled(dirname(import.meta.dir)).catch((error: unknown) => {
    console.error(`The gateway was not compiled.\n${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  });
}
