/** Paths as people write them in the configuration. */
import { isAbsolute, join, resolve } from "node:path";

export function expandPath(path: string, userHome: string): string {
  if (path === "~" || path.startsWith("~/")) return join(userHome, path.slice(1));
  return isAbsolute(path) ? path : resolve(path);
}
