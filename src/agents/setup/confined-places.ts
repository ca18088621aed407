/** What one agent process may reach when it is confined: its own folders to write, and what pi, the bridge and its extensions are made of to read. */
import { dirname, join } from "node:path";
import type { ConfinedPlaces, ProgramLimits, SandboxNetwork } from "../../contracts/sandbox.ts";
import type { AgentFolders } from "./agent-folder.ts";
import { packageFolder } from "./package-folder.ts";
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

export function confinedPlaces(files: ProcessFiles): ConfinedPlaces {
  const { folders, resources, temp, visits } = files;
  const { extensions, promptTemplates } = resources;
  const piPackage = packageFolder(files.pi, files.userHome);
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
      piPackage,
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
    list: [dirname(piPackage)],
    network: files.network,
    limits: files.limits,
  };
}
