/** Where the state directory and the configuration file are. Looks, never creates. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import type { Environment } from "../environment/index.ts";

const CONFIG_FILE_NAME = "pi-gateway.jsonc";
const HOME_FOLDER_NAME = ".pi-gateway";

/** `--home`, else PI_GATEWAY_HOME, else ~/.pi-gateway. Always absolute; a leading `~/` is the user's home folder. */
export function resolveHome(flag: string | undefined, environment: Pick<Environment, "home" | "userHome">): string {
  const wanted = flag || environment.home;
  if (!wanted) return resolve(environment.userHome, HOME_FOLDER_NAME);
  return resolve(expandTilde(wanted, environment.userHome));
}

interface ConfigLocations {
  readonly home: string;
  /** `--config`, as written. */
  readonly flag: string | undefined;
  readonly cwd: string;
}

/** `--config`, else in the state directory, else in the working folder; null when there is none. */
export function findConfigFile({ home, flag, cwd }: ConfigLocations): string | null {
  if (flag !== undefined) return requireConfigFile(resolve(cwd, flag));
  return [join(home, CONFIG_FILE_NAME), resolve(cwd, CONFIG_FILE_NAME)].find(isThere) ?? null;
}

function requireConfigFile(path: string): string {
  if (isThere(path)) return path;
  throw new GatewayError("config_invalid", "the file given with --config does not exist", {
    fields: { path },
    say: `There is no configuration file at ${path}. Check the path given with --config, or leave --config out to use the defaults.`,
  });
}

/** Anything but "not there" counts as there: a file that cannot be read must be reported, not skipped. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOTDIR");
  }
}

function expandTilde(path: string, userHome: string): string {
  if (path === "~") return userHome;
  return path.startsWith("~/") ? join(userHome, path.slice(2)) : path;
}
