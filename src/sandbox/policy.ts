/** From the places of an agent to what its process may reach: the system's own files added, what would open the wall refused. Pure. */
import { isAbsolute, relative, sep } from "node:path";
import type { ConfinedPlaces, ProgramLimits, SandboxNetwork } from "../contracts/sandbox.ts";
import { DEVICES, SYSTEM_FILES } from "./system-files.ts";

export interface SandboxLimits extends Omit<ProgramLimits, "cpus"> {
  /** Null: all but one where there are four or more. */
  readonly cpus: number | null;
  /** Of /tmp and of /dev/shm, where these are its own. */
  readonly tempMb: number;
  readonly tempFiles: number;
  readonly inotifyInstances: number;
  readonly inotifyWatches: number;
}

/** What one program may reach; the launcher takes it as JSON. */
export interface SandboxPolicy {
  readonly stateDirectory: string;
  /** Read-only, and left out where they are missing. */
  readonly readIfThere: readonly string[];
  readonly devices: readonly string[];
  /** Read-only, and must be there. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Names only. */
  readonly list: readonly string[];
  readonly network: SandboxNetwork;
  readonly limits: SandboxLimits;
}

/** With those that nobody sets. */
function withOtherLimits({ processes, memoryMb, openFiles, fileSizeMb, cpus }: ProgramLimits): SandboxLimits {
  return {
    processes,
    memoryMb,
    openFiles,
    fileSizeMb,
    cpus: cpus ?? null,
    tempMb: 512,
    tempFiles: 65_536,
    inotifyInstances: 64,
    inotifyWatches: 32_768,
  };
}

type PolicyResult =
  { readonly ok: true; readonly policy: SandboxPolicy } | { readonly ok: false; readonly say: string };

export function sandboxPolicy(stateDirectory: string, places: ConfinedPlaces): PolicyResult {
  const named = [...places.write, ...places.read];
  const unnamed = named.find((path) => !isAbsolute(path));
  if (unnamed !== undefined) return { ok: false, say: `${unnamed} is not an absolute path.` };
  const around = named.find((path) => isInside(path, stateDirectory));
  if (around !== undefined) return { ok: false, say: containsState(around) };
  const write = outermost(places.write);
  // Whoever writes a folder can put a link in the place of what is below it, so nothing below one is opened on its own.
  const notWritten = (path: string): boolean => !write.some((folder) => isInside(folder, path));
  const readIfThere = [...SYSTEM_FILES, ...places.readIfThere].filter((path) => !isInside(path, stateDirectory));
  return {
    ok: true,
    policy: {
      stateDirectory,
      readIfThere: unique(readIfThere.filter(notWritten)),
      devices: DEVICES,
      read: unique(places.read.filter(notWritten)),
      write,
      list: unique(places.list.filter((path) => !isInside(path, stateDirectory))),
      network: places.network,
      limits: withOtherLimits(places.limits),
    },
  };
}

/** `path` is `folder`, or below it. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function outermost(folders: readonly string[]): readonly string[] {
  return unique(folders).filter((one) => !folders.some((other) => other !== one && isInside(other, one)));
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}

function containsState(path: string): string {
  return `${path} contains the state directory, so an agent that may use it could read the gateway's token. Choose a folder beside it, or set agent.sandbox to "off".`;
}
