import { describe, expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createFakeClock } from "./fake-clock.ts";
import { recordingLog } from "./recording-log.ts";
import { deferred } from "../kit/deferred.ts";
import { onFrames } from "./http/frames.ts";
import { createSeqIds } from "./seq-ids.ts";
import { tempHome } from "./temp-home.ts";
import { advanceUntil, waitFor, waitForEnd } from "./wait-for.ts";

test("sequential ids count per prefix", () => {
  const ids = createSeqIds();
  expect([ids.next("turn"), ids.next("turn"), ids.next("in")]).toEqual(["turn_000001", "turn_000002", "in_000001"]);
});

test("sequential secrets are the same in every run, all different, and of the right length", () => {
  const ids = createSeqIds();
  const first = ids.secret(40);
  expect(Buffer.from(first, "base64url")).toHaveLength(40);
  expect(ids.secret(40)).not.toBe(first);
  expect(createSeqIds().secret(40)).toBe(first);
});

test("a temporary home is private and gone after use", async () => {
  let path = "";
  {
    await using home = await tempHome();
    path = home.path;
    await Bun.write(join(path, "file"), "x");
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, "file"))).mode & 0o777).toBe(0o600);
  }
  expect(await stat(path).catch(() => "gone")).toBe("gone");
});

test("a recording log keeps the lines of its children with their fields", () => {
  const log = recordingLog();
  log.child({ turnId: "t1" }).warn("agent slow", { ms: 5 });
  expect(log.lines).toEqual([{ level: "warn", words: "agent slow", fields: { turnId: "t1", ms: 5 } }]);
});

describe("a wait", () => {
  test("returns what it saw as soon as it fits", async () => {
    let count = 0;
    const seen = await waitFor(
      "three looks",
      () => ++count,
      (n) => n === 3,
    );
    expect(seen).toBe(3);
  });

  test("that is in vain fails at its deadline, with its name and what it saw last", async () => {
    const began = performance.now();
    const wait = waitFor(
      "the parcel",
      () => ({ at: "the door" }),
      () => false,
      { withinMs: 50 },
    );
    await expect(wait).rejects.toThrow('waited 50 ms for: the parcel; last seen: {\n  at: "the door",\n}');
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test("hands on the error of a look at once", async () => {
    const look = (): boolean => {
      throw new Error("there is nothing to look at");
    };
    await expect(waitFor("anything", look)).rejects.toThrow("there is nothing to look at");
  });
});

test("a wait for a promise that never settles fails at its deadline, with its name", async () => {
  const never = new Promise<never>(() => undefined);
  await expect(waitForEnd("the end", never, { withinMs: 20 })).rejects.toThrow("waited 20 ms for: the end");
  expect(await waitForEnd("the end", Promise.resolve(7))).toBe(7);
});

test("a wait on a fake clock lets time pass until it fits, and says how much when it never does", async () => {
  const clock = createFakeClock(0);
  expect(
    await advanceUntil(
      { clock, stepMs: 100 },
      "half a second",
      () => clock.elapsed(),
      (ms) => ms >= 500,
    ),
  ).toBe(500);
  const never = advanceUntil({ clock, stepMs: 60_000 }, "the end of time", () => false);
  await expect(never).rejects.toThrow(/waited \d+ ms of fake time for: the end of time; last seen: false/);
}, 20_000);

test("frames of a WebSocket that arrive together are taken one by one, although the test waits for a rejection between them", async () => {
  await using server = Bun.serve<undefined, never>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, own) => (own.upgrade(request) ? undefined : new Response("no")),
    websocket: {
      message(socket, text) {
        const frames = text === "first" ? ["one", "two"] : ["three"];
        socket.cork(() => frames.forEach((frame) => socket.send(frame)));
      },
    },
  });
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`);
  const came: string[] = [];
  const first = deferred<void>();
  const third = deferred<void>();
  onFrames(socket, {
    frame(data) {
      came.push(String(data));
      if (data === "one") first.resolve();
      if (data === "three") third.reject(new Error("three came"));
    },
    closed: (code) => third.reject(new Error(`closed with ${code}`)),
  });
  socket.addEventListener("open", () => socket.send("first"));
  await first.promise;
  socket.send("second");
  await expect(third.promise).rejects.toThrow("three came");
  expect(came).toEqual(["one", "two", "three"]);
  socket.close();
});
