/** One agent process: spawned by an argument list, its pipe read to the end, its whole family ended with it. Knows nothing of turns or pools. */
import { GatewayError } from "../../contracts/errors.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Launch } from "../../contracts/sandbox.ts";
import type { Log } from "../../kit/log.ts";
import { connectDescriptor } from "../../kit/mux/descriptor.ts";
import type { MuxStream } from "../../kit/mux/mux.ts";
import { createTail } from "../../kit/tail.ts";
import { setLimitMark } from "./limit-mark.ts";
import { factsOfMarked, leftRunning } from "./marks.ts";
import {
  type ProcessFacts,
  type ProcessIdentity,
  familyOf,
  identify,
  isAlive,
  rssBytes,
  signalProcess,
} from "./proc.ts";
import { createProgramFinder, type FindProgram } from "./program.ts";
import { processorSeconds } from "./processor-time.ts";
import { redact } from "./redact.ts";
import { endFound, stopTree } from "./stop.ts";
import { type Talk, createWire } from "./wire.ts";

const STDERR_KEPT_CHARS = 4_096;
const DRAIN_MS = 500;
const MISSED_EXIT_MS = 500;
/** Between the end of the output and the exit of a process that is ending anyway. */
const OUTPUT_CLOSED_MS = 500;

interface SpawnOptions {
  /** Marks everything that the process starts, by which all of that is found when it ends. */
  readonly id: string;
  readonly launch: Launch;
  /** Blanked out in everything kept of its error output. */
  readonly secrets: readonly string[];
  /** The process opens a stream on its connection to the gateway. */
  readonly opened: (stream: MuxStream, head: unknown) => void;
}

/** The place of the connection among the descriptors of the process. */
export const CONNECTION = 3;

export interface Ended {
  readonly because: "exited" | "garbled" | "stopped";
  readonly code: number | null;
  /** What happened, with the end of the error output; for the log. */
  readonly detail: string;
}

export interface AgentProcess extends Talk {
  readonly pid: number;
  readonly identity: ProcessIdentity | null;
  /** How much memory pi itself holds; null: nobody knows. */
  memoryBytes(): number | null;
  /** Never rejects. */
  readonly ended: Promise<Ended>;
  /** Calls back when it has ended. Unlike a `then`, it can be forgotten: a process outlives thousands of turns, and each would leave one. */
  onEnded(listener: (ended: Ended) => void): Disposable;
  /** Used so far by it and everything it started. */
  processorSeconds(): number;
  /** pi itself; null: nobody knows. */
  program(): number | null;
  /** It and everything it started. */
  family(): readonly ProcessFacts[];
  /** What it started and no longer has below it, because the shell that had started it is gone. */
  leftRunning(): readonly ProcessIdentity[];
  /** Ends what was left running, but for these. Returns what is there all the same. */
  endLeftRunning(kept: readonly ProcessIdentity[]): Promise<readonly ProcessIdentity[]>;
  /** Safe to call twice. `urgent` skips the asking. Never rejects. */
  stop(urgent: boolean): Promise<void>;
}

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

export function startProcess(deps: { readonly clock: Clock; readonly log: Log }, options: SpawnOptions): AgentProcess {
  const { clock } = deps;
  const child = spawn(options);
  const tail = createTail(STDERR_KEPT_CHARS * 2);
  const log = deps.log.child({ pid: child.pid });
  const identity = identify(child.pid);
  const findProgram = createProgramFinder(identity, options.launch.wrappers);
  const connection = connect(child, options, log);
  let garbled: string | null = null;
  let stopping: Promise<void> | null = null;

  const known = { identity, findProgram, id: options.id };
  const stop = (urgent: boolean): Promise<void> => (stopping ??= endAll({ clock, log }, child, known, urgent));
  const endBecause = (why: string): void => {
    if (garbled !== null) return;
    garbled = why;
    log.warn("agent output is not understood; ending the process", { why });
    void stop(true);
  };
  const wire = createWire(log, {
    write: (line) => write(child, line),
    garbled: (why) => endBecause(`wrote ${why}`),
  });
  const output = readAll(child.stdout, (chunk) => wire.push(chunk));
  const drained = Promise.all([output, readText(child.stderr, tail.push)]);
  background(log, "end of an agent's output not dealt with", async () => {
    await output.catch(() => undefined); // what cannot be read any more has ended
    await onMute(clock, child.exited, () => identity && isAlive(identity) && endBecause(MUTE));
  });

  const finish = async (): Promise<Ended> => {
    const code = await exitCode(clock, child, drained, identity);
    using limit = clock.deadline(DRAIN_MS, () => new Error("its output stayed open"));
    await orAborted(drained, limit.signal).catch(() => undefined); // a child of its own may hold the pipe; what came is enough
    const asked = stopping !== null;
    await stop(true); // whatever it had started goes with it
    options.launch.release?.();
    const detail = describe(child, garbled, redact(tail.text(), options.secrets).slice(-STDERR_KEPT_CHARS));
    wire.close(new GatewayError("agent_exited", detail));
    connection.close("the process has ended");
    const because = garbled !== null ? "garbled" : asked ? "stopped" : "exited";
    return { because, code: child.signalCode ? null : code, detail };
  };
  const { request, send, onEvent, onDialog, onNote, onExtensionError } = wire;
  const ended = finish();
  const stopAndEnd = async (urgent: boolean): Promise<void> => {
    await stop(urgent);
    await ended; // whoever stops it may rely on everything being tidied up
  };
  return {
    pid: child.pid,
    identity,
    memoryBytes: () => rssBytes(findProgram()?.program.pid ?? child.pid),
    processorSeconds: () => processorSeconds(child.pid),
    program: () => findProgram()?.program.pid ?? null,
    // with wrappers there is a pid namespace: whatever loses its parent there goes to the last of them, and no mark has to be read
    family: () => (options.launch.wrappers > 0 ? familyOf(child.pid) : factsOfMarked(options.id)),
    ended,
    onEnded: endListeners(ended),
    stop: stopAndEnd,
    request,
    send,
    onEvent,
    onDialog,
    onNote,
    onExtensionError,
    ...leftBy(clock, findProgram, options.id),
  };
}

/** Never rejects: whoever ends a process could do nothing else with it. */
async function endAll(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  child: Child,
  known: Stopping,
  urgent: boolean,
): Promise<void> {
  try {
    await stopTree(clock, stoppable(child, known), urgent);
  } catch (error) {
    log.error("agent process could not be ended", { error });
  }
}

function leftBy(clock: Clock, findProgram: FindProgram, id: string) {
  const find = (): readonly ProcessIdentity[] => {
    const found = findProgram();
    return found ? leftRunning(found.program, id, found.wrappers) : []; // without /proc nobody knows
  };
  const endLeftRunning = (kept: readonly ProcessIdentity[]) => {
    const isKept = ({ pid, startTime }: ProcessIdentity) =>
      kept.some((one) => one.pid === pid && one.startTime === startTime);
    return endFound(clock, () => find().filter((one) => !isKept(one)));
  };
  return { leftRunning: find, endLeftRunning };
}

const MUTE = "closed its output";

/** Acts when the process has not exited soon after the end of its output: nobody will ever hear from it again. */
async function onMute(clock: Clock, exited: Promise<unknown>, act: () => unknown): Promise<void> {
  using limit = clock.deadline(OUTPUT_CLOSED_MS, () => new Error("it lives on without an output"));
  await orAborted(exited, limit.signal).catch(act);
}

function endListeners(ended: Promise<Ended>): AgentProcess["onEnded"] {
  const listeners = new Set<(ended: Ended) => void>();
  let over = false;
  void ended.then((how) => {
    over = true;
    for (const listener of listeners) listener(how);
    listeners.clear();
  });
  return (listener) => {
    if (over) void ended.then(listener);
    else listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  };
}

/** The runtime has been seen to miss the exit of a process that dies at once. Closed pipes and an empty place in the process table say the same. */
async function exitCode(
  clock: Clock,
  child: Child,
  drained: Promise<unknown>,
  identity: ProcessIdentity | null,
): Promise<number | null> {
  const told = new AbortController();
  const exited = child.exited.finally(() => told.abort(new Error("the exit was noticed")));
  const missed = drained.then(async () => {
    do await clock.sleep(MISSED_EXIT_MS, told.signal);
    while (identity !== null && isAlive(identity));
    return child.exitCode;
  });
  return Promise.race([exited, missed.catch(() => exited)]);
}

function write(child: Child, line: string): void {
  try {
    child.stdin.write(line);
    void Promise.resolve(child.stdin.flush()).catch(() => undefined); // a closed pipe shows as the process's end
  } catch {
    // the same: the process has ended and `ended` says so
  }
}

/** Its own session, so that Ctrl-C in a terminal reaches the gateway alone and running turns can end in order. */
function spawn(options: SpawnOptions): Child {
  try {
    const { argv, cwd, env } = options.launch;
    const child = Bun.spawn([...argv], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      detached: true,
    });
    setLimitMark(child.pid, options.id); // before it has had time to start anything; where that is not possible its environment has to do
    return child;
  } catch (cause) {
    options.launch.release?.();
    const why = cause instanceof Error ? cause.message : "unknown reason";
    throw new GatewayError("agent_unavailable", `pi could not be started: ${why}`, { cause });
  }
}

/** A process that closes it, or breaks its rules, is left without: its calls fail, and it says so. */
function connect({ stdio }: Child, { opened }: SpawnOptions, log: Log) {
  const fd = stdio[CONNECTION];
  if (typeof fd !== "number") throw new GatewayError("internal", "the process has no connection to the gateway");
  return connectDescriptor(fd, {
    side: "even",
    opened,
    closed: (why) => log.debug("connection of an agent closed", { why }),
  });
}

interface Stopping {
  readonly identity: ProcessIdentity | null;
  readonly findProgram: FindProgram;
  readonly id: string;
}

/** How one process is asked to end, and told to. */
export function stoppable(child: Bun.Subprocess<"pipe", "pipe", "pipe">, { identity, findProgram, id }: Stopping) {
  /** By handle where possible: safe even after the pid was reused. What stands before a confined program does not pass on the asking. */
  const kill = (signal: "SIGTERM" | "SIGKILL"): void => {
    const found = signal === "SIGTERM" ? findProgram() : null;
    if (found !== null && found.wrappers.length > 0) signalProcess(found.program, signal);
    else child.kill(signal);
  };
  return {
    pid: child.pid,
    id,
    identity,
    exited: child.exited,
    closeInput: () => void Promise.resolve(child.stdin.end()).catch(() => undefined), // already closed is as good
    kill,
  };
}

async function readAll(stream: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
  for await (const chunk of stream) take(chunk);
}

async function readText(stream: ReadableStream<Uint8Array>, take: (chunk: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}

function describe(child: Child, why: string | null, stderr: string): string {
  const how = child.signalCode ? `was ended by ${child.signalCode}` : `exited with code ${child.exitCode}`;
  const said = stderr.trim() === "" ? "it wrote no error" : `its last words: ${stderr.trim()}`;
  return why ? `pi ${why} and ${how}; ${said}` : `pi ${how}; ${said}`;
}
