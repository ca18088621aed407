/**
 * The MCP host: a program of its own that holds the library of MCP and the connections to servers, so that neither its size nor what a hostile
 * server makes it read is the gateway's. Started with the first connection, over with the last. Decides nothing.
 */
import type { RunningProgram } from "../../../contracts/programs.ts";
import { systemClock } from "../../../kit/clock.ts";
import { deferred, type Deferred } from "../../../kit/deferred.ts";
import { GatewayError, type ErrorCode } from "../../../contracts/errors.ts";
import { isObject } from "../../../kit/json.ts";
import { silentLog } from "../../../kit/log.ts";
import { type Connection, connectDescriptor } from "../../../kit/mux/descriptor.ts";
import type { MuxStream } from "../../../kit/mux/mux.ts";
import { systemResolver } from "../../../kit/outside/public-address.ts";
import type { Connected, ServerCall } from "../connection.ts";
import { credentialsFile } from "../oauth/credentials-file.ts";
import { createOpenConnection } from "../open-connection.ts";
import { openPeer, type Peer } from "./peer.ts";
import { type FromHost, type HostCall, type HostOrder, plainError, settingsOf, type ToHost } from "./wire.ts";

const CONNECTION = 3;
/** The gateway wants to know that a server talks, not how much. */
const HEARD_EVERY_MS = 250;

const gateway: Connection = connectDescriptor(CONNECTION, {
  side: "odd",
  opened: serve,
  closed: () => process.exit(0), // the gateway has ended, or needs no server any more
});

function serve(stream: MuxStream): void {
  stream.respond({}); // it is alive
  const over = new AbortController();
  const running = new Map<number, AbortController>();
  const questions = new Map<number, Deferred<unknown>>();
  let connected: Connected | null = null;
  const take = (message: ToHost): void => {
    switch (message.kind) {
      case "order":
        return void open(message.order, peer, over.signal).then((made) => {
          connected = made;
          if (over.signal.aborted) void made?.close();
        });
      case "ask":
        return void (connected && answer({ connected, peer, running, questions }, message.id, message.call));
      case "cancel":
        return running.get(message.id)?.abort(new Error("it was cancelled"));
      case "answer":
        return questions.get(message.question)?.resolve(message.value);
      case "close":
        return void connected?.close();
    }
  };
  const peer: Peer = openPeer(stream, {
    take: (message) => take(message as unknown as ToHost),
    over() {
      over.abort(new Error("the gateway does not need it any more"));
      void connected?.close(); // never rejects
    },
  });
}

/** Never rejects; null: it could not be opened, and the gateway was told. */
async function open(order: HostOrder, peer: Peer, signal: AbortSignal): Promise<Connected | null> {
  const send = (message: FromHost): void => peer.send(message);
  let heardAt = 0;
  const heard = (): void => {
    const now = systemClock.elapsed();
    if (now - heardAt < HEARD_EVERY_MS) return;
    heardAt = now;
    send({ kind: "heard" });
  };
  const deps = {
    clock: systemClock,
    log: silentLog,
    resolve: systemResolver,
    version: order.version,
    credentials: credentialsFile(order.home, order.name),
    programs: { start: ({ output }: { output(bytes: Uint8Array): void }) => startProgram(order.key, output) },
  };
  try {
    const parts = {
      legacy: order.legacy,
      heard,
      listChanged: () => send({ kind: "changed" }),
      closed: (why: string) => send({ kind: "closed", why }),
    };
    const made = await createOpenConnection(deps, order.name)(settingsOf(order.settings), parts, signal);
    const { era, protocol, server, hasResources } = made;
    send({ kind: "opened", about: { era, protocol, server, hasResources } });
    return made;
  } catch (error) {
    send({ kind: "failed", error: plainError(error) });
    return null;
  }
}

/** The gateway starts it behind the wall; here it is a stream. */
async function startProgram(key: string, output: (bytes: Uint8Array) => void): Promise<RunningProgram> {
  const stream = gateway.open({ key });
  const started = await stream.answer;
  if (!isObject(started) || typeof started["pid"] !== "number") {
    const { code, message } = isObject(started) ? started : {};
    const say = typeof message === "string" ? message : "the program could not be started";
    throw new GatewayError((typeof code === "string" ? code : "program_unusable") as ErrorCode, say, { say });
  }
  let writing: Promise<void> = Promise.resolve();
  const read = async (): Promise<{ readonly detail: string; readonly asked: boolean }> => {
    try {
      for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) output(bytes);
      return { detail: "it has ended", asked: false };
    } catch (error) {
      return { detail: error instanceof Error ? error.message : "it has ended", asked: false };
    }
  };
  const ended = read();
  return {
    pid: started["pid"],
    ended,
    write(text) {
      writing = writing.then(() => stream.write(Buffer.from(text))).catch(() => undefined); // `ended` says why
    },
    async stop() {
      stream.abort("it is to end");
    },
  };
}

interface Asked {
  readonly connected: Connected;
  readonly peer: Peer;
  readonly running: Map<number, AbortController>;
  readonly questions: Map<number, Deferred<unknown>>;
}

let lastQuestion = 0;

/** Never rejects. */
async function answer({ connected, peer, running, questions }: Asked, id: number, call: HostCall): Promise<void> {
  const send = (message: FromHost): void => peer.send(message);
  const cancel = new AbortController();
  running.set(id, cancel);
  const elicit = async (request: unknown): Promise<unknown> => {
    const question = ++lastQuestion;
    const given = deferred<unknown>();
    questions.set(question, given);
    send({ kind: "question", id, question, request });
    try {
      return await given.promise;
    } finally {
      questions.delete(question);
    }
  };
  try {
    send({
      kind: "result",
      id,
      value: await run(
        connected,
        call,
        { elicit, progress: (text) => send({ kind: "progress", id, text }) },
        cancel.signal,
      ),
    });
  } catch (error) {
    send({ kind: "error", id, error: plainError(error) });
  } finally {
    running.delete(id);
  }
}

interface Asking {
  elicit(request: unknown): Promise<unknown>;
  progress(text: string): void;
}

function run(connected: Connected, call: HostCall, { elicit, progress }: Asking, signal: AbortSignal) {
  if (call.method === "list") return connected.list(signal);
  if (call.method === "read") return connected.read(call.uri, signal);
  const made = { tool: call.tool, params: call.params, progress, elicit } as ServerCall;
  return connected.call(made, signal);
}
