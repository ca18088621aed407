import { describe, expect, test } from "bun:test";
import { deferred } from "../kit/deferred.ts";
import { endingWith } from "./foreign-stream.ts";

const EVENTS = { "content-type": "text/event-stream" };
const MIB = 1024 * 1024;
const never = new AbortController().signal;

/** What a library does: it writes when it likes. */
function written() {
  const cancelled = deferred<unknown>();
  let write: (bytes: Uint8Array) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (write = (bytes) => controller.enqueue(bytes)),
    cancel: (reason) => cancelled.resolve(reason),
  });
  return { response: new Response(body, { headers: EVENTS }), write: (bytes: Uint8Array) => write(bytes), cancelled };
}

describe("a stream of events that a library writes", () => {
  test("ends when the request does, and the library is told", async () => {
    const { response, write, cancelled } = written();
    const gone = new AbortController();
    write(new TextEncoder().encode("data: 1\n\n"));
    const text = endingWith(response, gone.signal).text();
    gone.abort("over");
    expect([await text, await cancelled.promise]).toEqual([expect.stringMatching(/^:\n\n(data: 1\n\n)?$/), "over"]);
  });

  test("ends when nobody reads what is there already, however large one piece may be", async () => {
    const { response, write, cancelled } = written();
    const passed = endingWith(response, never);
    write(new Uint8Array(20 * MIB));
    write(new Uint8Array(1));
    expect(await cancelled.promise).toMatchObject({ message: "client reads too slowly" });
    await expect(passed.text()).rejects.toThrow("too slowly");
  });

  test("passes a large piece to whoever reads it, and leaves other responses as they are", async () => {
    const { response, write } = written();
    const reader = endingWith(response, never).body?.getReader();
    expect((await reader?.read())?.value?.byteLength).toBe(3); // so that its headers leave at once
    for (const size of [20 * MIB, 20 * MIB]) {
      write(new Uint8Array(size));
      expect((await reader?.read())?.value?.byteLength).toBe(size);
    }
    const plain = Response.json({ a: 1 });
    expect(endingWith(plain, never)).toBe(plain);
  });
});
