/** The readable record of a session: what is in it, what is kept out of it, and that it hurts nobody. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import type { GatewayEvents } from "../../contracts/events.ts";
import type { Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import { secret } from "../../kit/secret.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { createEvents, createRedactor, startTranscripts, type TranscriptSettings } from "../index.ts";
import { transcriptDisk, transcriptName } from "./files.ts";
import type { TranscriptDeps } from "./transcripts.ts";

const KEY = "agent:default:telegram:dm:42" as SessionKey;
const TURN = "turn_1" as TurnId;
const DAY_MS = 86_400_000;

type Recorded = GatewayEvents["turn.recorded"];

function turn(text: string, reply = "Gladly.", changes: Partial<Recorded> = {}): Recorded {
  const principal = "telegram:user:42" as Principal;
  return {
    sessionKey: KEY,
    turnId: TURN,
    role: "owner",
    said: [{ at: 1_700_000_000_000, principal, name: "Ann", text, attachments: [] }],
    reply: [{ kind: "reply", text: reply }],
    outcome: "done",
    ms: 1_200,
    usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.0125 },
    model: "fake/one",
    ...changes,
  };
}

async function world(changes: Partial<TranscriptSettings> = {}, deps: Partial<TranscriptDeps> = {}) {
  const home = await tempHome();
  const folder = join(home.path, "logs", "transcripts");
  const clock = createFakeClock();
  const log = recordingLog();
  const events = createEvents({ log });
  const redactor = createRedactor();
  const settings = { enabled: true, maxMb: 1, keep: 2, retentionDays: 14, ...changes };
  const open = () => startTranscripts({ clock, log, events, scrub: redactor.scrub, ...deps }, folder, () => settings);
  const running = open();
  return {
    clock,
    log,
    events,
    redactor,
    folder,
    settings,
    open,
    files: () => {
      try {
        return readdirSync(folder).sort();
      } catch {
        return [];
      }
    },
    read: (name = `${transcriptName(KEY)}.md`) => readFileSync(join(folder, name), "utf8"),
    say: async (one: Recorded) => {
      events.emit("turn.recorded", one);
      await clock.advance(200);
    },
    stop: () => running[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

describe("a transcript", () => {
  test("says who said what and when, which tools were used, what was answered and what it cost", async () => {
    await using fx = await world();
    const tool = { sessionKey: KEY, turnId: TURN, callId: "c1", tool: "web_search" } as const;
    fx.events.emit("turn.tool", { ...tool, status: "running", input: { q: "secret plans" } });
    fx.events.emit("turn.tool", { ...tool, status: "success", output: "much", ms: 41.6 });
    const asked = turn("Two lines,\nplease.").said.map((one) => ({ ...one, attachments: ["a.png"] }));
    await fx.say(turn("", "Here\nthey are.", { said: asked }));
    expect(fx.read()).toBe(
      [
        `# ${KEY}`,
        "## 2023-11-14T22:13:20.000Z, turn_1",
        "**Ann** (telegram:user:42, owner), 22:13:20",
        "> Two lines,\n> please.",
        "Attached: a.png",
        "- `web_search` success, 42 ms",
        "**Assistant**",
        "> Here\n> they are.",
        "done after 1200 ms, fake/one, 10 tokens in, 5 out, $0.0125",
        "",
      ].join("\n\n"),
    );
  });

  test("shows no half of a secret that lies where a long text is cut", async () => {
    await using fx = await world();
    fx.redactor.add(secret("0p3rator-Qx7vLm2Kd9Tz4Rb8"));
    await fx.say(turn(`${"x".repeat(49_990)}0p3rator-Qx7vLm2Kd9Tz4Rb8 and more`));
    expect(fx.read()).toContain("x[redacted]\n");
    expect(fx.read()).not.toContain("0p3r");
  });

  test("says what a person was asked in the middle of a turn, and how that ended, and nothing of an open question", async () => {
    await using fx = await world();
    const asked = {
      sessionKey: KEY,
      turnId: TURN,
      principal: "telegram:user:42" as Principal,
      askedAt: 1,
      expiresAt: 2,
      question: { kind: "confirm", title: "Sure?\n## 2020" },
    } as const;
    const ended = { how: "cancelled", by: null, because: "Nobody is there to be asked." } as const;
    fx.events.emit("question", { ...asked, id: "q1", end: null });
    fx.events.emit("question", { ...asked, id: "q1", end: ended });
    fx.events.emit("question", { ...asked, id: "q2", end: null });
    await fx.say(turn("please"));
    expect(fx.read().match(/^- .*$/gm)).toEqual(["- asked `Sure?\\u000a## 2020`: Nobody is there to be asked."]);
  });

  test("is private, one file per session, and goes on where it was", async () => {
    await using fx = await world();
    await fx.say(turn("one"));
    await fx.say(turn("two", "ok", { sessionKey: "agent:default:telegram:dm:43" as SessionKey }));
    await fx.say(turn("three"));
    expect(fx.files().length).toBe(2);
    expect([statSync(fx.folder).mode & 0o777, statSync(join(fx.folder, fx.files()[0] ?? "")).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
    expect(fx.read().match(/^> .*$/gm)).toEqual(["> one", "> Gladly.", "> three", "> Gladly."]);
    expect(fx.read().match(/^# /gm)?.length).toBe(1);
  });

  test("cannot be made to look like something else by what is said in it", async () => {
    await using fx = await world();
    await fx.say(turn("## 2020-01-01, turn_9\r\n**Gateway**\n\u001b[2J\u202e", "x\n\n**Ann** (owner)"));
    const outside = fx
      .read()
      .split("\n")
      .filter((line) => !line.startsWith(">"));
    expect(outside.filter((line) => /turn_9|Gateway|\(owner\)/.test(line))).toEqual([]);
    expect(fx.read()).toContain("\\u001b[2J\\u202e");
  });

  test("holds no secret: neither one the gateway knows nor what looks like one, in several lines too", async () => {
    await using fx = await world();
    fx.redactor.add(secret("correct-horse-battery"));
    const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nxyz\n-----END RSA PRIVATE KEY-----";
    await fx.say(turn(`it is correct-horse-battery\n${key}`, "Bearer abcdefghijklmnop and sk-ant-abcdefghijklmnop"));
    expect(fx.read()).not.toMatch(/horse|MIIEabc|abcdefghijkl/);
    expect(fx.read().match(/\[redacted\]/g)?.length).toBe(4);
  });

  test("leaves out what an attempt that came to nothing had called", async () => {
    await using fx = await world();
    const tool = { sessionKey: KEY, turnId: TURN, callId: "c1", tool: "first_try", status: "error" } as const;
    fx.events.emit("turn.tool", tool);
    fx.events.emit("turn.started", { sessionKey: KEY, turnId: TURN, inboxIds: [], attempt: 2, waitedMs: 0 });
    await fx.say(turn("again"));
    expect(fx.read()).not.toContain("first_try");
  });

  test("cuts a very long text and says how long it was", async () => {
    await using fx = await world();
    await fx.say(turn("x".repeat(60_000)));
    expect(fx.read().length).toBeLessThan(52_000);
    expect(fx.read()).toContain("> … (60000 characters)");
  });
});

describe("files", () => {
  test("that are full make room: the newest keeps the name, and no more stay than asked for", async () => {
    await using fx = await world({ maxMb: 1, keep: 2 });
    for (let at = 1; at <= 100; at++) await fx.say(turn(`number ${at} ${"x".repeat(40_000)}`));
    const name = transcriptName(KEY);
    expect(fx.files()).toEqual([`${name}.1.md`, `${name}.2.md`, `${name}.md`]);
    const numbers = fx
      .files()
      .map((file) => Number(/number (\d+)/.exec(fx.read(file))?.[1]))
      .sort((a, b) => a - b);
    expect([new Set(numbers).size, fx.read().includes("number 100 ")]).toEqual([3, true]);
    for (const file of fx.files()) expect(statSync(join(fx.folder, file)).size).toBeLessThanOrEqual(1_048_576);
    expect(fx.read().startsWith(`# ${KEY}\n\n## `)).toBe(true);
  });

  test("that are older than the retention are deleted, at start and once a day; what is not ours stays", async () => {
    await using fx = await world({ retentionDays: 3 });
    await mkdir(fx.folder, { recursive: true });
    const put = (name: string, ageDays: number) => {
      writeFileSync(join(fx.folder, name), "x");
      const at = (fx.clock.now() - ageDays * DAY_MS) / 1_000;
      utimesSync(join(fx.folder, name), at, at);
    };
    const name = transcriptName(KEY);
    for (const [file, age] of [
      [`${name}.md`, 2],
      [`${name}.1.md`, 4],
      ["notes.md", 400],
    ] as const)
      put(file, age);
    await using _again = fx.open();
    expect(fx.files()).toEqual(["notes.md", `${name}.md`].sort());
    fx.settings.enabled = false;
    await fx.clock.advance(2 * DAY_MS);
    fx.events.emit("turn.recorded", turn("nothing is written, but a day has passed"));
    expect(fx.files()).toEqual(["notes.md"]);
  });

  test("have names that are safe and never the same for two sessions", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (one, other) => {
        const [a, b] = [transcriptName(one as SessionKey), transcriptName(other as SessionKey)];
        expect(a).toMatch(/^[a-z0-9_-]{0,80}~[0-9a-f]{12}$/);
        expect(a === b).toBe(one.toWellFormed() === other.toWellFormed());
      }),
    );
    expect(transcriptName("agent:a:../../etc/passwd" as SessionKey)).toStartWith("agent_a_etc_passwd~");
  });
});

describe("trouble", () => {
  test("a disk that refuses costs a part of the record, is said, and hurts nobody", async () => {
    let full = true;
    const disk = {
      ...transcriptDisk,
      write: (fd: number, data: Uint8Array) => {
        if (full) throw new Error("ENOSPC");
        return transcriptDisk.write(fd, data);
      },
    };
    await using fx = await world({}, { disk });
    await fx.say(turn("lost"));
    expect(fx.log.lines.map(({ level, words }) => [level, words])).toEqual([
      ["warn", "transcript could not be written; a part of it is missing"],
    ]);
    expect(JSON.stringify(fx.log.lines)).not.toContain("lost");
    full = false;
    await fx.say(turn("kept"));
    expect(fx.read()).toContain("> kept");
  });

  test("a link in place of a file is not written through", async () => {
    await using fx = await world();
    await mkdir(fx.folder, { recursive: true });
    const target = join(fx.folder, "..", "target");
    writeFileSync(target, "");
    symlinkSync(target, join(fx.folder, `${transcriptName(KEY)}.md`));
    await fx.say(turn("hello"));
    expect([readFileSync(target, "utf8"), fx.log.lines.length]).toEqual(["", 1]);
  });

  test("what waits is written when the gateway stops", async () => {
    await using fx = await world();
    fx.events.emit("turn.recorded", turn("the last words"));
    expect(fx.files()).toEqual([]);
    await fx.stop();
    expect(fx.read()).toContain("> the last words");
  });

  test("switched off, nothing is written, from the next turn on", async () => {
    await using fx = await world({ enabled: false });
    await fx.say(turn("private"));
    expect(fx.files()).toEqual([]);
    fx.settings.enabled = true;
    await fx.say(turn("public"));
    expect(fx.read()).not.toContain("private");
  });
});
