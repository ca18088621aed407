/** Files as people send them: too many, too large, too slow, not what they say they are. */
import { describe, expect, spyOn, test } from "bun:test";
import { type ArrivingFile, FileGone } from "../../contracts/channels/platform.ts";
import type { MediaRef } from "../../contracts/chat.ts";
import type { MediaId, Principal } from "../../contracts/ids.ts";
import { secret } from "../../kit/secret.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import {
  createInboundFiles,
  DAY_MS,
  DOWNLOAD_MS,
  IDLE_MS,
  type InboundSettings,
  RETRY_PAUSES_MS,
} from "./inbound-files.ts";
import type { Shrinker } from "./shrink.ts";

const NEVER = new AbortController().signal;
const EVE = "telegram:user:9" as Principal;
const ADA = "telegram:user:8" as Principal;
const MIB = 1024 * 1024;

async function world(settings: Partial<InboundSettings> = {}) {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const { media, transcriptions } = real.store;
  const shrunk: number[] = [];
  const shrinker: Shrinker = {
    async shrink(data) {
      shrunk.push(data.byteLength);
      return Buffer.from("ffd8ffe0", "hex");
    },
  };
  const deps = { clock, ids: createSeqIds(), log: recordingLog(), media, transcriptions, shrinker };
  const files = createInboundFiles({ ...deps, resolve: async () => ["127.0.0.1"] }, () => ({
    maxBytes: MIB,
    dailyBytes: 3 * MIB,
    transcription: null,
    ...settings,
  }));
  return {
    clock,
    media,
    transcriptions,
    files,
    shrunk,
    shrinker,
    log: deps.log,
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
}

function file(data: Uint8Array | string, more: Partial<ArrivingFile> = {}): ArrivingFile {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return {
    owner: EVE,
    name: "../../etc/\u202epasswd.png",
    mimeType: "image/png",
    bytes: null,
    open: async () => new Blob([Uint8Array.from(bytes)]).stream(),
    ...more,
  };
}

function png(width: number, height: number): Uint8Array {
  const head = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([head, size]);
}

describe("a file that arrives", () => {
  test("is kept under a name of our own, with the type of its content and a name that is safe to show", async () => {
    await using w = await world();
    const kept = await w.files.keep(file("plain words"), NEVER);
    if (kept.kind !== "kept") throw new Error(kept.note);
    expect(kept.media).toMatchObject({ mimeType: "text/plain", bytes: 11 });
    expect(kept.media.name).not.toContain("/");
    expect(new TextDecoder().decode((await w.files.read(kept.media.mediaId)) ?? undefined)).toBe("plain words");
  });

  test("is refused by the size it says before anything is opened, and by its real size at the first byte too many", async () => {
    await using w = await world();
    let opened = 0;
    let cancelled = false;
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 64 * 1024;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
      cancel: () => void (cancelled = true),
    });
    const open = async () => (opened++, endless);
    expect((await w.files.keep(file("", { bytes: MIB + 1, open }), NEVER)).kind).toBe("refused");
    expect(opened).toBe(0);
    const lied = await w.files.keep(file("", { bytes: 10, open }), NEVER);
    expect(lied).toMatchObject({ kind: "refused", note: expect.stringContaining("larger than 1 MiB") });
    expect(cancelled).toBe(true);
    expect(pulled).toBeLessThan(2 * MIB);
  });

  test.each<[string, () => ReadableStream<Uint8Array>, string]>([
    ["whole", () => new Blob(["fine"]).stream(), "kept"],
    ["too large", () => new Blob([new Uint8Array(2 * MIB)]).stream(), "refused"],
    [
      "gone",
      () => {
        throw new FileGone("gone");
      },
      "refused",
    ],
    ["empty", () => new Blob([]).stream(), "refused"],
  ])("and is %s ends everything that its download has open, and leaves no timer", async (_how, stream, kind) => {
    await using w = await world();
    const signals: AbortSignal[] = [];
    const open = async (signal: AbortSignal) => (signals.push(signal), stream());
    const kept = await waitForEnd("the file to be kept or refused, at once", w.files.keep(file("", { open }), NEVER));
    expect(kept.kind as string).toBe(kind);
    expect([signals.map(({ aborted }) => aborted), w.clock.pending()]).toEqual([[true], 0]);
  });

  test("and is a picture that cannot be made small enough is refused, and not handed to a model as it is", async () => {
    await using w = await world({ maxBytes: 9 * MIB });
    w.shrinker.shrink = async () => null;
    const kept = await w.files.keep(file(png(5_000, 5_000)), NEVER);
    expect(kept).toMatchObject({ kind: "refused", note: expect.stringContaining("could not be made small enough") });
  });

  test("is counted against its sender's day, also while others are on their way", async () => {
    await using w = await world({ dailyBytes: 2 * MIB });
    const large = new Uint8Array(MIB);
    const album = await Promise.all(Array.from({ length: 40 }, () => w.files.keep(file("x", { owner: ADA }), NEVER)));
    expect(album.every(({ kind }) => kind === "kept")).toBe(true); // many small ones are not much
    const kinds = await Promise.all([1, 2, 3, 4].map(async () => (await w.files.keep(file(large), NEVER)).kind));
    expect(kinds.filter((kind) => kind === "kept").length).toBeLessThanOrEqual(2);
    while ((await w.files.keep(file(large), NEVER)).kind === "kept"); // those that came together may all have been too much
    expect(await w.media.bytesSince(EVE, 0)).toBe(2 * MIB);
    const more = await w.files.keep(file("x"), NEVER);
    expect(more).toMatchObject({ kind: "refused", note: expect.stringContaining("2 MiB within a day") });
    expect((await w.files.keep(file("x", { owner: "telegram:user:1" as Principal }), NEVER)).kind).toBe("kept");
    await w.clock.advance(DAY_MS + 1);
    expect((await w.files.keep(file("x"), NEVER)).kind).toBe("kept");
  });

  test.each([
    ["stays silent", IDLE_MS, () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) })],
    ["never opens", IDLE_MS, () => new Promise<ReadableStream<Uint8Array>>(() => undefined)],
  ])("that %s is given up", async (_how, ms, open) => {
    await using w = await world();
    let attempts = 0;
    const keeping = w.files.keep(file("", { open: async () => (attempts++, open()) }), NEVER);
    for (const pauseMs of [...RETRY_PAUSES_MS, 0]) {
      await w.clock.advance(ms);
      await w.clock.advance(pauseMs);
    }
    expect(attempts).toBe(RETRY_PAUSES_MS.length + 1);
    expect(await keeping).toMatchObject({ kind: "refused", note: expect.stringContaining("could not be fetched") });
  });

  test("of exactly the largest size is taken, and the first byte of a person whose day is full is not fetched", async () => {
    await using w = await world({ dailyBytes: MIB });
    const largest = file(new Uint8Array(MIB).fill(65), { bytes: MIB });
    expect((await w.files.keep(largest, NEVER)).kind).toBe("kept");
    let opened = 0;
    const open = async () => (opened++, new Blob(["x"]).stream());
    const refused = await w.files.keep(file("", { open }), NEVER);
    expect([refused.kind, opened]).toEqual(["refused", 0]);
  });

  test("whose time is over in the pause between two attempts is a note", async () => {
    await using w = await world();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const left = DOWNLOAD_MS - 500 - w.clock.elapsed();
        if (left <= 0) return controller.error(new Error("the connection broke"));
        await w.clock.sleep(Math.min(left, IDLE_MS - 1), NEVER);
        controller.enqueue(new Uint8Array(1));
      },
    });
    const keeping = w.files.keep(file("", { open: async () => stream }), NEVER);
    keeping.catch(() => undefined); // looked at below
    await w.clock.advance(DOWNLOAD_MS + 1_000);
    const kept = await waitForEnd("the end of the download", keeping);
    expect(kept).toMatchObject({ kind: "refused", note: expect.stringContaining("could not be fetched") });
  });

  test("that trickles is given up in the end", async () => {
    await using w = await world();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await w.clock.sleep(IDLE_MS - 1, NEVER);
        controller.enqueue(new Uint8Array(1));
      },
    });
    const keeping = w.files.keep(file("", { open: async () => stream }), NEVER);
    await w.clock.advance(DOWNLOAD_MS + IDLE_MS);
    expect((await waitForEnd("the end of a download that trickles", keeping)).kind).toBe("refused");
  });

  test("is fetched again after a pause when its download fails at the start or breaks off, and is counted once", async () => {
    await using w = await world({ dailyBytes: MIB });
    const [firstMs = 0, secondMs = 0] = RETRY_PAUSES_MS;
    const data = new Uint8Array(600 * 1024).fill(65);
    let pulls = 0;
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(data.slice(1));
        else controller.error(new Error("the connection broke")); // what came before it has been read
      },
    });
    const attempts = [
      async () => Promise.reject(new Error("status 502")),
      async () => broken,
      async () => new Blob([data]).stream(),
    ];
    const open: ArrivingFile["open"] = async () => (await attempts.shift()?.()) ?? broken;
    const keeping = w.files.keep(file("", { open }), NEVER);
    await w.clock.advance(firstMs - 1);
    expect(attempts).toHaveLength(2);
    await w.clock.advance(1);
    await w.clock.advance(secondMs);
    expect(await keeping).toMatchObject({ kind: "kept", media: { bytes: data.byteLength } });
    expect(await w.media.bytesSince(EVE, 0)).toBe(data.byteLength);
  });

  test("that cannot be fetched is a note, and a stop is not", async () => {
    await using w = await world();
    let attempts = 0;
    const open = () => Promise.reject(new FileGone(`404, attempt ${++attempts}`));
    const kept = await waitForEnd("a file that is gone to be refused", w.files.keep(file("", { open }), NEVER));
    expect([kept.kind, attempts]).toEqual(["refused", 1]);
    await expect(w.files.keep(file("x"), AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  });

  test("that is a picture is refused by its header when it is a bomb, made smaller when it is large, and left alone otherwise", async () => {
    await using w = await world();
    const bomb = await w.files.keep(file(png(30_000, 30_000)), NEVER);
    expect(bomb).toMatchObject({ kind: "refused", note: expect.stringContaining("30000 × 30000 pixels") });
    expect(w.shrunk).toEqual([]);
    const large = await w.files.keep(file(png(3_000, 100)), NEVER);
    expect(large).toMatchObject({ kind: "kept", media: { mimeType: "image/jpeg" } });
    expect(w.shrunk).toHaveLength(1);
    const small = await w.files.keep(file(png(200, 100)), NEVER);
    expect(small).toMatchObject({ kind: "kept", media: { mimeType: "image/png" } });
    expect(w.shrunk).toHaveLength(1);
    expect((await w.files.keep(file(Buffer.from("ffd8ffe0", "hex")), NEVER)).kind).toBe("refused");
  });
});

describe("a voice message", () => {
  const OGG = Buffer.from("OggS and then some opus");

  async function listening(answer: (request: Request) => Response | Promise<Response>) {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    const transcription = { baseUrl: `http://127.0.0.1:${server.port}/v1`, model: "whisper-x" };
    const w = await world({ transcription });
    const voice = async (): Promise<MediaRef> => {
      const kept = await w.files.keep(file(OGG, { name: "voice.oga" }), NEVER);
      if (kept.kind !== "kept") throw new Error(kept.note);
      return kept.media;
    };
    const end = async () => {
      await server.stop(true);
      await w[Symbol.asyncDispose]();
    };
    return { ...w, voice, transcription, [Symbol.asyncDispose]: end };
  }

  test("becomes words, once for the same recording", async () => {
    const asked: string[] = [];
    await using w = await listening(async (request) => {
      const form = await request.formData();
      const sent = form.get("file") as unknown as File;
      asked.push(
        `${new URL(request.url).pathname} ${form.get("model")} ${sent.name} ${sent.type} ${await sent.text()}`,
      );
      return Response.json({ text: " hello there \n" });
    });
    expect(await w.files.transcribe(await w.voice(), NEVER)).toEqual({ kind: "words", text: "hello there" });
    expect(await w.files.transcribe(await w.voice(), NEVER)).toEqual({ kind: "words", text: "hello there" });
    expect(asked).toEqual([`/v1/audio/transcriptions whisper-x voice.ogg audio/ogg ${OGG.toString()}`]);
  });

  test("is sent without any key where the service has none, under a name that tells its format", async () => {
    const asked: unknown[] = [];
    await using w = await listening(async (request) => {
      const sent = (await request.formData()).get("file") as unknown as File;
      asked.push([request.headers.get("authorization"), sent.name]);
      return Response.json({ text: "words" });
    });
    const media = await w.voice();
    for (const mimeType of ["audio/ogg", "audio/mp4", "video/webm"]) {
      w.transcription.model = `whisper for ${mimeType}`; // the same recording is sent once for each model
      await w.files.transcribe({ ...media, mimeType }, NEVER);
    }
    expect(asked).toEqual([
      [null, "voice.ogg"],
      [null, "voice.m4a"],
      [null, "voice.webm"],
    ]);
  });

  test("is sent with the key of the service, to an address with or without a slash at its end", async () => {
    const asked: (string | null)[] = [];
    await using w = await listening((request) => {
      asked.push(new URL(request.url).pathname, request.headers.get("authorization"));
      return Response.json({ text: "words" });
    });
    Object.assign(w.transcription, { apiKey: secret("k-1"), baseUrl: `${w.transcription.baseUrl}//` });
    expect(await w.files.transcribe(await w.voice(), NEVER)).toEqual({ kind: "words", text: "words" });
    expect(asked).toEqual(["/v1/audio/transcriptions", "Bearer k-1"]);
  });

  test.each([
    ["null", 200, "has a problem right now"],
    ["[]", 200, "has a problem right now"],
    ['"words"', 200, "has a problem right now"],
    ['{"text":5}', 200, "has a problem right now"],
    ["no JSON", 200, "has a problem right now"],
    ['{"text":"x"}', 201, "refused it"],
    ["{}", 400, "refused it"],
    ["{}", 429, "is busy"],
    ["{}", 500, "has a problem right now"],
  ])("whose service answers %s with %d is told in words, and the log says why", async (body, status, words) => {
    await using w = await listening(() => new Response(body, { status }));
    const heard = await w.files.transcribe(await w.voice(), NEVER);
    expect(heard?.kind === "failed" ? heard.say : null).toContain(words);
    expect(w.log.lines).toMatchObject([
      { words: "voice message not transcribed", fields: { answer: "answered", status } },
    ]);
  });

  test("whose words could not be kept is an error: the next time it would be paid for again", async () => {
    await using w = await listening(() => Response.json({ text: "words" }));
    using _put = spyOn(w.transcriptions, "put").mockImplementation(() => Promise.reject(new Error("disk full")));
    const media = await w.voice();
    await expect(Promise.resolve(w.files.transcribe(media, NEVER))).rejects.toThrow("disk full");
  });

  test("is listened to again by another model", async () => {
    await using w = await listening(async (request) =>
      Response.json({ text: `words of ${(await request.formData()).get("model")}` }),
    );
    const media = await w.voice();
    expect(await w.files.transcribe(media, NEVER)).toEqual({ kind: "words", text: "words of whisper-x" });
    w.transcription.model = "whisper-y";
    expect(await w.files.transcribe(media, NEVER)).toEqual({ kind: "words", text: "words of whisper-y" });
  });

  test("becomes a hundred thousand characters at most, without half a character at the end", async () => {
    await using w = await listening(() => Response.json({ text: `${"x".repeat(99_999)}🍵 and more` }));
    const heard = await w.files.transcribe(await w.voice(), NEVER);
    if (heard?.kind !== "words") throw new Error("no words");
    expect([heard.text.length, heard.text.isWellFormed()]).toEqual([100_000, true]);
  });

  test("is no longer listened to when its turn is stopped", async () => {
    const asked = Promise.withResolvers<void>();
    await using w = await listening(() => (asked.resolve(), new Promise(() => undefined)));
    const stop = new AbortController();
    const listened = w.files.transcribe(await w.voice(), stop.signal);
    listened.catch(() => undefined); // looked at below
    await asked.promise;
    stop.abort(new Error("stopped"));
    await expect(waitForEnd("the end", Promise.resolve(listened), { withinMs: 2_000 })).rejects.toThrow("stopped");
    expect(w.clock.pending()).toBe(0);
  });

  test.each([
    ["is limited", () => new Response("slow down", { status: 429 }), "busy"],
    ["fails", () => new Response("<html>", { status: 503 }), "has a problem"],
    ["refuses", () => Response.json({ error: "no" }, { status: 401 }), "refused it"],
    ["says something else", () => Response.json({ texts: [1] }), "has a problem"],
    ["answers no JSON", () => new Response("hello"), "has a problem"],
    ["answers without end", () => new Response(new Uint8Array(3 * MIB)), "has a problem"],
  ])("is told to its sender when the service %s, and is not remembered", async (_what, answer, words) => {
    let ok = false;
    await using w = await listening(() => (ok ? Response.json({ text: "words" }) : answer()));
    const media = await w.voice();
    expect(await w.files.transcribe(media, NEVER)).toMatchObject({
      kind: "failed",
      say: expect.stringContaining(words),
    });
    expect(JSON.stringify(w.log.lines)).not.toContain("slow down");
    ok = true;
    expect(await w.files.transcribe(media, NEVER)).toEqual({ kind: "words", text: "words" });
  });

  test("is told to its sender when the service is slow", async () => {
    const reached = Promise.withResolvers<void>();
    await using w = await listening(() => {
      reached.resolve();
      return new Promise<Response>(() => undefined);
    });
    const asking = w.files.transcribe(await w.voice(), NEVER);
    await reached.promise;
    await w.clock.advance(60_000);
    expect(await asking).toMatchObject({ kind: "failed", say: expect.stringContaining("took too long") });
  });

  test("is left alone when nobody listens, and when it is no recording", async () => {
    await using w = await world();
    const nothing: MediaRef = { mediaId: "media_9" as MediaId, name: "v", mimeType: "audio/ogg", bytes: 1 };
    expect(await w.files.transcribe(nothing, NEVER)).toEqual({ kind: "off" });
    await using on = await listening(() => Response.json({ text: "no" }));
    const kept = await on.files.keep(file("plain words"), NEVER);
    if (kept.kind !== "kept") throw new Error(kept.note);
    expect(await on.files.transcribe(kept.media, NEVER)).toMatchObject({ kind: "failed" });
  });
});

test("a download that ran out of time is not begun again", async () => {
  await using w = await world();
  let opened = 0;
  const open = () => (opened++, new Promise<never>(() => undefined));
  const kept = w.files.keep(file("", { open }), NEVER);
  await w.clock.advance(DOWNLOAD_MS);
  expect((await waitForEnd("the end of the download", kept)).kind).toBe("refused");
  const before = opened;
  await w.clock.advance(DOWNLOAD_MS);
  expect([opened - before, w.clock.pending()]).toEqual([0, 0]);
  const last = w.log.lines.findLast(({ words }) => words === "file could not be fetched");
  expect([last?.fields?.["attempt"], last?.fields?.["retry"]]).toEqual([opened, false]);
});

test("whoever gives up a picture gives up making it smaller", async () => {
  await using w = await world();
  const seen: unknown[] = [];
  w.shrinker.shrink = async (_data, signal) => {
    seen.push(signal);
    return null;
  };
  const stop = new AbortController();
  expect((await w.files.keep(file(png(4_000, 4_000)), stop.signal)).kind).toBe("refused");
  expect(seen[0]).toBe(stop.signal);
});

test("files that were refused leave the daily share of a person as it was", async () => {
  await using w = await world({ dailyBytes: 2 * MIB });
  for (let n = 0; n < 3; n++) await w.files.keep(file(new Uint8Array(2 * MIB)), NEVER); // each too large
  expect((await w.files.keep(file(new Uint8Array(MIB - 1)), NEVER)).kind).toBe("kept");
});

test("a download that drips until its time is over is begun once", async () => {
  await using w = await world();
  let opened = 0;
  const drip = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      async pull(controller) {
        await w.clock.sleep(IDLE_MS - 1_000, NEVER);
        controller.enqueue(new Uint8Array(1));
      },
    });
  const kept = w.files.keep(file("", { open: async () => (opened++, drip()) }), NEVER);
  await w.clock.advance(DOWNLOAD_MS);
  expect((await waitForEnd("the end of the download", kept)).kind).toBe("refused");
  expect(opened).toBe(1);
});
