/** The port of one process: only this machine's loopback address, for whom the process works at that moment, and nothing is left when it is closed. */
import { expect, test } from "bun:test";
import type { EgressCaller } from "../contracts/egress.ts";
import type { ByteStream } from "../kit/mux/byte-stream.ts";
import { waitFor, waitForEnd } from "../testing/wait-for.ts";
import { listenForPrograms } from "./listener.ts";

const named = (name: string) => ({ setting: name }) as EgressCaller;

/** A proxy that does what `serve` does, and a program that connects to it. */
function listening(serve: (stream: ByteStream, who: string) => Promise<void>, callers: (EgressCaller | null)[]) {
  const listener = listenForPrograms(
    { serve: (stream, caller) => serve(stream, caller.setting ?? "") },
    () => callers.shift() ?? null,
  );
  const connect = async (hostname = "127.0.0.1") => {
    const program = { closed: false, got: "" };
    await Bun.connect({
      hostname,
      port: listener.port,
      allowHalfOpen: true,
      socket: {
        open: (socket) => void socket.write("hello"),
        data: (_socket, bytes) => void (program.got += bytes.toString()),
        end: (socket) => void socket.end(),
        close: () => void (program.closed = true),
      },
    });
    return program;
  };
  return { listener, connect };
}

test("a proxy for one process cannot be reached at another address than that of this machine", async () => {
  const { listener, connect } = listening(async () => undefined, [named("ann")]);
  using _open = listener;
  expect(await connect("127.0.0.2").then(String, () => "refused")).toBe("refused");
});

test("each connection is served for whom the process works when it is opened", async () => {
  const served: string[] = [];
  const { listener, connect } = listening(async (_stream, who) => void served.push(who), [named("ann"), named("bob")]);
  using _open = listener;
  for (const who of ["ann", "bob"]) {
    const program = await connect();
    await waitFor(`${who} is served`, () => served.includes(who));
    await waitFor("the end of the connection", () => program.closed);
  }
  const nobody = await connect();
  await waitFor("the end of the connection", () => nobody.closed);
  expect(served).toEqual(["ann", "bob"]);
});

test("a proxy that is closed ends its connections, tells whoever serves them, and takes no more", async () => {
  const cut = Promise.withResolvers<string>();
  let isServed = false;
  const { listener, connect } = listening(
    (stream) => {
      isServed = true;
      stream.cut.addEventListener("abort", () => cut.resolve(String(stream.cut.reason)));
      return cut.promise.then(() => undefined);
    },
    [named("ann"), named("bob")],
  );
  const program = await connect();
  await waitFor("the connection is served", () => isServed);
  listener[Symbol.dispose]();
  expect(await waitForEnd("the cut", cut.promise)).toContain("clos");
  await waitFor("the end of the connection", () => program.closed);
  expect(await connect().then(String, () => "refused")).toBe("refused");
});

test("whoever serves a program is told when it hangs up", async () => {
  const cut = Promise.withResolvers<void>();
  const listener = listenForPrograms(
    {
      serve(stream) {
        stream.cut.addEventListener("abort", () => cut.resolve());
        return cut.promise;
      },
    },
    () => named("ann"),
  );
  using _open = listener;
  await Bun.connect({
    hostname: "127.0.0.1",
    port: listener.port,
    socket: { open: (socket) => void socket.terminate(), data: () => undefined },
  });
  await waitForEnd("the cut", cut.promise);
});

test("an answer that is larger than a program takes at once arrives whole", async () => {
  const ANSWER_BYTES = 16 * 1024 * 1024;
  const arrived = Promise.withResolvers<number>();
  let isWritten = false;
  const listener = listenForPrograms(
    {
      async serve(stream) {
        await stream.write(new Uint8Array(ANSWER_BYTES));
        isWritten = true;
        stream.end();
      },
    },
    () => named("ann"),
  );
  using _open = listener;
  let got = 0;
  const program = await Bun.connect({
    hostname: "127.0.0.1",
    port: listener.port,
    socket: {
      open: (socket) => void socket.pause(),
      data: (_socket, bytes) => void (got += bytes.length),
      close: () => arrived.resolve(got),
    },
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isWritten).toBe(false); // the program does not read yet
  program.resume();
  expect(await waitForEnd("the whole answer", arrived.promise)).toBe(ANSWER_BYTES);
});
