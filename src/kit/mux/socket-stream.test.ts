/** One TCP connection as a stream: the socket is held back while nobody reads, and every way that it ends is told to whoever waits. */
import { expect, test } from "bun:test";
import { waitForEnd } from "../../testing/wait-for.ts";
import { joinStreams } from "./byte-stream.ts";
import { createSocketStream } from "./socket-stream.ts";

/** `takes`: how many bytes the socket takes at once; -1: it is closed. */
function createSocket(takes = Infinity) {
  const did: string[] = [];
  const socket = { takes, did };
  const stream = createSocketStream({
    write(bytes) {
      const taken = Math.min(socket.takes, bytes.length);
      if (taken > 0) did.push(Buffer.from(bytes.subarray(0, taken)).toString());
      return taken;
    },
    pause: () => void did.push("pause"),
    resume: () => void did.push("resume"),
    shutdown: () => void did.push("shutdown"),
    end: () => void did.push("end"),
  });
  return { socket, stream, did };
}

const bytes = (text: string) => Buffer.from(text);
const text = (read: Uint8Array | null) => (read === null ? null : Buffer.from(read).toString());

test("a socket is held back from its first piece until the last piece was read", async () => {
  const { stream, did } = createSocket();
  stream.arrived(bytes("one"));
  stream.arrived(bytes("two"));
  expect(did).toEqual(["pause", "pause"]);
  expect(text(await stream.read())).toBe("one");
  expect(did).toEqual(["pause", "pause"]);
  expect(text(await stream.read())).toBe("two");
  expect(did).toEqual(["pause", "pause", "resume"]);
});

test("pieces that arrived before the end are read before the end is told", async () => {
  const { stream } = createSocket();
  stream.arrived(bytes("last words"));
  stream.ended();
  expect([text(await stream.read()), text(await stream.read()), text(await stream.read())]).toEqual([
    "last words",
    null,
    null,
  ]);
  expect(stream.cut.aborted).toBe(false);
});

test("a reader that waits is woken by a piece, by the end, and by a cut", async () => {
  const { stream } = createSocket();
  const piece = stream.read();
  stream.arrived(bytes("hello"));
  expect(text(await waitForEnd("the piece", piece))).toBe("hello");
  const end = stream.read();
  stream.ended();
  expect(await waitForEnd("the end", end)).toBeNull();
  const other = createSocket();
  const broken = other.stream.read();
  other.stream.closed(new Error("reset by the other side"));
  await expect(waitForEnd("the cut", broken)).rejects.toThrow("reset by the other side");
});

test("a socket that takes little at a time gets everything once and in order", async () => {
  const { socket, stream, did } = createSocket(2);
  let isWritten = false;
  const writing = stream.write(bytes("abcde")).then(() => void (isWritten = true));
  expect(did).toEqual(["ab"]);
  socket.takes = 0;
  stream.drained();
  await Promise.resolve();
  expect([did, isWritten]).toEqual([["ab"], false]);
  socket.takes = 2;
  stream.drained();
  await Promise.resolve();
  stream.drained();
  await waitForEnd("the rest", writing);
  expect(did).toEqual(["ab", "cd", "e"]);
});

test("a writer that waits for a socket fails when the connection is gone", async () => {
  const { stream } = createSocket(0);
  const writing = stream.write(bytes("never taken"));
  stream.closed(null);
  await expect(waitForEnd("the failure", writing)).rejects.toThrow("the connection was closed");
});

test("a writer fails when its socket is closed already, and when its stream was cut", async () => {
  await expect(waitForEnd("the failure", createSocket(-1).stream.write(bytes("too late")))).rejects.toThrow(
    "the connection is closed",
  );
  const { stream, did } = createSocket();
  stream.abort("nobody wants it");
  await expect(waitForEnd("the failure", stream.write(bytes("too late")))).rejects.toThrow("nobody wants it");
  expect(did).toEqual(["end"]);
});

test("a stream that was cut hands out nothing that had arrived before", async () => {
  const { stream } = createSocket();
  stream.arrived(bytes("half an answer"));
  stream.abort("the other side was cut");
  await expect(waitForEnd("the failure", stream.read())).rejects.toThrow("the other side was cut");
});

test.each([
  ["both sides have said everything", false, ["ended", "end"]],
  ["only the other side has", true, ["ended"]],
  ["only our side has", true, ["end"]],
  ["neither side has", true, []],
] as const)("a connection that closes when %s is cut: %p", (_when, isCut, before) => {
  const { stream } = createSocket();
  for (const step of before) stream[step]();
  stream.closed(null);
  expect(stream.cut.aborted).toBe(isCut);
});

test("the first reason of a cut stays, and a second abort still lets go of the socket", () => {
  const { stream, did } = createSocket();
  stream.closed(new Error("first"));
  stream.abort("second");
  expect([(stream.cut.reason as Error).message, did]).toEqual(["first", ["end"]]);
});

test("two joined streams are both over when one of them is cut, and each piece is told", async () => {
  const [one, other] = [createSocket(), createSocket()];
  let said = 0;
  const joined = joinStreams(one.stream, other.stream, () => void said++);
  one.stream.arrived(bytes("question"));
  other.stream.arrived(bytes("answer"));
  await new Promise((resolve) => setImmediate(resolve));
  expect([one.did.includes("answer"), other.did.includes("question"), said]).toEqual([true, true, 2]);
  other.stream.closed(new Error("reset"));
  expect(await waitForEnd("the failure", joined.then(String, String))).toContain("reset");
  expect([one.did.at(-1), other.did.at(-1), one.stream.cut.aborted]).toEqual(["end", "end", true]);
});

test("the end of one stream is passed on while the other still speaks", async () => {
  const [one, other] = [createSocket(), createSocket()];
  const joined = joinStreams(one.stream, other.stream);
  one.stream.ended();
  await new Promise((resolve) => setImmediate(resolve));
  expect([one.did, other.did]).toEqual([[], ["shutdown"]]);
  other.stream.arrived(bytes("still here"));
  other.stream.ended();
  await waitForEnd("both ends", joined);
  expect(one.did).toEqual(["still here", "shutdown"]);
});
