/** The package that a file belongs to, as the wall lets programs read it. */
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";

const PACKAGES = "node_modules";
/** From a file of a package to its root. */
const MAX_LEVELS_UP = 4;

/** The outermost folder of packages that a file lies in, since packages find each other there; without one, the package itself or the file. */
export function packageFolder(file: string, userHome: string): string {
  const parts = file.split(sep);
  const first = parts.indexOf(PACKAGES);
  if (first !== -1) return parts.slice(0, first + 1).join(sep);
  let folder = dirname(file);
  for (let level = 0; level < MAX_LEVELS_UP; level++, folder = dirname(folder)) {
    if (`${userHome}${sep}`.startsWith(`${folder}${sep}`)) break; // a package.json there makes no package of everything the owner has
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  return file;
}
