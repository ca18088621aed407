import { describe, expect, test } from "bun:test";
import { systemClock } from "../kit/clock.ts";
import { readBytes } from "./body.ts";
import { createByteRoom } from "./byte-room.ts";

const post = (bytes: number) =>
  new Request("http://127.0.0.1/", { method: "POST", body: new Blob([new Uint8Array(bytes)]).stream() });

describe("room for what clients send", () => {
  test("is taken as bytes arrive and given back when the request is over", async () => {
    const room = createByteRoom(100);
    {
      using held = room.open();
      await readBytes(systemClock, post(60), 100, held);
      expect(room.held()).toBe(60);
    }
    expect(room.held()).toBe(0);
  });

  test("is shared by all: who finds none is told to come back, and whoever has some keeps it", async () => {
    const room = createByteRoom(100);
    using first = room.open();
    await readBytes(systemClock, post(60), 100, first);
    {
      using second = room.open();
      const refused = await readBytes(systemClock, post(60), 100, second).then(String, (error: unknown) => error);
      expect(refused).toMatchObject({ code: "too_many_bytes", fields: { retryAfterMs: 1_000 } });
    }
    expect(room.held()).toBe(60);
    using third = room.open();
    expect((await readBytes(systemClock, post(40), 100, third)).byteLength).toBe(40);
  });
});
