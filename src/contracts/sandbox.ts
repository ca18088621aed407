/** The wall around agent processes, as other modules see it: what it holds on this machine, and how a program is started behind it. */

/** `full`: namespaces with a view of their own. `basic`: file, call and resource limits only. `none`: no wall can be built here. */
export type SandboxTier = "full" | "basic" | "none";

/** `agent.sandbox`. */
export type SandboxSetting = "auto" | "required" | "off";

export interface SandboxReport {
  readonly tier: SandboxTier;
  /** Why it is this tier. */
  readonly because: string;
  /** What this tier does not hold, one sentence each. */
  readonly leaks: readonly string[];
  /** What an owner can do to get a better one; null: nothing. */
  readonly advice: string | null;
}

/** `open`: the machine's network. `closed`: nothing but itself, and these ports where the tier has no network of its own. */
export type SandboxNetwork = { readonly kind: "open" } | { readonly kind: "closed"; readonly ports: readonly number[] };

/** What a program may reach besides the system's own files. Absolute paths. */
export interface ConfinedPlaces {
  /** Must be there. */
  readonly read: readonly string[];
  /** Read-only as well, and left out where they are missing. */
  readonly readIfThere: readonly string[];
  readonly write: readonly string[];
  /** Folders whose names may be listed, with all below them, without reading any file: Bun finds packages by listing the folders above. */
  readonly list: readonly string[];
  readonly network: SandboxNetwork;
  readonly limits: ProgramLimits;
}

/** What its programs may use up. */
export interface ProgramLimits {
  readonly processes: number;
  /** Of each program; where the gateway has a cgroup of its own, of all together. */
  readonly memoryMb: number;
  readonly openFiles: number;
  readonly fileSizeMb: number;
  /** Processors that it may use; absent: all but one where there are four or more, else all until too many run. */
  readonly cpus?: number;
}

export interface ConfinedProgram {
  /** The first is an absolute path. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Open descriptors besides 0, 1 and 2 that the program keeps. */
  readonly descriptors?: readonly number[];
  /**
   * A descriptor of a connection to the gateway. In a network of its own, a relay in front of the program opens a proxy port there, tells the
   * program of it and passes everything on over this descriptor, which the program itself does not get.
   */
  readonly relay?: number;
  /** The number that all of its processes carry as a limit (RLIMIT_LOCKS). */
  readonly mark?: string;
}

/** What to spawn, in place of the program itself. */
export interface Launch {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How many processes stand between the one that is spawned and the program. */
  readonly wrappers: number;
  /** When all of it has ended, or was not started: gives back what was made for it. Absent: nothing was. */
  release?(): void;
}

export interface Wall {
  readonly report: SandboxReport;
  /** Throws `sandbox_unusable` when these places cannot be walled in, and `internal` where there is no wall. */
  confine(places: ConfinedPlaces, program: ConfinedProgram): Launch;
}

export interface Sandbox {
  /** Tries at the first call what this machine can do, and remembers it. Never rejects. */
  wall(): Promise<Wall>;
  /** What was found; null while it is not known yet. */
  report(): SandboxReport | null;
}
