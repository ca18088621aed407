/** Streams over one connection: order, back-pressure in both directions, aborts from both sides, limits. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { WINDOW_BYTES } from "./flow.ts";
import { encodeFrame } from "./frames.ts";
import { createMux, type Mux, type MuxStream } from "./mux.ts";

interface Pair {
  readonly near: Mux;
  readonly far: Mux;
  readonly opened: { stream: MuxStream; head: unknown }[];
  readonly broken: string[];
  /** Bytes on their way from near to far; taken by far only when the test pumps. */
  readonly wire: { toFar: Uint8Array[]; toNear: Uint8Array[] };
  pump(): void;
}

/** `capacity`: how many bytes the connection takes before it says that it is full. */
function pair(capacity = Infinity, cut: (bytes: Uint8Array) => Uint8Array[] = (bytes) => [bytes]): Pair {
  const wire = { toFar: [] as Uint8Array[], toNear: [] as Uint8Array[] };
  const size = (list: readonly Uint8Array[]) => list.reduce((sum, one) => sum + one.length, 0);
  const into = (list: Uint8Array[]) => (bytes: Uint8Array) => {
    const taken = bytes.slice(0, Math.max(0, Math.min(bytes.length, capacity - size(list))));
    if (taken.length > 0) list.push(taken);
    return taken.length;
  };
  const opened: Pair["opened"] = [];
  const broken: string[] = [];
  const near = createMux({
    side: "odd",
    write: into(wire.toFar),
    opened: (stream) => stream.abort("nothing is served here"),
    broken: (why) => void broken.push(`near: ${why}`),
  });
  const far = createMux({
    side: "even",
    write: into(wire.toNear),
    opened: (stream, head) => void opened.push({ stream, head }),
    broken: (why) => void broken.push(`far: ${why}`),
  });
  /** What they have gathered leaves at once. */
  const pump = (): void => {
    near.drained();
    for (const chunk of wire.toFar.splice(0)) for (const piece of cut(chunk)) far.push(piece);
    near.drained();
    far.drained();
    for (const chunk of wire.toNear.splice(0)) for (const piece of cut(chunk)) near.push(piece);
    far.drained();
  };
  return { near, far, opened, broken, wire, pump };
}

/** Lets every promise that can go on do so. */
async function turns(pump: () => void, count = 200): Promise<void> {
  for (let round = 0; round < count; round++) {
    pump();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function first({ opened }: Pair): { stream: MuxStream; head: unknown } {
  const [found] = opened;
  if (!found) throw new Error("no stream was opened");
  return found;
}

async function readAll(stream: MuxStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await stream.read(); chunk !== null; chunk = await stream.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("a stream carries a head, bytes and an end in both directions, whatever the connection takes at once", async () => {
  const body = fc.uint8Array({ maxLength: 5_000 });
  await fc.assert(
    fc.asyncProperty(
      body,
      body,
      fc.integer({ min: 1, max: 700 }),
      fc.integer({ min: 1, max: 97 }),
      async (...given) => {
        const [question, answer, capacity, step] = given;
        const pieces = (bytes: Uint8Array) =>
          Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) => bytes.slice(at * step, (at + 1) * step));
        const both = pair(capacity, pieces);
        const stream = both.near.open({ asks: "for something" });
        void stream.write(question).then(stream.end);
        const got = turns(both.pump, 100);
        await turns(both.pump, 3 + Math.ceil(200 / capacity));
        const { stream: theirs, head } = first(both);
        expect(head).toEqual({ asks: "for something" });
        const asked = readAll(theirs);
        theirs.respond({ status: 200 });
        void theirs.write(answer).then(theirs.end);
        const told = readAll(stream);
        await Promise.race([Promise.all([asked, told]), turns(both.pump, 2_000)]);
        await got;
        expect(Buffer.compare(await asked, Buffer.from(question))).toBe(0);
        expect(await stream.answer).toEqual({ status: 200 });
        expect(Buffer.compare(await told, Buffer.from(answer))).toBe(0);
        expect(both.broken).toEqual([]);
      },
    ),
    { numRuns: 25 },
  );
}, 60_000);

test("a writer whose reader does not read stops at the window, and goes on when something was read", async () => {
  const both = pair();
  const stream = both.near.open({});
  let written = 0;
  const chunk = new Uint8Array(32 * 1024);
  const writing = (async () => {
    for (let at = 0; at < 64; at++) {
      await stream.write(chunk);
      written += chunk.length;
    }
    stream.end();
  })();
  await turns(both.pump);
  expect(written).toBe(WINDOW_BYTES);
  const { stream: theirs } = first(both);
  await theirs.read();
  await turns(both.pump);
  expect(written).toBe(WINDOW_BYTES); // told in large steps
  const rest = readAll(theirs);
  await turns(both.pump);
  await writing;
  expect((await rest).length).toBe(63 * chunk.length);
});

test("a stalled stream does not hold up the others", async () => {
  const both = pair();
  const stalled = both.near.open({ name: "stalled" });
  void stalled.write(new Uint8Array(WINDOW_BYTES * 2)).catch(() => undefined);
  const lively = both.near.open({ name: "lively" });
  void lively.write(new Uint8Array(WINDOW_BYTES * 2)).then(lively.end);
  await turns(both.pump, 5);
  const theirs = both.opened.find(({ head }) => JSON.stringify(head).includes("lively"))?.stream;
  if (!theirs) throw new Error("the second stream was not opened");
  const read = readAll(theirs);
  await turns(both.pump);
  expect((await read).length).toBe(WINDOW_BYTES * 2);
});

test("an abort ends both halves and says why, whichever side aborts", async () => {
  const both = pair();
  const ours = both.near.open({});
  both.pump();
  ours.abort("the turn was stopped");
  both.pump();
  const { stream: theirs } = first(both);
  expect(theirs.cut.aborted).toBe(true);
  await expect(theirs.read()).rejects.toThrow("the turn was stopped");
  await expect(theirs.write(new Uint8Array(1))).rejects.toThrow("the turn was stopped");

  const second = both.near.open({});
  both.pump();
  both.opened[1]?.stream.abort("the provider is gone");
  both.pump();
  expect(second.cut.aborted).toBe(true);
  await expect(second.answer).rejects.toThrow("the provider is gone");
  await expect(second.read()).rejects.toThrow("the provider is gone");
});

test("a head, bytes and their end that follow each other at once are one write, and wake the other side once", async () => {
  const both = pair();
  const ours = both.near.open({ method: "POST" });
  await ours.write(new Uint8Array(100));
  ours.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(both.wire.toFar.length).toBe(1);
  both.pump();
  expect((await readAll(first(both).stream)).length).toBe(100);
});

test("bytes that are many leave at once, and keep their order behind those that were gathered", async () => {
  const both = pair();
  const ours = both.near.open({});
  await ours.write(new Uint8Array(20_000).fill(7));
  expect(both.wire.toFar.length).toBe(1);
  ours.end();
  both.pump();
  expect(await readAll(first(both).stream)).toEqual(Buffer.alloc(20_000, 7));
});

test("frames that arrive after an abort are dropped", async () => {
  const both = pair();
  const ours = both.near.open({});
  both.pump();
  const { stream: theirs } = first(both);
  theirs.respond({ status: 200 });
  theirs.write(new Uint8Array(10)).catch(() => undefined); // aborted below
  ours.abort("enough");
  await turns(both.pump, 5);
  expect(both.broken).toEqual([]);
});

test("a connection that is gone ends every stream, and those that are opened later", async () => {
  const both = pair();
  const stream = both.near.open({});
  both.near.close("the process has ended");
  await expect(stream.answer).rejects.toThrow("the process has ended");
  await expect(both.near.open({}).answer).rejects.toThrow("the process has ended");
});

test("more streams than allowed are refused one by one, and the rest goes on", async () => {
  const both = pair();
  const streams = Array.from({ length: 65 }, () => both.near.open({}));
  both.pump();
  expect(both.opened.length).toBe(64);
  await expect(streams[64]?.answer).rejects.toThrow("more than 64 streams");
  both.opened[0]?.stream.abort("done");
  both.pump();
  both.near.open({});
  both.pump();
  expect(both.opened.length).toBe(65);
});

test.each([
  ["data beyond the window", (both: Pair) => overfill(both), "more data than was allowed"],
  ["a stream number of the wrong side", (both: Pair) => both.far.push(encodeFrame("open", 2, bytes("{}"))), "twice"],
  ["a head that is not JSON", (both: Pair) => both.far.push(encodeFrame("open", 1, bytes("{"))), "not JSON"],
])("%s ends the connection", (_name, misbehave, why) => {
  const both = pair();
  misbehave(both);
  expect(both.broken.length).toBe(1);
  expect(both.broken[0]).toContain(why);
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function overfill({ far }: Pair): void {
  far.push(encodeFrame("open", 1, bytes("{}")));
  for (let sent = 0; sent <= WINDOW_BYTES; sent += 64 * 1024) far.push(encodeFrame("data", 1, new Uint8Array(65_536)));
}

test("ten thousand streams one after another leave nothing behind", async () => {
  const both = pair();
  for (let at = 0; at < 10_000; at++) {
    const stream = both.near.open({});
    stream.end();
    both.pump();
    const theirs = both.opened.pop()?.stream;
    theirs?.respond({ status: 200 });
    theirs?.end();
    both.pump();
  }
  const streams = Array.from({ length: 64 }, () => both.near.open({})); // all 64 places are free
  both.pump();
  expect(both.opened.length).toBe(64);
  expect(streams.every(({ cut }) => !cut.aborted)).toBe(true);
});
