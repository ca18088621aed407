/** Packs the project the way `npm pack` does, and unpacks the result. Builds nothing: dist/ is packed as it is. */
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

/** Into `folder/package`, as every package of npm is made. */
export async function unpack(file: string, folder: string): Promise<string> {
  const tar = Bun.spawn(["tar", "-xzf", file, "-C", folder], { stdio: ["ignore", "ignore", "inherit"] });
  if ((await tar.exited) !== 0) throw new Error(`${file} could not be unpacked`);
  return join(folder, "package");
}
