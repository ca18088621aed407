/** Where a command is, and which files it is made of, so that the wall can let it read those and no others. */
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { expandPath } from "../setup/paths.ts";
import { packageFolder } from "../setup/package-folder.ts";

interface FoundCommand {
  /** Absolute. */
  readonly file: string;
  /** Must be there. */
  readonly read: readonly string[];
  readonly readIfThere: readonly string[];
  /** Folders whose names may be listed. */
  readonly list: readonly string[];
}

interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly path: string;
  readonly userHome: string;
}

/** A script that an interpreter is given. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|sh)$/;

/** Null: there is no such program. */
export function findCommand({ command, args, path, userHome }: CommandOptions): FoundCommand | null {
  const file = locate(expandHome(command, userHome), path);
  if (file === null) return null;
  const real = realpathSync(file);
  const script = args.find((argument) => SCRIPT.test(argument) && isAbsolute(argument) && existsSync(argument));
  const packages = [real, ...(script === undefined ? [] : [realpathSync(script)])]
    .map((made) => packageFolder(made, userHome))
    .filter((folder) => folder !== real);
  return {
    file: isOfPackage(real) ? real : file,
    read: [file, real, ...(script === undefined ? [] : [script]), ...packages],
    readIfThere: [file, real].flatMap(installation),
    list: packages.map(dirname),
  };
}

/**
 * npm links commands into `.bin` or a `bin`. Behind the wall a link is the file itself, in whose place the script would look for its own files. Other
 * links stay as they are: what a Python environment or a program of many names does depends on the name.
 */
function isOfPackage(real: string): boolean {
  return real.split(sep).includes("node_modules");
}

function expandHome(command: string, userHome: string): string {
  return command.startsWith("~") ? expandPath(command, userHome) : command;
}

function locate(command: string, path: string): string | null {
  if (command.includes("/")) return isProgram(resolve(command)) ? resolve(command) : null;
  const folders = path.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, command)).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // not there, or not to be run
  }
}

/** Interpreters bring their libraries in `lib` beside the `bin` that they are in. */
function installation(file: string): readonly string[] {
  const folder = dirname(file);
  return basename(folder) === "bin" ? [folder, join(dirname(folder), "lib")] : [];
}
