/** Packs the project the way `npm pack` does, and unpacks the result. Builds nothing: dist/ is packed as it is. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const PROJECT = resolve(import.meta.dir, "../..");

export interface Packed {
  readonly file: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  /** Paths inside the package. */
  readonly paths: readonly string[];
}

interface PackReport {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** Scripts are not run: `prepack` would build, and whoever asks has a build. */
export async function pack(folder: string): Promise<Packed> {
  const npm = Bun.spawn(["npm", "pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: PROJECT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [answer, said] = await Promise.all([new Response(npm.stdout).text(), new Response(npm.stderr).text()]);
  if ((await npm.exited) !== 0) throw new Error(`npm pack failed: ${said}`);
  const [report] = JSON.parse(answer) as readonly PackReport[];
  if (!report) throw new Error(`npm pack reported nothing: ${answer}`);
  const { filename, size, unpackedSize, files } = report;
  return {
    file: join(folder, filename),
    bytes: size,
    unpackedBytes: unpackedSize,
    paths: files.map(({ path }) => path),
  };
}

/** The same package under another version, as if it were the next one. */
export async function repack(file: string, folder: string, version: string): Promise<string> {
  const work = join(folder, `repack-${version}`);
  mkdirSync(work);
  const root = await unpack(file, work);
  const edit = (name: string, change: (text: string) => string): void => {
    const before = readFileSync(join(root, name), "utf8");
    const after = change(before);
    if (after === before) throw new Error(`${name} does not say its version where it is looked for`);
    writeFileSync(join(root, name), after);
  };
  edit("package.json", (text) => text.replace(/"version": "[^"]*"/, `"version": "${version}"`));
  edit("dist/version", () => `${version}\n`);
  edit("dist/main.js", (text) => text.replace(/(name: ?"pi-gateway",\s*version: ?)"[^"]*"/, `$1"${version}"`));
  const packed = join(folder, `pi-gateway-${version}.tgz`);
  const tar = Bun.spawn(["tar", "-czf", packed, "-C", work, "package"], { stdio: ["ignore", "ignore", "inherit"] });
  if ((await tar.exited) !== 0) throw new Error(`${packed} could not be made`);
  return packed;
}

/** Into `folder/package`, as every package of npm is made. */
export async function unpack(file: string, folder: string): Promise<string> {
  const tar = Bun.spawn(["tar", "-xzf", file, "-C", folder], { stdio: ["ignore", "ignore", "inherit"] });
  if ((await tar.exited) !== 0) throw new Error(`${file} could not be unpacked`);
  return join(folder, "package");
}
