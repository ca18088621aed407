/** Reads the project's files for the house rules, and checks what is not TypeScript: versions, lock file, stray machine paths. */
import { join } from "node:path";
import { source, type Source } from "./house-source.ts";

export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const CODE = "{src,bridge,console,scripts,test,verification,bin}/**/*.{ts,tsx,mts,mjs}";
const TEXT = "{src,bridge,console,scripts,test,verification,bin,docs,examples,.ci,.github}/**/*";
const ROOT_TEXT = "*.{md,json,jsonc,toml}";
const BINARY = /\.(png|jpg|gif|webp|ico|woff2|db)$/;
const MACHINE_PATH = new RegExp(`(?:^|[\\s"'\`(=:])/(?:${["work", "tmp/pi"].join("|")})(?:[/-]|\\b)`);

/** Examples follow rules of their own; they count as users of the rest. */
export const readExamples = (root: string): Promise<Source[]> => readSources(root, "examples/**/*.ts");

export async function readSources(root: string, glob = CODE): Promise<Source[]> {
  const paths = [...new Bun.Glob(glob).scanSync({ cwd: root })].toSorted();
  return Promise.all(paths.map(async (path) => source(path, await Bun.file(join(root, path)).text())));
}

/** Everything people read, the lock file aside. */
export async function readProject(root: string): Promise<ProjectFile[]> {
  const paths = [TEXT, ROOT_TEXT].flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: root, dot: true })]);
  const readable = paths.filter((path) => !BINARY.test(path) && path !== "package-lock.json").toSorted();
  return Promise.all(readable.map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() })));
}

export function looseVersions(packageJson: string): string[] {
  const parsed: Record<string, Record<string, string> | undefined> = JSON.parse(packageJson);
  const all = { ...parsed.dependencies, ...parsed.devDependencies, ...parsed.optionalDependencies };
  return Object.entries(all).flatMap(([name, version]) =>
    /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) ? [] : [`${name}: ${version}`],
  );
}

/** Download addresses tie a lock file to one registry. Funding links are harmless. */
export function lockAddresses(lock: string): string[] {
  return lock.split("\n").filter((line) => /"resolved"\s*:|:\/\/[^"]*registry/.test(line));
}

/** An optional package that the lock file names but does not describe (a build for another system, not published) stops `npm ci` everywhere. */
export function missingFromLock(lock: string): string[] {
  const { packages }: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } =
    JSON.parse(lock);
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    ),
  );
}

export function machinePaths(files: readonly ProjectFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => (MACHINE_PATH.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}
