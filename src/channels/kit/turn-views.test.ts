/** Turns as previews see them, and files as messages bring them: what is shown where, what becomes words, what is forgotten. */
import { describe, expect, test } from "bun:test";
import type { MediaRef } from "../../contracts/chat.ts";
import type { InboxId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import { createEvents } from "../../observe/index.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { previewText } from "../discord/outbound/preview-text.ts";
import { previewOf } from "../telegram/outbound/preview-text.ts";
import { keepFiles, type MessageFile } from "./keep-files.ts";
import { noteTool } from "./running-tools.ts";
import { emptyView, hearTurns, type StreamMode, type TurnView } from "./turn-views.ts";
import { wholeCharacters } from "./whole-characters.ts";

const NEVER = new AbortController().signal;

describe("turns that are heard for their previews", () => {
  const T = "t1" as TurnId;
  const sessionKey = "s" as SessionKey;
  function world(maxChars = 10) {
    const events = createEvents({ log: recordingLog() });
    const told: string[] = [];
    const views = new Map<TurnId, TurnView>();
    const heard = hearTurns<string>(events, {
      maxChars,
      begun: (turnId) => void told.push(`begun ${turnId}`),
      show(turnId, spot) {
        told.push(`show ${turnId} ${spot}`);
        views.set(turnId, emptyView());
      },
      viewOf: (turnId) => views.get(turnId),
      over(turnId) {
        told.push(`over ${turnId}`);
        views.delete(turnId);
      },
    });
    const started = (...ids: readonly string[]): void =>
      events.emit("turn.started", { sessionKey, turnId: T, inboxIds: ids as InboxId[], attempt: 1, waitedMs: 0 });
    const ended = (...ids: readonly string[]): void =>
      events.emit("turn.ended", { sessionKey, turnId: T, inboxIds: ids as InboxId[] } as never);
    const delta = (text: string): void => events.emit("turn.delta", { sessionKey, turnId: T, text });
    const expectAt = (id: string, spot: string): void => heard.expect(id as InboxId, spot);
    return { events, told, views, heard, started, ended, delta, expectAt };
  }

  test("are shown where their newest message was said, once", () => {
    const at = world();
    at.expectAt("a", "first");
    at.expectAt("b", "second");
    at.started("a", "b");
    at.ended("a", "b");
    at.started("a", "b");
    expect(at.told).toEqual(["begun t1", "show t1 second", "over t1", "begun t1"]);
  });

  test("that begin before it is known where are shown as soon as it is, unless they have ended or are shown already", () => {
    const at = world();
    at.started("a", "b");
    at.expectAt("a", "here");
    at.expectAt("b", "there");
    expect(at.told).toEqual(["begun t1", "show t1 here"]);
    const other = world();
    other.started("a");
    other.ended("a");
    other.expectAt("a", "late");
    expect(other.told).toEqual(["begun t1", "over t1"]);
  });

  test("that begin before it is known where are shown by any of their messages, and never by one message twice", () => {
    const second = world();
    second.started("a", "b");
    second.expectAt("b", "there");
    expect(second.told).toEqual(["begun t1", "show t1 there"]);
    second.views.clear(); // it is not shown any more
    second.expectAt("b", "again");
    expect(second.told).toEqual(["begun t1", "show t1 there"]);
    second.started("b"); // another turn with that message
    expect(second.told.slice(2)).toEqual(["begun t1", "show t1 again"]);
  });

  test("are remembered for five thousand messages, before and after it is known where they are shown", () => {
    const at = world();
    for (let n = 0; n <= 5_000; n++) at.expectAt(`m${n}`, `spot ${n}`);
    at.started("m0");
    at.started("m1");
    expect(at.told).toEqual(["begun t1", "begun t1", "show t1 spot 1"]);
    const early = world();
    for (let n = 0; n <= 5_000; n++) early.started(`m${n}`);
    early.told.length = 0;
    early.expectAt("m0", "gone");
    early.expectAt("m1", "here");
    expect(early.told).toEqual(["show t1 here"]);
  });

  test("hold their words up to a limit, their tools, and what they wait for until something else is said", () => {
    const at = world(4);
    at.expectAt("a", "here");
    at.started("a");
    const view = at.views.get(T);
    const waiting = (text: string): void => at.events.emit("turn.waiting", { sessionKey, turnId: T, until: 0, text });
    waiting("a key");
    expect(view?.waiting).toBe("a key");
    for (const text of ["ab", "cd", "ef"]) at.delta(text);
    expect([view?.text, view?.waiting]).toEqual(["abcd", ""]);
    waiting("again");
    at.events.emit("turn.tool", { sessionKey, turnId: T, callId: "c", tool: "bash", input: {}, status: "running" });
    expect([view?.waiting, view?.tools.calls.get("c")?.tool]).toEqual(["", "bash"]);
    at.started("a");
    expect([at.views.get(T) === view, view?.text, view?.tools.calls.size]).toEqual([true, "", 0]);
  });

  test("that are not shown, and those after the end of the account, change nothing", () => {
    const at = world();
    at.delta("x");
    at.heard[Symbol.dispose]();
    at.expectAt("a", "here");
    at.started("a");
    at.ended("a");
    expect(at.told).toEqual([]);
  });
});

describe("files of a message", () => {
  const MIB = 1024 * 1024;
  const media = { mediaId: "m1", name: "a" } as unknown as MediaRef;
  const keep = async (
    file: Partial<MessageFile>,
    heard: object = { kind: "off" },
    kept: object = { kind: "kept", media },
  ) => {
    const asked: string[] = [];
    const files = {
      keep: async () => (asked.push("keep"), kept),
      transcribe: async () => (asked.push("transcribe"), heard),
    };
    const one = { name: "a", mimeType: "b", bytes: 1, open: () => Promise.reject(new Error("no")), spoken: false };
    const result = await keepFiles(
      { files: files as never, mediaMaxMb: 1 },
      "p" as Principal,
      [{ ...one, ...file } as MessageFile],
      NEVER,
    );
    return { ...result, asked };
  };
  const large = (name: string) => `The file ${name} is larger than 1 MB and was not fetched.`;

  test.each([
    ["a file", keep({}), { media: [media], words: [], tell: [], asked: ["keep"] }],
    ["a file of unknown size", keep({ bytes: null }), { media: [media], words: [], tell: [], asked: ["keep"] }],
    ["a file of the largest size", keep({ bytes: MIB }), { media: [media], words: [], tell: [], asked: ["keep"] }],
    [
      "a file that is larger",
      keep({ bytes: MIB + 1 }),
      { media: [], words: [`[${large("a")}]`], tell: [large("a")], asked: [] },
    ],
    [
      "a file with a long name",
      keep({ bytes: MIB + 1, name: "n".repeat(101) }),
      { media: [], words: [`[${large("n".repeat(100))}]`], tell: [large("n".repeat(100))], asked: [] },
    ],
    [
      "a file that is refused",
      keep({}, {}, { kind: "refused", note: "no" }),
      { media: [], words: ["[no]"], tell: ["no"], asked: ["keep"] },
    ],
    [
      "a voice",
      keep({ spoken: true }, { kind: "words", text: "hi" }),
      { media: [media], words: ["hi"], tell: [], asked: ["keep", "transcribe"] },
    ],
    [
      "a voice that nobody writes down",
      keep({ spoken: true }),
      { media: [media], words: ["[Voice message]"], tell: [], asked: ["keep", "transcribe"] },
    ],
    [
      "a voice that cannot be read",
      keep({ spoken: true }, { kind: "failed", say: "sorry" }),
      { media: [media], words: ["[Voice message]"], tell: ["sorry"], asked: ["keep", "transcribe"] },
    ],
  ])("become %s", async (_what, result: Promise<unknown>, expected) => {
    expect(await result).toEqual(expected);
  });
});

describe("a preview", () => {
  const view = (
    text: string,
    calls: readonly (readonly [string, "running" | "success", string?])[] = [],
    waiting = "",
  ): TurnView => {
    const shown: TurnView = { ...emptyView(), text, waiting };
    for (const [tool, status, progress] of calls)
      noteTool(shown.tools, { callId: tool, tool, status, ...(progress === undefined ? {} : { progress }) });
    return shown;
  };
  const long = "x".repeat(200);
  const many = Array.from({ length: 8 }, (_, n) => [`tool_${n}`, "success"] as const);

  test.each<[mode: StreamMode, view: TurnView, telegram: string | null, discord: string]>([
    ["off", view("a", [], "wait"), null, ""],
    ["partial", view("a"), "a", "a …"],
    ["partial", view(""), null, ""],
    ["partial", view(" \n"), null, ""],
    ["partial", view("a", [], "a key"), "a key", "a key …"],
    ["progress", view("a", [], "a key"), "a key", "a key …"],
    ["partial", view("", [["my_tool", "running", "50%"]]), "… my_tool: 50%", "• my\\_tool: `50%`"],
    ["partial", view("a", [["my_tool", "running", "`x`"]]), "a\n\n… my_tool: `x`", "a …\n\n• my\\_tool: `'x'`"],
    ["partial", view("a", [["t", "running"]]), "a", "a …"],
    ["partial", view("a", [["t", "success", "50%"]]), "a", "a …"],
    [
      "partial",
      view("", [
        ["t", "running", "50%"],
        ["t", "success"],
      ]),
      "✓ t",
      "• t",
    ],
    ["block", view(`${long}\n\nnext`), long, `${long} …`],
    ["block", view("short"), null, ""],
    ["progress", view("a"), null, ""],
    [
      "progress",
      view("a", [
        ["a", "success"],
        ["b", "running"],
      ]),
      "Working on it\n✓ a\n… b",
      "Working …\n• a\n• b",
    ],
    [
      "progress",
      view("a", many),
      `Working on it\n✓ 2 earlier\n${many
        .slice(2)
        .map(([tool]) => `✓ ${tool}`)
        .join("\n")}`,
      `Working …\n${many
        .slice(3)
        .map(([tool]) => `• ${tool.replace("_", "\\_")}`)
        .join("\n")}`,
    ],
    [
      "progress",
      view("a", many.slice(0, 6)),
      `Working on it\n${many
        .slice(0, 6)
        .map(([tool]) => `✓ ${tool}`)
        .join("\n")}`,
      `Working …\n${many
        .slice(1, 6)
        .map(([tool]) => `• ${tool.replace("_", "\\_")}`)
        .join("\n")}`,
    ],
  ])("as %s (%#) shows what there is so far", (mode, shown, telegram, discord) => {
    expect([previewOf(mode, shown)?.text ?? null, previewText(shown, mode)]).toEqual([telegram, discord]);
  });

  test("of whole blocks on Telegram waits for two hundred characters, and for the end of code", () => {
    const blocks = (text: string) => previewOf("block", view(text))?.text ?? null;
    expect(blocks(`${"x".repeat(199)}\n\n`)).toBeNull();
    expect(blocks(`${long}\n\n\`\`\`\ncode\n\nmore`)).toBe(long);
    expect(blocks(`${long}\n\n\`\`\`\ncode\n\`\`\`\n\nmore`)).toBe(`${long}\n\ncode`);
  });

  test("shows what a tool says as code, wherever it stands", () => {
    const chunk = previewOf("partial", view("answer", [["t", "running", "50%"]]));
    expect(chunk).toEqual({ text: "answer\n\n… t: 50%", entities: [{ type: "code", offset: 13, length: 3 }] });
  });

  test("leaves out what a tool says where it does not fit, and closes a block that is being written", () => {
    const full = "x".repeat(4_090);
    expect(previewOf("partial", view(full, [["t", "running", "50 percent"]]))?.text).toBe(full);
    const most = "x".repeat(1_998);
    expect(previewText(view(most, [["t", "running", "50%"]]), "partial")).toBe(`${most} …`);
    expect(previewText(view("```\ncode"), "partial")).toBe("```\ncode\n```");
  });
});

test.each([
  ["abc", 0, 2, 2],
  ["abc", 0, 3, 3],
  ["abc", 0, 9, 3],
  ["a👍b", 0, 2, 1],
  ["a👍b", 0, 3, 3],
  ["ae\u0301b", 0, 2, 1],
  ["🇩🇪🇫🇷", 0, 4, 4],
  ["🇩🇪🇫🇷", 0, 6, 4],
  ["👍", 0, 1, 2],
  ["a👨‍👩‍👧b", 1, 4, 4],
  ["a👨‍👩‍👧b", 1, 5, 4],
  ["\ud83dx", 0, 1, 1],
] as const)("%p is cut after %d, at most at %d, between characters", (...[text, from, wanted, cut]) => {
  expect(wholeCharacters(text, from, wanted)).toBe(cut);
});
