/**
 * Makes dist/pi-gw: one executable with the gateway, the web console and the bridge inside. pi itself is not inside; the executable finds it beside
 * itself or on the PATH.
 */
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { refuseFailure } from "./build-failure.ts";
import { ensureDist } from "./bundle.ts";
import type { ConsoleList } from "./console-bundle.ts";

/** Names that the generated program imports; written with their types, so that the checks know that they have a user. */
const MAIN: keyof typeof import("../src/main.ts") = "main";
const LOAD_CONSOLE: keyof typeof import("../src/assets.ts") = "loadConsole";

/** Under which names the files that other programs read are put on the disk; each holds its contents' hash. */
interface PackedNames {
  readonly bridge: string;
  readonly sandbox: string;
  readonly mcpHost: string;
}

/** The program around `main`: it names every file of the web console and the SDK, so that the bundler takes them in. */
export function entryText(list: ConsoleList, names: PackedNames, sdk: readonly string[]): string {
  const files = [...Object.values(list.files), ...Object.values(list.docs)].flatMap(({ file, gzip }) =>
    gzip === undefined ? [file] : [file, gzip],
  );
  const quoted = (text: string) => JSON.stringify(text);
  return [
    'import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";',
    'import { devNull } from "node:os";',
    'import { join } from "node:path";',
    `import { ${LOAD_CONSOLE} } from "../../src/assets.ts";`,
    `import { ${MAIN} } from "../../src/main.ts";`,
    'import bridge from "../bridge.js" with { type: "file" };',
    'import preload from "../bridge.preload.js" with { type: "file" };',
    'import sandbox from "../sandbox.js" with { type: "file" };',
    'import mcpHost from "../mcp-host.js" with { type: "file" };',
    'import relay from "../sandbox.relay.js" with { type: "file" };',
    ...files.map((file, index) => `import file${index} from ${quoted(`../${file}`)} with { type: "file" };`),
    ...sdk.map((file, index) => `import sdk${index} from ${quoted(`../sdk/${file}`)} with { type: "file" };`),
    `const list = ${JSON.stringify(list)};`,
    `const paths = new Map([${files.map((file, index) => `[${quoted(file)}, file${index}]`).join(", ")}]);`,
    "// read from the disk by other programs; the name holds its contents, so an old copy is never taken for a new one",
    "async function unpacked(home, name, file) {",
    '  const path = join(home, "bridge", name);',
    "  if (existsSync(path)) return path;",
    '  mkdirSync(join(home, "bridge"), { recursive: true, mode: 0o700 });',
    "  const aside = `${path}.${process.pid}`;",
    "  writeFileSync(aside, await Bun.file(file).bytes(), { mode: 0o600 });",
    "  renameSync(aside, path);",
    "  return path;",
    "}",
    `process.exitCode = await ${MAIN}(process.argv.slice(2), {`,
    `  console: () => ${LOAD_CONSOLE}(list, (file) => paths.get(file) ?? ""),`,
    "  bridgePath: async (home) => {",
    "    // what runs before pi is found beside the bridge, by its name",
    `    await unpacked(home, ${quoted(names.bridge.replace(/\.js$/, ".preload.js"))}, preload);`,
    `    return unpacked(home, ${quoted(names.bridge)}, bridge);`,
    "  },",
    `  sdk: async () => new Map([${sdk.map((file, index) => `[${quoted(file)}, sdk${index}]`).join(", ")}]),`,
    `  mcpHostPath: (home) => unpacked(home, ${quoted(names.mcpHost)}, mcpHost),`,
    "  sandboxPath: async (home) => {",
    "    // the launcher finds the relay beside itself, by its name",
    `    await unpacked(home, ${quoted(names.sandbox.replace(/\.js$/, ".relay.js"))}, relay);`,
    `    return unpacked(home, ${quoted(names.sandbox)}, sandbox);`,
    "  },",
    "  // an agent can write bunfig.toml and tsconfig.json into its folder; they must not run code in the next agent",
    "  bun: [process.execPath, '--no-env-file', '--no-install', `--config=${devNull}`, `--tsconfig-override=${devNull}`],",
    '  bunEnv: { BUN_BE_BUN: "1" },',
    "});",
    "",
  ].join("\n");
}

async function sdkNames(dist: string): Promise<readonly string[]> {
  const { files }: { files: string[] } = await Bun.file(join(dist, "sdk", "package.json")).json();
  return ["package.json", ...files];
}

async function build(root: string): Promise<string> {
  await ensureDist(root);
  const dist = join(root, "dist");
  const folder = join(dist, `.compile-${process.pid}`);
  const list: ConsoleList = await Bun.file(join(dist, "console.json")).json();
  const hashedName = async (...files: readonly string[]): Promise<string> => {
    const hash = new Bun.CryptoHasher("sha256");
    for (const file of files) hash.update(await Bun.file(join(dist, file)).bytes());
    return `${hash.digest("hex").slice(0, 16)}.js`;
  };
  const names = {
    bridge: await hashedName("bridge.js", "bridge.preload.js"),
    sandbox: await hashedName("sandbox.js", "sandbox.relay.js"),
    mcpHost: await hashedName("mcp-host.js"),
  };
  mkdirSync(folder, { recursive: true });
  try {
    await Bun.write(join(folder, "entry.ts"), entryText(list, names, await sdkNames(dist)));
    const result = await Bun.build({
      entrypoints: [join(folder, "entry.ts")],
      target: "bun",
      minify: { syntax: true, whitespace: true },
      external: ["@earendil-works/*"],
      bytecode: true, // nothing is parsed at the start, which takes half as long
      format: "esm",
      splitting: true,
      compile: { outfile: join(dist, "pi-gw"), autoloadDotenv: false, autoloadBunfig: false, autoloadTsconfig: false },
      throw: false,
    });
    refuseFailure(result);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return join(dist, "pi-gw");
}

if (import.meta.main) {
  const made = await build(dirname(import.meta.dir));
  console.log(`${made} (${Math.round(Bun.file(made).size / 1024 / 1024)} MB)`);
}
