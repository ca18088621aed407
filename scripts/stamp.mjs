// Says whether dist/ was made from the files as they are now. Looks at names, sizes and times only, so that asking costs a few
// milliseconds at every start; never reads a source file. Plain JavaScript, because Node asks before Bun runs.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";

/** What a build is made of. bin/pi-gw names the same. */
export const FOLDERS = ["src", "bridge", "console", "docs", "scripts/docs-site"];
export const FILES = [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "scripts/bundle.ts",
  "scripts/compile.ts",
  "scripts/console-bundle.ts",
  "scripts/build-failure.ts",
  "scripts/declarations.ts",
  "scripts/stamp.mjs",
  "package-lock.json",
];
const NOT_BUNDLED = /(^|\/)testing\/|\.test\.tsx?$/;

/** Where the stamp of the last complete build is kept. */
export const stampFile = (root) => join(root, "dist", ".stamp");

/** The stamp of the build that dist/gateway was made of. */
export const compiledStampFile = (root) => join(root, "dist", ".compiled");

export function currentStamp(root) {
  const hash = createHash("sha256");
  for (const file of [...FILES, ...FOLDERS.flatMap((folder) => filesBelow(root, folder))]) {
    const found = statSync(join(root, file), { throwIfNoEntry: false });
    if (found) hash.update(`${file} ${found.size} ${Math.floor(found.mtimeMs)}\n`);
  }
  return hash.digest("hex").slice(0, 32);
}

export function isFresh(root) {
  const lookedAt = Date.now();
  try {
    const fresh = readFileSync(stampFile(root), "utf8") === currentStamp(root);
    if (fresh) noteLook(root, lookedAt);
    return fresh;
  } catch {
    return false; // no stamp yet, or a file vanished while we looked: building again is the safe answer
  }
}

/** The time of the stamp says when the files were looked at: bin/pi-gw asks again only when one was touched since then. */
export function noteLook(root, lookedAt) {
  const seconds = lookedAt / 1_000 - 1; // file systems tell times less exactly
  try {
    utimesSync(stampFile(root), seconds, seconds);
  } catch {
    // an installation of somebody else: asked in full at every start
  }
}

function filesBelow(root, folder) {
  const files = [];
  for (const entry of entriesOf(join(root, folder))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files.push(...filesBelow(root, path));
    else if (!NOT_BUNDLED.test(path)) files.push(path);
  }
  return files.sort();
}

function entriesOf(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // an absent folder has no files; the build itself says what it misses
  }
}
