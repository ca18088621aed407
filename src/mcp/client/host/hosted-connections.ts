/** Connections to MCP servers by the MCP host: started with the first, ended a while after the last. To its users each is a connection like any other. */
import type { OwnProgram, OwnPrograms, ProgramOrder, Programs, RunningProgram } from "../../../contracts/programs.ts";
import type { McpServerSettings } from "../../../config/index.ts";
import type { Clock } from "../../../kit/clock.ts";
import { deferred, orAborted } from "../../../kit/deferred.ts";
import type { Ids } from "../../../kit/ids.ts";
import { isObject } from "../../../kit/json.ts";
import type { MuxStream } from "../../../kit/mux/mux.ts";
import { createIdleTimer, type IdleTimer } from "../../../kit/idle-timer.ts";
import type { Connected, ServerCall, ServerResult } from "../connection.ts";
import { type ConnectionParts, type McpConnections, programOrder } from "../open-connection.ts";
import { openPeer, type Peer } from "./peer.ts";
import { errorOf, type FromHost, type HostCall, plainError, plainSettings, type ToHost } from "./wire.ts";

interface HostDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly programs: Programs;
  readonly ownPrograms: OwnPrograms;
}

interface HostOptions {
  readonly home: string;
  readonly version: string;
  /** The built host. */
  file(): Promise<string>;
}

const IDLE_MS = 10_000;
/** Of a program that is not read: the host is stuck, or the program floods. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** Its start on a busy machine included. */
const ANSWER_MS = 15_000;
const KEY_BYTES = 9;
const CANCEL = { action: "cancel" } as const;

interface World {
  readonly deps: HostDeps;
  readonly options: HostOptions;
  host: OwnProgram | null;
  /** What the host asks to be started, by the key of its connection. */
  readonly orders: Map<string, Omit<ProgramOrder, "output">>;
  /** Those that run, by the same key. */
  readonly running: Map<string, RunningProgram>;
  /** Without a connection the host is ended, and its memory with it. */
  readonly idle: IdleTimer;
}

export function createHostedConnections(deps: HostDeps, options: HostOptions): McpConnections {
  const world: World = {
    deps,
    options,
    host: null,
    orders: new Map(),
    running: new Map(),
    idle: createIdleTimer(deps.clock, { idleMs: () => IDLE_MS, unused: () => world.host?.stop() }),
  };
  return {
    open: (name) => (settings, parts, signal) => open(world, { name, settings }, parts, signal),
    [Symbol.dispose]() {
      world.idle[Symbol.dispose]();
      world.host?.stop();
    },
  };
}

async function hostOf(world: World): Promise<OwnProgram> {
  const file = await world.options.file();
  if (world.host !== null) return world.host;
  const host = world.deps.ownPrograms.start(file, (stream, head) => void startProgram(world, stream, head));
  world.host = host;
  void host.ended.then(() => {
    if (world.host === host) world.host = null;
  });
  return host;
}

async function open(
  world: World,
  { name, settings }: { readonly name: string; readonly settings: McpServerSettings },
  parts: ConnectionParts,
  signal: AbortSignal,
): Promise<Connected> {
  const { home, version } = world.options;
  const key = world.deps.ids.secret(KEY_BYTES);
  const needed = world.idle.use();
  const end = (): void => {
    world.orders.delete(key);
    needed[Symbol.dispose]();
  };
  try {
    world.orders.set(key, programOrder(name, settings));
    const host = await orAborted(hostOf(world), signal);
    const stream = host.open({});
    await isAlive(world, host, stream, signal);
    const order = { name, home, version, legacy: parts.legacy, key, settings: plainSettings(settings) };
    // whoever closes it may rely on the program being gone, whatever the host does
    const stopProgram = async (): Promise<void> => world.running.get(key)?.stop(false);
    return await connectionOf({ stream, order }, parts, { signal, end, stopProgram });
  } catch (error) {
    end();
    throw error;
  }
}

/** A host that does not even answer is stuck, by whatever a server made it read: it is ended with all its connections, and the next one is another. */
async function isAlive({ deps }: World, host: OwnProgram, stream: MuxStream, signal: AbortSignal): Promise<void> {
  using limit = deps.clock.deadline(ANSWER_MS, () => new Error("the MCP host did not answer"));
  try {
    await orAborted(stream.answer, AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    stream.abort("nobody waits for it any more");
    if (limit.signal.aborted) host.stop();
    throw error;
  }
}

interface Opening {
  readonly signal: AbortSignal;
  /** The connection is over; once or more. */
  end(): void;
  /** Never rejects. */
  stopProgram(): Promise<void>;
}

/** What waits for an answer of the host, by its number. */
interface Waiting {
  readonly call: ServerCall | null;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

async function connectionOf(
  { stream, order }: { readonly stream: MuxStream; readonly order: object },
  parts: ConnectionParts,
  { signal, end, stopProgram }: Opening,
): Promise<Connected> {
  const opened = deferred<Extract<FromHost, { kind: "opened" }>["about"]>();
  const waiting = new Map<number, Waiting>();
  const over = new AbortController();
  const closed = (why: string): void => {
    opened.reject(new Error(why));
    for (const one of waiting.values()) one.reject(new Error(why));
    waiting.clear();
    over.abort(new Error(why));
    parts.closed(why);
    end();
  };
  const peer: Peer = openPeer(stream, {
    take: (message) =>
      take(message as unknown as FromHost, { opened, waiting, parts, over, send: (reply) => peer.send(reply) }),
    over: closed,
  });
  const send = (message: ToHost): void => peer.send(message);
  send({ kind: "order", order } as ToHost);
  const stop = (): void => stream.abort("nobody waits for it any more");
  signal.addEventListener("abort", stop, { once: true });
  try {
    const { era, protocol, server, hasResources } = await orAborted(opened.promise, signal);
    const { list, call, read } = methodsOf(waiting, send);
    const close = async (): Promise<void> => {
      closeNow(stream, send);
      await stopProgram();
    };
    return { era, protocol, server, hasResources, list, call, read, close };
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function closeNow(stream: MuxStream, send: (message: ToHost) => void): void {
  send({ kind: "close" });
  stream.abort("the connection is closed"); // the host closes what hangs on it
}

interface Taking {
  readonly opened: { resolve(about: never): void; reject(error: Error): void };
  readonly waiting: Map<number, Waiting>;
  readonly parts: ConnectionParts;
  readonly over: AbortController;
  send(message: ToHost): void;
}

function take(message: FromHost, { opened, waiting, parts, over, send }: Taking): void {
  switch (message.kind) {
    case "opened":
      return opened.resolve(message.about as never);
    case "failed":
      return opened.reject(errorOf(message.error));
    case "result":
      waiting.get(message.id)?.resolve(message.value);
      return void waiting.delete(message.id);
    case "error":
      waiting.get(message.id)?.reject(errorOf(message.error));
      return void waiting.delete(message.id);
    case "progress":
      return waiting.get(message.id)?.call?.progress(message.text);
    case "question":
      return void answerQuestion(message, waiting.get(message.id)?.call ?? null, { over, send });
    case "changed":
      return parts.listChanged();
    case "heard":
      return parts.heard();
    case "closed":
      for (const one of waiting.values())
        one.reject(new Error(`The MCP server ended in the middle of the call: ${message.why}`));
      waiting.clear();
      return parts.closed(message.why);
  }
}

/** Never rejects: what nobody answers is cancelled. */
async function answerQuestion(
  { question, request }: Extract<FromHost, { kind: "question" }>,
  call: ServerCall | null,
  { over, send }: Pick<Taking, "over" | "send">,
): Promise<void> {
  const asked = call?.elicit(request as never, over.signal) ?? Promise.resolve(CANCEL);
  send({ kind: "answer", question, value: await asked.catch(() => CANCEL) });
}

function methodsOf(waiting: Map<number, Waiting>, send: (message: ToHost) => void) {
  let last = 0;
  const ask = (made: HostCall, call: ServerCall | null, signal: AbortSignal): Promise<unknown> => {
    const id = ++last;
    const answer = deferred<unknown>();
    waiting.set(id, { call, resolve: answer.resolve, reject: answer.reject });
    const cancel = (): void => {
      waiting.delete(id);
      send({ kind: "cancel", id });
    };
    signal.addEventListener("abort", cancel, { once: true });
    send({ kind: "ask", id, call: made });
    return orAborted(answer.promise, signal).finally(() => signal.removeEventListener("abort", cancel));
  };
  return {
    list: async (signal: AbortSignal) => (await ask({ method: "list" }, null, signal)) as readonly unknown[],
    read: async (uri: string, signal: AbortSignal) =>
      (await ask({ method: "read", uri }, null, signal)) as readonly unknown[],
    call: async (call: ServerCall, signal: AbortSignal) =>
      (await ask({ method: "call", tool: call.tool, params: call.params }, call, signal)) as ServerResult,
  };
}

/** Never rejects: the host hears of it. */
async function startProgram(
  { deps, orders, running: programs }: World,
  stream: MuxStream,
  head: unknown,
): Promise<void> {
  const key = isObject(head) && typeof head["key"] === "string" ? head["key"] : "";
  const order = orders.get(key);
  if (order === undefined) return stream.abort("no such program is wanted");
  let program: RunningProgram | null = null;
  let unread = 0;
  let writing: Promise<void> = Promise.resolve();
  const output = (bytes: Uint8Array): void => {
    unread += bytes.length;
    if (unread > MAX_UNREAD_BYTES) return void program?.stop(true); // never rejects
    writing = writing
      .then(() => stream.write(bytes))
      .then(() => void (unread -= bytes.length))
      .catch(() => undefined); // the host hung up, which ends the program
  };
  try {
    program = await deps.programs.start({ ...order, output });
  } catch (error) {
    return stream.respond(plainError(error));
  }
  const running = program;
  programs.set(key, running);
  stream.respond({ pid: running.pid });
  stream.cut.addEventListener("abort", () => void running.stop(false), { once: true });
  void running.ended.then(({ detail }) => {
    if (programs.get(key) === running) programs.delete(key);
    return writing.then(() => stream.abort(detail));
  });
  await pass(stream, running);
}

/** What the host says to the program; its end is the end of the program. */
async function pass(stream: MuxStream, program: RunningProgram): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read())
      program.write(decoder.decode(bytes, { stream: true }));
  } catch {
    // cut: the host does not need it any more, or has ended
  }
  await program.stop(false);
}
