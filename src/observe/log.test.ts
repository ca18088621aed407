import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { GatewayError } from "../contracts/errors.ts";
import { secret } from "../kit/secret.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { tempHome } from "../testing/temp-home.ts";
import { type LogOptions, openLog } from "./log.ts";
import { MAX_LINE_BYTES } from "./log-line.ts";
import { type FileDisk, systemDisk } from "./private-files.ts";
import { createRedactor } from "./redaction/redact.ts";

const START = Date.parse("2026-01-31T23:59:00.000Z");
const DAY_MS = 86_400_000;

async function world(options: Partial<LogOptions> = {}, disk: FileDisk = systemDisk) {
  const clock = createFakeClock(START);
  const redactor = createRedactor();
  const printed: string[] = [];
  const sink = await openLog(
    { clock, redactor, disk, stderr: (text) => printed.push(text) },
    { level: "debug", folder: null, retentionDays: 14, console: "json", colour: false, ...options },
  );
  return { clock, redactor, printed, sink, log: sink.log };
}

const parsed = (printed: readonly string[]) => printed.map((line) => JSON.parse(line) as Record<string, unknown>);
const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").filter(Boolean);

/** Any character at all, and often one that could break a line or disturb a terminal. */
const nasty = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  fc.constantFrom("\n", "\r", "\u0085", "\u009b", "\u2028", "\u2029", "\u202e", "\u2066", '"', "\\", "\ud800"),
);

describe("a line", () => {
  test("has level, time, words and fields, and nothing else", async () => {
    const { log, printed } = await world();
    log.child({ turnId: "t1", part: "queue" }).info("turn started", { part: "flow", waitedMs: 3 });
    expect(printed).toEqual([
      '{"level":"info","time":"2026-01-31T23:59:00.000Z","turnId":"t1","part":"flow","waitedMs":3,"msg":"turn started"}\n',
    ]);
  });

  test("is written from the set level on, and the level can change while running, for children too", async () => {
    const { log, sink, printed } = await world({ level: "warn" });
    const child = log.child({ a: 1 });
    child.info("quiet");
    sink.configure({ level: "info", folder: null, retentionDays: 14 });
    child.info("heard");
    expect(parsed(printed).map(({ msg }) => msg)).toEqual(["heard"]);
  });

  test("goes to files from the moment the settings say so, and no longer when they do not; none is lost in between", async () => {
    await using home = await tempHome();
    const folder = join(home.path, "logs");
    const { log, sink } = await world();
    log.info("before");
    sink.configure({ level: "debug", folder, retentionDays: 14 });
    log.info("first");
    sink.configure({ level: "debug", folder, retentionDays: 2 });
    log.info("second");
    sink.configure({ level: "debug", folder: null, retentionDays: 2 });
    log.info("after");
    const written = readdirSync(folder).flatMap((name) => linesOf(join(folder, name)));
    expect(parsed(written).map(({ msg }) => msg)).toEqual(["first", "second"]);
  });

  test("is one line of valid JSON within its limit, whatever is in the words and fields", async () => {
    const { log, printed } = await world();
    fc.assert(
      fc.property(
        fc.string({ unit: nasty, maxLength: 3_000 }),
        fc.dictionary(fc.string({ unit: nasty, maxLength: 200 }), fc.anything({ withBigInt: true, withDate: true })),
        (words, fields) => {
          printed.length = 0;
          log.info(words, fields);
          if (printed.length === 0) return; // the same words too often
          expect(printed).toHaveLength(1);
          const line = printed[0] ?? "";
          expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_LINE_BYTES + 1);
          expect(line.slice(0, -1)).not.toMatch(/[\n\r\u0085\u009b\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
          expect(JSON.parse(line)).toMatchObject({ level: "info", time: "2026-01-31T23:59:00.000Z" });
        },
      ),
      { numRuns: 300 },
    );
  });

  test("shows characters that hide or turn text by their number", async () => {
    const { log, printed } = await world();
    log.info("odd characters", { text: "a\u202eb\u2066c\u0085d\u2028e\u009bf\u0007g" });
    expect(printed[0]).toContain('"a\\u202eb\\u2066c\\u0085d\\u2028e\\u009bf\\u0007g"');
  });

  test("that would be too long keeps its words and small fields and says how long it was", async () => {
    const { log, printed } = await world();
    log.info("big", { turnId: "t1", many: Array.from({ length: 50 }, () => "x".repeat(1_000)) });
    const [line] = parsed(printed);
    expect(line).toMatchObject({ msg: "big", turnId: "t1", cutFromBytes: expect.any(Number) });
    expect(line).not.toHaveProperty("many");
  });

  test("caps a long string and says how long it was", async () => {
    const { log, printed } = await world();
    log.info("long", { text: "ä".repeat(5_000) });
    expect(parsed(printed)[0]?.["text"]).toBe(`${"ä".repeat(2_000)}… (5000 characters)`);
  });

  test("survives fields that throw, loop or are not data", async () => {
    const { log, printed } = await world();
    const loop: Record<string, unknown> = { name: "loop" };
    loop["self"] = loop;
    const trap = Object.defineProperty({ fine: 1 }, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    log.info("odd", { loop, inner: { trap }, fn: () => 1, big: 10n, level: "mine", nothing: undefined });
    log.info("odder", trap);
    expect(parsed(printed)[0]).toMatchObject({ level: "info", level_: "mine", big: "10", fn: "(function)" });
    expect(parsed(printed)[0]?.["inner"]).toEqual({ trap: { fine: 1, bad: "(unreadable)" } });
    expect(parsed(printed)[1]).toMatchObject({ msg: "odder", fields: "(unreadable)" });
  });

  test("shows an error with its code, fields and causes, and a short stack", async () => {
    const { log, printed } = await world();
    const cause = new TypeError("socket closed");
    const error = new GatewayError("agent_exited", "pid 7 is gone", { cause, fields: { pid: 7 } });
    log.error("turn failed", { error });
    const shown = parsed(printed)[0]?.["error"] as Record<string, unknown>;
    expect(shown).toMatchObject({
      type: "GatewayError",
      code: "agent_exited",
      message: "agent_exited: pid 7 is gone",
      fields: { pid: 7 },
      cause: { type: "TypeError", message: "socket closed" },
    });
    expect(String(shown["stack"]).split("\n").length).toBeLessThanOrEqual(12);
  });
});

describe("a secret", () => {
  test("never reaches a line, whichever way it is put in", async () => {
    const { log, redactor, printed } = await world();
    const canary = "Canary-9f8e7d6c5b4a";
    redactor.add(secret(canary));
    const base64 = Buffer.from(`user:${canary}`).toString("base64");
    log.child({ base: `x${canary}` }).error(`words with ${canary}`, {
      plain: canary,
      [canary]: "as a key",
      wrapped: secret(canary),
      nested: [{ deep: `${canary}&` }],
      error: new Error(`bad ${canary}`, { cause: new Error(canary) }),
      base64,
      atTheEdge: `${"x".repeat(1_990)}${canary}`,
      url: encodeURIComponent(canary),
    });
    const text = printed.join("");
    expect(text).not.toContain(canary);
    expect(text).not.toContain("Canary");
    expect(text).not.toContain(base64.slice(8, 20));
  });

  test("is hidden by the name of its field alone", async () => {
    const { log, printed } = await world();
    log.info("signed in", { password: "hunter2", botToken: "abc", inputTokens: 5 });
    expect(parsed(printed)[0]).toMatchObject({ password: "[redacted]", botToken: "[redacted]", inputTokens: 5 });
  });
});

describe("the same words too often", () => {
  test("are counted and summed up once the ten seconds are over", async () => {
    const { log, clock, printed } = await world();
    for (let count = 0; count < 250; count++) log.info("again", { count });
    log.info("something else");
    expect(printed).toHaveLength(101);
    await clock.advance(10_000);
    expect(parsed(printed).at(-1)).toMatchObject({
      level: "warn",
      msg: "the same log line came too often",
      words: "again",
      heldBack: 150,
    });
    log.info("again");
    expect(parsed(printed).at(-1)).toMatchObject({ msg: "again" });
  });

  test("are summed up when the log closes", async () => {
    const { log, sink, printed } = await world();
    for (let count = 0; count < 101; count++) log.info("again");
    await sink[Symbol.asyncDispose]();
    expect(parsed(printed).at(-1)).toMatchObject({ words: "again", heldBack: 1 });
  });
});

describe("log files", () => {
  test("begin anew every UTC day", async () => {
    await using home = await tempHome();
    const folder = join(home.path, "logs");
    const { log, clock, sink } = await world({ folder });
    log.info("before midnight");
    await clock.advance(60_000);
    log.info("after midnight");
    await sink[Symbol.asyncDispose]();
    expect(readdirSync(folder).sort()).toEqual(["gateway-2026-01-31.1.log", "gateway-2026-02-01.1.log"]);
    expect(linesOf(join(folder, "gateway-2026-01-31.1.log"))).toHaveLength(1);
    expect(linesOf(join(folder, "gateway-2026-02-01.1.log"))).toHaveLength(1);
  });

  test("begin anew when they are full, and a restart goes on with the newest", async () => {
    await using home = await tempHome();
    for (const words of ["one", "two", "three"]) {
      const { log, sink } = await world({ folder: home.path, maxFileBytes: 100 });
      log.warn(words);
      await sink[Symbol.asyncDispose]();
    }
    expect(readdirSync(home.path).sort()).toEqual([
      "gateway-2026-01-31.1.log",
      "gateway-2026-01-31.2.log",
      "gateway-2026-01-31.3.log",
    ]);
  });

  test("older than the retention are deleted at start and at every rotation, and other files stay", async () => {
    await using home = await tempHome();
    for (const name of ["gateway-2026-01-16.1.log", "gateway-2026-01-17.1.log", "gateway-2026-01-17.2.log", "my.log"]) {
      await Bun.write(join(home.path, name), "old\n");
    }
    const { log, clock, sink } = await world({ folder: home.path });
    expect(readdirSync(home.path).sort()).toEqual([
      "gateway-2026-01-17.1.log",
      "gateway-2026-01-17.2.log",
      "gateway-2026-01-31.1.log",
      "my.log",
    ]);
    await clock.advance(DAY_MS);
    log.warn("next day");
    await sink[Symbol.asyncDispose]();
    expect(readdirSync(home.path).sort()).toEqual(["gateway-2026-01-31.1.log", "gateway-2026-02-01.1.log", "my.log"]);
  });

  test("are private, and so is their folder", async () => {
    await using home = await tempHome();
    const folder = join(home.path, "logs");
    const { sink } = await world({ folder });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, "gateway-2026-01-31.1.log"))).mode & 0o777).toBe(0o600);
    await sink[Symbol.asyncDispose]();
  });

  test("have a warning at once and other lines a moment later", async () => {
    await using home = await tempHome();
    const path = join(home.path, "gateway-2026-01-31.1.log");
    const { log, clock, sink } = await world({ folder: home.path });
    log.info("waits");
    expect(linesOf(path)).toHaveLength(0);
    log.warn("does not wait");
    expect(linesOf(path)).toHaveLength(2);
    log.info("waits too");
    await clock.advance(250);
    expect(linesOf(path)).toHaveLength(3);
    await sink[Symbol.asyncDispose]();
  });

  test("are never written through a link", async () => {
    await using home = await tempHome();
    const target = join(home.path, "elsewhere");
    await Bun.write(target, "mine");
    await symlink(target, join(home.path, "gateway-2026-01-31.1.log"));
    const failure = await world({ folder: home.path }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "home_unusable" });
    expect(await Bun.file(target).text()).toBe("mine");
  });
});

describe("a full disk", () => {
  /** Takes `room` bytes, then refuses until `room` is raised. */
  function smallDisk() {
    const disk = {
      ...systemDisk,
      room: 0,
      write(fd: number, data: Uint8Array) {
        if (disk.room <= 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
        const taken = systemDisk.write(fd, data.subarray(0, disk.room));
        disk.room -= taken;
        return taken;
      },
    };
    return disk;
  }

  test("costs lines and nothing else, and the loss is said once when it works again", async () => {
    await using home = await tempHome();
    const disk = smallDisk();
    const { log, clock, sink, printed } = await world({ folder: home.path }, disk);
    for (let count = 0; count < 5; count++) log.error("disk is full", { count });
    expect(sink.lost()).toBe(5);
    expect(printed).toHaveLength(5);
    disk.room = 1_000_000;
    await clock.advance(1_000);
    log.warn("works again");
    log.warn("still works");
    await sink[Symbol.asyncDispose]();
    const written = linesOf(join(home.path, "gateway-2026-01-31.1.log")).map((line) => JSON.parse(line));
    expect(written.map(({ msg, lines }) => [msg, lines])).toEqual([
      ["log lines were lost because they could not be written", 5],
      ["works again", undefined],
      ["still works", undefined],
    ]);
  });

  test("that stops in the middle of a line leaves the next lines whole", async () => {
    await using home = await tempHome();
    const disk = smallDisk();
    disk.room = 20;
    const { log, clock, sink } = await world({ folder: home.path }, disk);
    log.error("torn");
    disk.room = 1_000_000;
    await clock.advance(1_000);
    log.error("whole");
    await sink[Symbol.asyncDispose]();
    const lines = linesOf(join(home.path, "gateway-2026-01-31.1.log"));
    expect(lines).toHaveLength(3);
    expect(lines.slice(1).map((line) => JSON.parse(line).msg)).toEqual([
      "log lines were lost because they could not be written",
      "whole",
    ]);
  });
});

describe("the console", () => {
  test("shows plain readable lines without anything that could disturb a terminal", async () => {
    const { log, printed } = await world({ console: "plain" });
    log.warn("agent slow", { pid: 7, name: "a\u001b[2Jb\u202ec\u009b" });
    expect(printed).toEqual(['2026-01-31T23:59:00.000Z warn  agent slow pid=7 name="a\\u001b[2Jb\\u202ec\\u009b"\n']);
  });

  test("is pretty on a terminal, and as safe", async () => {
    const { log, printed } = await world({ console: "pretty" });
    log.info("agent ready", { pid: 7, name: "a\u001b[2Jb\u202e" });
    log.error("turn failed", { error: new Error("x\u001b[31m") });
    expect(printed[0]).toContain("agent ready");
    expect(printed.join("")).not.toMatch(/[\u001b\u202e]/);
  });

  test("that throws does not disturb the caller", async () => {
    const sink = await openLog(
      {
        clock: createFakeClock(),
        redactor: createRedactor(),
        stderr: () => {
          throw new Error("EPIPE");
        },
      },
      { level: "info", folder: null, retentionDays: 14, console: "json", colour: false },
    );
    expect(() => sink.log.error("anything")).not.toThrow();
  });
});
