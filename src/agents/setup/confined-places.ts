/** What one agent process may reach when it is confined: its own folders to write, and what pi, the bridge and its extensions are made of to read. */
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { ConfinedPlaces, ProgramLimits, SandboxNetwork } from "../../contracts/sandbox.ts";
import type { AgentFolders } from "./agent-folder.ts";
import { type Resources, skillFolders } from "./resources.ts";

interface ProcessFiles {
  readonly folders: AgentFolders;
  readonly resources: Resources;
  readonly temp: string;
  /** The sessions it works on, one at a time. */
  readonly visits: string;
  /** The executable that runs pi, and the file of pi that it runs. */
  readonly bun: string;
  readonly pi: string;
  readonly bridge: string;
  /** The owner's own home directory. */
  readonly userHome: string;
  readonly network: SandboxNetwork;
  readonly limits: ProgramLimits;
}

const PACKAGES = "node_modules";
/** From a file of a package to its root. */
const MAX_LEVELS_UP = 4;

export function confinedPlaces(files: ProcessFiles): ConfinedPlaces {
  const { folders, resources, temp, visits } = files;
  const { extensions, promptTemplates } = resources;
  return {
    write: [
      folders.workspace,
      ...folders.granted.write,
      temp,
      visits,
      folders.agentDir,
      ...(folders.ownAgentDir ? [] : [folders.home, folders.compiled]),
    ],
    read: [
      files.bun,
      packageOf(files),
      dirname(files.bridge),
      folders.promptFile,
      folders.bunConfig,
      folders.compilerConfig,
      ...promptTemplates,
      ...extensions,
    ],
    // a skill of a plugin may go at any time; of an extension that is one file, what it may import lies beside it
    readIfThere: [
      ...folders.granted.read,
      folders.transpilerCache,
      // says that the bridge is a module; without it pi would compile the bridge at every start
      join(dirname(dirname(files.bridge)), "package.json"),
      ...skillFolders(resources),
      ...extensions.flatMap((path) => [PACKAGES, "package.json"].map((name) => join(dirname(path), name))),
    ],
    list: [dirname(packageOf(files))],
    network: files.network,
    limits: files.limits,
  };
}

/** The outermost folder of packages that a file lies in, since packages find each other there; without one, the package itself or the file. */
function packageOf({ pi: file, userHome }: Pick<ProcessFiles, "pi" | "userHome">): string {
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
