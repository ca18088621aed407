/** The whole world of a command, for tests: a home, a fake gateway on a free port, and everything that was printed. */
import { join } from "node:path";
import type { Environment } from "../config/index.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { createSeqIds } from "./seq-ids.ts";
import { tempHome } from "./temp-home.ts";
import { type CliWorld, runCli } from "../cli/index.ts";

export const TOKEN = "Token-of-the-test-gateway-0123456789";

interface CliFixture extends AsyncDisposable {
  readonly home: string;
  readonly clock: FakeClock;
  readonly out: () => string;
  readonly err: () => string;
  run(...argv: string[]): Promise<number>;
  interrupt(): void;
  /** Resolves as soon as stdout contains `text`. */
  printed(text: string): Promise<void>;
}

/** `variables`: those of the environment. */
export async function cliFixture(
  changes: Partial<CliWorld> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<CliFixture> {
  const home = await tempHome();
  const clock = createFakeClock();
  const interrupts = new Set<() => void>();
  let waiting: { readonly text: string; readonly done: () => void }[] = [];
  let out = "";
  let err = "";
  const world: CliWorld = {
    stdin: input(),
    stdout(text) {
      out += text;
      for (const { text: wanted, done } of waiting) if (out.includes(wanted)) done();
      waiting = waiting.filter(({ text: wanted }) => !out.includes(wanted));
    },
    stderr(text) {
      err += text;
    },
    environment: environmentAt(home.path, variables),
    cwd: home.path,
    isTerminal: false,
    clock,
    ids: createSeqIds(),
    version: "1.2.3",
    onInterrupt(listener) {
      interrupts.add(listener);
      return { [Symbol.dispose]: () => void interrupts.delete(listener) };
    },
    start: async () => 0,
    ...changes,
  };
  return {
    home: home.path,
    clock,
    out: () => out,
    err: () => err,
    run: (...argv) => runCli(argv, world),
    interrupt() {
      for (const listener of [...interrupts]) listener();
    },
    printed: (text) =>
      new Promise((done) => {
        if (out.includes(text)) done();
        else waiting.push({ text, done });
      }),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

export async function* input(...chunks: string[]): AsyncGenerator<string> {
  yield* chunks;
}

function environmentAt(home: string, variables: Readonly<Record<string, string>>): Environment {
  return {
    home,
    userHome: home,
    path: "",
    locale: {},
    transpilerCache: null,
    piPath: null,
    noColor: variables["FORCE_COLOR"] === undefined,
    providerKeys: {},
    variables: (name) => variables[name],
  };
}

type Handler = (request: Request, url: URL) => Response | Promise<Response>;

/** A gateway that answers as the test says, announced in `home` like a real one. */
export async function fakeGateway(home: string, handle: Handler): Promise<AsyncDisposable> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.headers.get("authorization") !== `Bearer ${TOKEN}`) return new Response("", { status: 401 });
      return handle(request, new URL(request.url));
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  await Bun.write(join(home, "gateway.json"), JSON.stringify({ pid: process.pid, url, startedAt: 1 }));
  await Bun.write(join(home, "token"), `${TOKEN}\n`);
  return { [Symbol.asyncDispose]: () => server.stop(true) };
}

/** An answer of server-sent events; `events` may wait for things between them. */
export function eventStream(events: AsyncIterable<readonly [string, unknown]>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(encoder.encode(": hello\n\n"));
      for await (const [event, data] of events) {
        controller.enqueue(encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
