/** Pictures against the limits of models, with the real decoder in its own process. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { waitFor, waitForEnd } from "../../testing/wait-for.ts";
import { fileType } from "../file-type.ts";
import { pictureSize } from "./picture-size.ts";
import { createShrinker, MAX_SIDE, pictureFate, pictureFateOf } from "./shrink.ts";

const NEVER = new AbortController().signal;
const TEST_MS = 60_000;
const bun = { bun: [process.execPath], bunEnv: {} };

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
}

/** A real picture: BMP needs no library to write. */
function bmp(width: number, height: number): Uint8Array {
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const data = Buffer.alloc(54 + rowBytes * height, 0x7f);
  data.write("BM", 0, "latin1");
  data.writeUInt32LE(data.length, 2);
  data.writeUInt32LE(0, 6);
  data.writeUInt32LE(54, 10);
  data.writeUInt32LE(40, 14);
  data.writeInt32LE(width, 18);
  data.writeInt32LE(height, 22);
  data.writeUInt16LE(1, 26);
  data.writeUInt16LE(24, 28);
  data.fill(0, 30, 54);
  return data;
}

const as = (kind: "png" | "jpeg" | "webp", width: number, height: number): Promise<Uint8Array> =>
  new Bun.Image(bmp(width, height))[kind]().bytes();

describe("the limits of pictures", () => {
  test.each([
    ["40 million pixels are made smaller", [20_000, 2_000], 1, "shrink"],
    ["one row more is refused", [20_000, 2_001], 1, "refuse"],
    ["the longest side and size that models take stay", [MAX_SIDE, MAX_SIDE], 3_500_000, "as_it_is"],
    ["one pixel more in a row is made smaller", [MAX_SIDE + 1, 1], 1, "shrink"],
    ["one row more than that is made smaller", [1, MAX_SIDE + 1], 1, "shrink"],
    ["one byte more is made smaller", [1, 1], 3_500_001, "shrink"],
  ] as const)("%s", (_what, [width, height], bytes, kind) => {
    expect(pictureFate({ width, height }, "image/png", bytes).kind).toBe(kind);
  });

  test.each([
    [0, 5],
    [5, 0],
  ])("%d × %d pixels are no size", (width, height) => {
    const gif = Buffer.alloc(10);
    gif.writeUInt16LE(width, 6);
    gif.writeUInt16LE(height, 8);
    expect(pictureSize(gif, "image/gif")).toBeNull();
  });

  test("WebP with an extended header says its size there", () => {
    const webp = Buffer.alloc(30);
    webp.write("RIFF....WEBPVP8X", 0, "latin1");
    webp.writeUIntLE(1_199, 24, 3);
    webp.writeUIntLE(799, 27, 3);
    expect(pictureSize(webp, "image/webp")).toEqual({ width: 1_200, height: 800 });
  });

  test("JPEG that is no JPEG behind its first marker has none", () => {
    const frame = [0xff, 0xc0, 0, 17, 8, 0, 5, 0, 6, 3];
    expect(pictureSize(Uint8Array.from([0xff, 0xd8, ...frame, 0]), "image/jpeg")).toEqual({ width: 6, height: 5 });
    expect(pictureSize(Uint8Array.from([0xff, 0xd8, 0, ...frame.slice(1), 0]), "image/jpeg")).toBeNull();
  });
});

describe("the size of a picture", () => {
  test.each(["png", "jpeg", "webp"] as const)("is read from the header of a real %s", async (kind) => {
    const data = await as(kind, 123, 45);
    expect(pictureSize(data, `image/${kind}`)).toEqual({ width: 123, height: 45 });
    for (let cut = 0; cut < 40; cut++) pictureSize(data.subarray(0, cut), `image/${kind}`); // never throws
  });

  test("is read from BMP and GIF, and from nothing else", () => {
    expect(pictureSize(bmp(10, 20), "image/bmp")).toEqual({ width: 10, height: 20 });
    expect(pictureSize(Buffer.from("474946383961 0a00 1400".replaceAll(" ", ""), "hex"), "image/gif")).toEqual({
      width: 10,
      height: 20,
    });
    expect(pictureSize(Buffer.from("<svg/>"), "image/svg+xml")).toBeNull();
  });
});

describe("a picture", () => {
  test.each([
    [{ width: 2_000, height: 2_000 }, "image/png", 1_000, "as_it_is"],
    [{ width: 2_001, height: 10 }, "image/png", 1_000, "shrink"],
    [{ width: 10, height: 10 }, "image/png", 4_000_000, "shrink"],
    [{ width: 10, height: 10 }, "image/bmp", 1_000, "shrink"],
    [{ width: 8_000, height: 5_001 }, "image/png", 1_000, "refuse"],
    [null, "image/png", 1_000, "refuse"],
  ] as const)("of %j, %s, %d bytes: %s", (size, mimeType, bytes, kind) => {
    expect(pictureFate(size, mimeType, bytes).kind).toBe(kind);
  });

  test(
    "that is too large becomes small enough in another process, and stays what it is where that fits",
    async () => {
      const shrinker = createShrinker({ clock: systemClock }, bun);
      const [large, wide] = await Promise.all([
        shrinker.shrink(bmp(3_000, 1_500), NEVER),
        shrinker.shrink(await as("png", 2_500, 10), NEVER),
      ]);
      expect(fileType(large ?? new Uint8Array())).toBe("image/jpeg");
      expect(pictureSize(large ?? new Uint8Array(), "image/jpeg")).toEqual({ width: MAX_SIDE, height: MAX_SIDE / 2 });
      expect(fileType(wide ?? new Uint8Array())).toBe("image/png");
      expect(pictureFateOf(wide ?? new Uint8Array(), "image/png").kind).toBe("as_it_is");
    },
    TEST_MS,
  );

  test(
    "that cannot be decoded is none, whatever its header says",
    async () => {
      const shrinker = createShrinker({ clock: systemClock }, bun);
      const cut = (await as("png", 2_500, 2_500)).subarray(0, 60);
      expect(await shrinker.shrink(cut, NEVER)).toBeNull();
      expect(await shrinker.shrink(Buffer.from("not a picture"), NEVER)).toBeNull();
      await expect(shrinker.shrink(cut, AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
      expect(await shrinker.shrink(cut, NEVER)).toBeNull(); // one that was given up keeps no other waiting
    },
    TEST_MS,
  );

  test.each(["its time is over", "its message is given up"])(
    "whose process hangs leaves none behind when %s",
    async (how) => {
      await using home = await tempHome();
      const pidFile = join(home.path, "pid");
      const hangs = {
        bun: ["sh", "-c", `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 60 #`],
        bunEnv: { PATH: "/bin:/usr/bin" },
      };
      const clock = createFakeClock();
      const message = new AbortController();
      const shrinking = createShrinker({ clock }, hangs).shrink(new Uint8Array(1), message.signal);
      shrinking.catch(() => undefined); // looked at below
      const pid = Number(await waitFor("the process", () => existsSync(pidFile) && readFileSync(pidFile, "utf8")));
      try {
        if (how === "its time is over") await clock.advance(60_000);
        else message.abort(new Error("given up"));
        const ended = shrinking.catch((error: unknown) => String(error));
        expect(await waitForEnd("the end", ended)).toBe(how === "its time is over" ? null : "Error: given up");
        await waitFor("the end of the process", () => !isAlive(pid));
      } finally {
        if (isAlive(pid)) process.kill(pid, "SIGKILL");
      }
    },
    TEST_MS,
  );

  test(
    "whose process hangs is given up, and the next one is served",
    async () => {
      const hangs = { bun: ["sh", "-c", "sleep 60 #"], bunEnv: { PATH: "/bin:/usr/bin" } };
      const giveUp = {
        ...systemClock,
        deadline: (_ms: number, reason: () => unknown) => systemClock.deadline(50, reason),
      };
      const shrinker = createShrinker({ clock: giveUp }, hangs);
      expect(await shrinker.shrink(new Uint8Array(1), NEVER)).toBeNull();
      expect(await shrinker.shrink(new Uint8Array(1), NEVER)).toBeNull();
    },
    TEST_MS,
  );

  test.each([
    [3_500_000, true],
    [3_500_001, false],
  ])(
    "of which %d bytes come out of its process is a picture: %p",
    async (bytes, taken) => {
      const speaks = {
        bun: ["sh", "-c", `cat >/dev/null; head -c ${bytes} /dev/zero #`],
        bunEnv: { PATH: "/bin:/usr/bin" },
      };
      const clock = createFakeClock();
      const made = await createShrinker({ clock }, speaks).shrink(new Uint8Array(1), NEVER);
      expect([made !== null, clock.pending()]).toEqual([taken, 0]);
    },
    TEST_MS,
  );

  test(
    "waits for the one before it: one process decodes at a time",
    async () => {
      await using home = await tempHome();
      const lock = join(home.path, "at work");
      // fails when another one is at work
      const alone = `cat >/dev/null; mkdir '${lock}' || exit 1; sleep 0.05; rmdir '${lock}'; printf made #`;
      const shrinker = createShrinker(
        { clock: systemClock },
        { bun: ["sh", "-c", alone], bunEnv: { PATH: "/bin:/usr/bin" } },
      );
      const made = await Promise.all([1, 2, 3].map(() => shrinker.shrink(new Uint8Array(1), NEVER)));
      expect(made.map((one) => one !== null)).toEqual([true, true, true]);
    },
    TEST_MS,
  );

  test(
    "whose process says nothing is no picture, and one that is given up while it waits starts none",
    async () => {
      await using home = await tempHome();
      const ran = join(home.path, "ran");
      const silent = { bun: ["sh", "-c", `cat >/dev/null; echo x >> '${ran}' #`], bunEnv: { PATH: "/bin:/usr/bin" } };
      const shrinker = createShrinker({ clock: systemClock }, silent);
      const stop = new AbortController();
      const [first, second] = [NEVER, stop.signal].map((signal) => shrinker.shrink(new Uint8Array(1), signal));
      stop.abort(new Error("given up"));
      await expect(second ?? Promise.resolve()).rejects.toThrow("given up");
      expect([await first, readFileSync(ran, "utf8")]).toEqual([null, "x\n"]);
    },
    TEST_MS,
  );

  test(
    "whose process dies after it has written a part of it is no picture",
    async () => {
      const dies = { bun: ["sh", "-c", "cat >/dev/null; printf half; exit 3 #"], bunEnv: { PATH: "/bin:/usr/bin" } };
      expect(await createShrinker({ clock: systemClock }, dies).shrink(new Uint8Array(1), NEVER)).toBeNull();
    },
    TEST_MS,
  );
});
