/** A port inside a sandbox: what connects to it is passed on to where it is meant for, and ends when that side ends. */
import { expect, test } from "bun:test";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import type { Connection } from "./descriptor.ts";
import { relayPort } from "./relay-port.ts";
import { createSocketStream } from "./socket-stream.ts";

/** The other side of the relay: what it was opened for, what it got, and a way to speak. */
function relayed(to: "gateway" | "host") {
  const did: string[] = [];
  const far = createSocketStream({
    write: (bytes) => (did.push(Buffer.from(bytes).toString()), bytes.length),
    pause: () => undefined,
    resume: () => undefined,
    shutdown: () => void did.push("complete"),
    end: () => void did.push("closed"),
  });
  const open = (head: unknown) => (did.push(JSON.stringify(head)), far);
  const port = relayPort({ open: open as unknown as Connection["open"] }, 0, to);
  return { did, far, port };
}

async function program(port: number, hostname = "127.0.0.1") {
  const closed = Promise.withResolvers<string>();
  let got = "";
  const socket = await Bun.connect({
    hostname,
    port,
    allowHalfOpen: true,
    socket: {
      open: (made) => void made.write("question"),
      data: (_made, bytes) => void (got += bytes.toString()),
      end: (made) => void made.end(),
      close: () => closed.resolve(got),
    },
  });
  return { socket, closed: closed.promise };
}

test.each(["gateway", "host"] as const)(
  "a connection to a relayed port is opened for the %s, both ways",
  async (to) => {
    const { did, far, port } = relayed(to);
    const { socket, closed } = await program(port);
    await waitFor("the question", () => did.includes("question"));
    expect(did).toEqual([JSON.stringify({ to }), "question"]);
    socket.shutdown();
    await waitFor("the end of the question", () => did.includes("complete"));
    far.arrived(Buffer.from("answer"));
    far.ended();
    expect(await waitForEnd("the end of the connection", closed)).toBe("answer");
  },
);

test("a program sees its connection end when the other side is cut", async () => {
  const { did, far, port } = relayed("host");
  const { closed } = await program(port);
  await waitFor("the question", () => did.includes("question"));
  far.closed(new Error("refused"));
  expect(await waitForEnd("the end of the connection", closed)).toBe("");
});

test("the other side is told when a program hangs up", async () => {
  const { did, far, port } = relayed("host");
  const { socket } = await program(port);
  await waitFor("the question", () => did.includes("question"));
  socket.terminate();
  await waitFor("the cut", () => far.cut.aborted);
  expect(did.at(-1)).toBe("closed");
});

test("a relayed port is reached at the loopback address alone", async () => {
  const { port } = relayed("host");
  expect(await program(port, "127.0.0.2").then(String, () => "refused")).toBe("refused");
});
