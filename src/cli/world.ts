/** What a command may touch: everything outside comes from here, so that a test can be the whole world. */
import type { Environment } from "../config/index.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { InitProbes } from "./init/init.ts";
import type { DoctorProbes } from "./doctor/probes.ts";

export interface CliWorld {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  stdout(text: string): void;
  stderr(text: string): void;
  readonly environment: Environment;
  readonly cwd: string;
  /** A person sits in front of it: prompts and colours make sense. */
  readonly isTerminal: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  /** Of the pi that this version is tested with. */
  readonly piVersion?: string;
  /** Calls back for every Ctrl-C until disposed; while somebody listens, Ctrl-C does not end the process. Default: the process's own. */
  readonly onInterrupt?: (listener: () => void) => Disposable;
  /** Runs the gateway until it is told to stop; gives the exit code. */
  start(options: StartOptions): Promise<number>;
  /** Ends the process when all that was printed is out, whatever still runs in it. */
  exit?(code: number): void;
  /** A line that a person types; null: there is nobody. Default: from the terminal. */
  readonly readLine?: () => Promise<string | null>;
  /** How to run an agent, for `doctor`; without it, doctor looks for pi but does not start it. */
  readonly assets?: AgentRun;
  /** Only tests give others. */
  readonly doctorProbes?: DoctorProbes;
  readonly initProbes?: InitProbes;
}

/** As typed; nothing is resolved yet. */
export interface StartOptions {
  readonly home: string | undefined;
  readonly port: number | undefined;
  readonly config: string | undefined;
  readonly json: boolean;
  /** On a copy of a state directory: opens everything and does nothing. */
  readonly rehearse: boolean;
}

interface AgentRun {
  bridgePath(home: string): Promise<string>;
  sandboxPath(home: string): Promise<string>;
  /** The plugin SDK: names of its files, and where they are. */
  sdk(): Promise<ReadonlyMap<string, string>>;
  readonly bun: readonly string[];
  readonly bunEnv: Readonly<Record<string, string>>;
}

/** What every command takes. */
export interface CommonFlags {
  readonly home?: string;
  readonly json?: boolean;
}

/** Ctrl-C, for commands that have something to finish first. */
export function onInterrupt(world: CliWorld, listener: () => void): Disposable {
  if (world.onInterrupt) return world.onInterrupt(listener);
  process.on("SIGINT", listener);
  return { [Symbol.dispose]: () => void process.off("SIGINT", listener) };
}
