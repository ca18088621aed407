/** One running program: spawned behind its wall, its output passed on, its whole family ended with it. Knows nothing of what it says. */
import { GatewayError } from "../../contracts/errors.ts";
import type { ProgramEnd, RunningProgram } from "../../contracts/programs.ts";
import type { Launch } from "../../contracts/sandbox.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import { connectDescriptor } from "../../kit/mux/descriptor.ts";
import type { MuxStream } from "../../kit/mux/mux.ts";
import { createTail } from "../../kit/tail.ts";
import { setLimitMark } from "../process/limit-mark.ts";
import { identify, type ProcessIdentity } from "../process/proc.ts";
import { stoppable } from "../process/process.ts";
import { createProgramFinder } from "../process/program.ts";
import { redact } from "../process/redact.ts";
import { stopTree } from "../process/stop.ts";

const STDERR_KEPT_CHARS = 2_048;
/** After its end, for what it said last. */
const DRAIN_MS = 500;

interface SpawnedProgram {
  /** Marks everything that it starts. */
  readonly id: string;
  readonly launch: Launch;
  /** Blanked out in everything kept of its error output. */
  readonly secrets: readonly string[];
  output(bytes: Uint8Array): void;
  /** The program opens a stream on its connection to the gateway; null: it has no connection. */
  readonly opened: ((stream: MuxStream) => void) | null;
}

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

/** The place of the connection among the descriptors of the program. */
export const CONNECTION = 3;

export function spawnProgram(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  options: SpawnedProgram,
): RunningProgram & { readonly identity: ProcessIdentity | null } {
  const child = spawn(options);
  const identity = identify(child.pid);
  const findProgram = createProgramFinder(identity, options.launch.wrappers);
  const tail = createTail(STDERR_KEPT_CHARS * 2);
  const connection = connect(child, options);
  let stopping: Promise<void> | null = null;
  const stop = (urgent: boolean): Promise<void> => {
    stopping ??= stopTree(clock, stoppable(child, { identity, findProgram, id: options.id }), urgent).catch(
      (error: unknown) => log.error("program could not be ended", { pid: child.pid, error }),
    );
    return stopping;
  };
  const drained = Promise.all([readAll(child.stdout, options.output), readText(child.stderr, tail.push)]);
  const finish = async (): Promise<ProgramEnd> => {
    await child.exited;
    using limit = clock.deadline(DRAIN_MS, () => new Error("its output stayed open"));
    await orAborted(drained, limit.signal).catch(() => undefined); // what it started may hold the pipe; what came is enough
    const asked = stopping !== null;
    await stop(true); // whatever it had started goes with it
    connection?.close("the program has ended");
    return { detail: describe(child, redact(tail.text(), options.secrets).slice(-STDERR_KEPT_CHARS)), asked };
  };
  const ended = finish();
  return {
    pid: child.pid,
    identity,
    ended,
    write: (text) => write(child, text),
    async stop(urgent) {
      await stop(urgent);
      await ended;
    },
  };
}

function spawn({ id, launch, opened }: SpawnedProgram): Child {
  const { argv, cwd, env } = launch;
  try {
    const child = Bun.spawn([...argv], {
      cwd,
      env,
      stdio: opened === null ? ["pipe", "pipe", "pipe"] : ["pipe", "pipe", "pipe", "pipe"],
      detached: true,
    });
    setLimitMark(child.pid, id); // before it has had time to start anything
    return child;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown reason";
    throw new GatewayError("program_unusable", `a program could not be started: ${why}`, { cause });
  }
}

function connect({ stdio }: Child, { opened }: SpawnedProgram) {
  const fd = stdio[CONNECTION];
  if (opened === null) return null;
  if (typeof fd !== "number") throw new GatewayError("internal", "the program has no connection to the gateway");
  return connectDescriptor(fd, { side: "even", opened: (stream) => opened(stream), closed: () => undefined }); // its calls fail, and it says so
}

function write(child: Child, text: string): void {
  try {
    child.stdin.write(text);
    void Promise.resolve(child.stdin.flush()).catch(() => undefined); // a closed pipe shows as the program's end
  } catch {
    // the same: the program has ended and `ended` says so
  }
}

/** Never rejects: what cannot be read any more has ended. */
async function readAll(stream: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
  try {
    for await (const chunk of stream) take(chunk);
  } catch {
    // ended with the program
  }
}

function readText(stream: ReadableStream<Uint8Array>, take: (chunk: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  return readAll(stream, (chunk) => take(decoder.decode(chunk, { stream: true })));
}

function describe(child: Child, stderr: string): string {
  const how = child.signalCode ? `was ended by ${child.signalCode}` : `exited with code ${child.exitCode}`;
  return stderr.trim() === "" ? `it ${how} and wrote no error` : `it ${how}; its last words: ${stderr.trim()}`;
}
