/**
 * Packages of the gateway for updates: the built gateway under another version, as npm would have installed it, with bugs and migrations on request.
 * Files are linked and not copied, so that a package takes milliseconds. Also an `npm` that installs them, so that no network is needed.
 */
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";

const PROJECT = resolve(import.meta.dir, "../..");
const DEPENDENCIES = ["bun", "@earendil-works"];
const LAUNCHER_FILES = ["bin/pi-gw", "bin/pi-gw.mjs", "scripts/bun.mjs", "scripts/docs/script-help.mjs"];
const MIGRATIONS_END = /(\bMIGRATIONS ?= ?\[firstMessage\b[^\]]*)\]/;
const FIRST_MESSAGE = /deps\.update\?\.beforeFirstMessage\(\)/;
const CHUNK = /^dist\/chunk-[^/]*\.js$/;
const THROWS = '(() => { if (!deps.update?.isRehearsal) throw new Error("a bug for the test"); })()';

/** `broken`: ends at once, but not on a copy. `fails late`: brings the database up to date and then fails. */
export type Flaw = "none" | "broken" | "fails late";

interface NextPackage {
  readonly version: string;
  /** How many tables it has more than the built gateway. */
  readonly migrations: number;
  readonly flaw: Flaw;
}

export interface Packages {
  /** The launcher of the package that npm installed, of version 1.0.0. */
  readonly launcher: string;
  /** To be put before the PATH: an `npm` that installs what `pack` returns. */
  readonly bin: string;
  /** A file for `pi-gw update --from`. */
  pack(next: NextPackage): string;
}

export function createPackages(folder: string): Packages {
  const parts = copyParts(join(folder, "parts"));
  const base = install(parts, join(folder, "base"), { version: "1.0.0", migrations: 0, flaw: "none" });
  return {
    launcher: join(base, "bin", "pi-gw"),
    bin: fakeNpm(join(folder, "bin")),
    pack(next) {
      const tree = join(folder, "packages", next.version);
      install(parts, tree, next);
      const file = join(folder, `${next.version}.tgz`);
      writeFileSync(file, tree);
      return file;
    },
  };
}

interface Parts {
  readonly folder: string;
  readonly files: readonly string[];
}

/** Copied once to the disk of the test: links do not reach from one disk to another. */
function copyParts(folder: string): Parts {
  const built = JSON.parse(readFileSync(join(PROJECT, "dist", ".files"), "utf8")) as readonly string[];
  const files = [...built.map((file) => `dist/${file}`), ...LAUNCHER_FILES];
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(PROJECT, file), join(folder, file));
  }
  return { folder, files };
}

/** Returns the folder of the package. */
function install({ folder, files }: Parts, into: string, { version, migrations, flaw }: NextPackage): string {
  const root = join(into, "node_modules", "pi-gateway");
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    linkSync(join(folder, file), join(root, file));
  }
  for (const name of DEPENDENCIES) symlinkSync(join(PROJECT, "node_modules", name), join(into, "node_modules", name));
  const change = (file: string, edit: (text: string) => string): void => {
    const text = edit(readFileSync(join(root, file), "utf8"));
    rmSync(join(root, file)); // a link: writing into it would change all packages
    writeFileSync(join(root, file), text);
  };
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "pi-gateway", version, type: "module" }));
  change("dist/version", () => `${version}\n`);
  change("dist/main.js", (text) => `${text.replace(/(name: ?"pi-gateway",\s*version: ?)"[^"]*"/, `$1"${version}"`)}`);
  if (flaw === "broken")
    change("dist/main.js", (text) => `if (!process.argv.includes("--rehearse")) process.exit(3);\n${text}`);
  const edits = [
    ...(migrations > 0 ? [{ where: MIGRATIONS_END, by: `$1, ${tables(migrations)}]` }] : []),
    ...(flaw === "fails late" ? [{ where: FIRST_MESSAGE, by: THROWS }] : []),
  ];
  for (const { where, by } of edits) {
    const file = files.find((one) => CHUNK.test(one) && readFileSync(join(root, one), "utf8").search(where) >= 0);
    if (file === undefined) throw new Error(`no file of dist/ has ${where}`);
    change(file, (text) => text.replace(where, by));
  }
  return root;
}

function tables(count: number): string {
  return Array.from(
    { length: count },
    (_, at) => `{ name: "update-test-${at}", sql: "create table update_test_${at} (value integer) strict" }`,
  ).join(", ");
}

/** Understands `npm install --prefix FOLDER … FILE`, where FILE names a prepared tree. */
function fakeNpm(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const lines = [
    "#!/bin/sh",
    "before=; into=; file=",
    'for word in "$@"; do',
    '  [ "$before" = --prefix ] && into=$word',
    "  before=$word file=$word",
    "done",
    'exec cp -al "$(cat "$file")/." "$into/"',
    "",
  ];
  writeFileSync(join(folder, "npm"), lines.join("\n"));
  chmodSync(join(folder, "npm"), 0o755);
  return folder;
}
