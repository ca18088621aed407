/** Programs that serve the gateway over their input and output, behind the same wall as agents. What they say is passed on unread. */
import type { MuxStream } from "../kit/mux/mux.ts";
import type { Secret } from "../kit/secret.ts";
import type { NetworkSetting } from "./egress.ts";

export interface ProgramOrder {
  /** Names its own folder: small letters, digits, `-` and `_`. Two programs of one name share the folder. */
  readonly name: string;
  /** A path, or a name that is looked for in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Besides PATH, HOME, TMPDIR and the locale. */
  readonly env: Readonly<Record<string, Secret>>;
  readonly folders: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** `machine`: that of the machine, behind the wall as well. */
  readonly network: NetworkSetting | "machine";
  /** Where its settings stand, for sentences: "mcp.servers.github". */
  readonly setting: string;
  /** Told each piece of its output. */
  output(bytes: Uint8Array): void;
}

export interface ProgramEnd {
  /** What happened, with the end of its error output, without its secrets. */
  readonly detail: string;
  /** It was asked to end. */
  readonly asked: boolean;
}

export interface RunningProgram {
  readonly pid: number;
  /** What cannot be written any more is dropped: `ended` says why. */
  write(text: string): void;
  /** Never rejects. All that it had started has ended too. */
  readonly ended: Promise<ProgramEnd>;
  /** Safe to call twice. `urgent` skips the asking. Never rejects. */
  stop(urgent: boolean): Promise<void>;
}

export interface Programs {
  /**
   * Rejects with GatewayError: `sandbox_unusable` where no wall can be built and none was given up, `program_unusable` where the command or a
   * folder is not there. Never starts a program half confined.
   */
  start(order: ProgramOrder): Promise<RunningProgram>;
}

/** A part of the gateway in a process of its own: what it holds in memory, and what goes wrong in it, is not the gateway's. */
export interface OwnProgram {
  open(head: unknown): MuxStream;
  /** Never rejects. Every stream has ended. */
  readonly ended: Promise<string>;
  stop(): void;
}

export interface OwnPrograms {
  /** `file`: a built file that Bun runs. `opened`: the program opens a stream. */
  start(file: string, opened: (stream: MuxStream, head: unknown) => void): OwnProgram;
}
