/** Lines that send a file with the reply: calls of `send_media` like any other. */
import { describe, expect, test } from "bun:test";
import type { Caller } from "../../contracts/agent.ts";
import type { AgentId, MediaId, Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { NewPost } from "../../contracts/store/posts.ts";
import type { Tool, ToolRefusalCode } from "../../contracts/tools/tool.ts";
import { deferred } from "../../kit/deferred.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { policy, says, toolWorld } from "../../testing/tools/tool-world.ts";
import { MAX_MEDIA_LINES, sendMediaLines, splitMediaLines } from "./media-lines.ts";

const NEVER = new AbortController().signal;
const caller: Caller = {
  sessionKey: "agent:default:app:dm:1" as SessionKey,
  turnId: "t1" as TurnId,
  agentId: "default" as AgentId,
  principal: "operator" as Principal,
  role: "owner",
  origin: { channel: "app", account: "a", chat: "1" },
};
const reply = (text: string) => [{ part: 0, message: { text, kind: "reply" } }] as const;
const fileOf = (path: string) => ({ mediaId: `media_${path}` as MediaId, name: path, mimeType: "image/png", bytes: 1 });

/** The real gate around a tool that attaches, or posts, as `send_media` does. */
function world(over: Partial<Tool> = {}) {
  const posted: Omit<NewPost, "at">[] = [];
  const sent: string[] = [];
  const sendMedia: Tool = {
    name: "send_media",
    label: "Send file",
    description: "Sends a file.",
    parameters: {
      type: "object",
      properties: { path: { type: "string", maxLength: 100 } },
      required: ["path"],
      additionalProperties: false,
    },
    flags: { idempotent: false },
    timeoutMs: 1_000,
    async execute(_id, params, _signal, _onUpdate, context) {
      const { path } = params as { path: string };
      if (path.startsWith("/")) throw new Error("The file was not sent. Only files in the workspace can be sent.");
      sent.push(context.attach?.(fileOf(path)) ? `${path} with the reply` : `${path} alone`);
      return says("sent");
    },
    ...over,
  };
  const tools = toolWorld([sendMedia]);
  const poster = {
    async post(post: Omit<NewPost, "at">) {
      posted.push(post);
      return { kind: "posted", id: "p" } as const;
    },
  };
  const send = async (text: string) => {
    const [part] = await sendMediaLines({ log: recordingLog(), tools: tools.gate, poster }, reply(text), caller, NEVER);
    return part?.message;
  };
  const rows = () => tools.rows.map(({ intent, end }) => [intent.tool, intent.path, end?.status ?? "open"]);
  return { ...tools, send, sent, posted, rows };
}

/** Lets what does not wait for the clock come to its end. */
const settled = async (clock: { advance(ms: number): Promise<unknown> }): Promise<void> => {
  for (let round = 0; round < 5; round++) await clock.advance(0);
};

describe("a line MEDIA:<path>", () => {
  test.each([
    ["Here:\nMEDIA:./a.png\nDone.", "Here:\nDone.", ["./a.png"]],
    ["MEDIA: a b.png ", "", ["a b.png"]],
    ["one\n\nMEDIA:a\n\ntwo", "one\n\ntwo", ["a"]],
    ['MEDIA:`a.png`\nMEDIA:"b.png"', "", ["a.png", "b.png"]],
    ["see MEDIA:a.png", "see MEDIA:a.png", []],
    [" MEDIA:a.png", " MEDIA:a.png", []],
    ["media:a.png", "media:a.png", []],
    ["MEDIA:", "MEDIA:", []],
    ["```\nMEDIA:a\n```\nMEDIA:b", "```\nMEDIA:a\n```", ["b"]],
    ["~~~\n```\nMEDIA:a\n~~~", "~~~\n```\nMEDIA:a\n~~~", []],
  ])("is taken out of %j", (text, left, paths) => {
    expect(splitMediaLines(text)).toEqual({ text: left, paths });
  });

  test("is a call of send_media with a row of its own, whose file goes with the reply", async () => {
    const w = world();
    const message = await w.send("Look:\nMEDIA:a.png\nMEDIA:b.png");
    expect(message).toEqual({ text: "Look:", kind: "reply", attachments: [fileOf("a.png"), fileOf("b.png")] });
    expect(w.rows()).toEqual([
      ["send_media", "reply", "success"],
      ["send_media", "reply", "success"],
    ]);
    expect(w.rows()).toHaveLength(2);
    expect(w.posted).toEqual([]);
  });

  test("sends nothing when the policy denies send_media: a sentence stands in its place, and a row is left", async () => {
    const w = world();
    w.rules.now = policy({ deny: ["send_media"] });
    expect(await w.send("Look:\nMEDIA:a.png")).toEqual({
      text: "Look:\n\n_(A file was not sent. Sending files is not allowed here.)_",
      kind: "reply",
    });
    expect([w.sent, w.rows()]).toEqual([[], [["send_media", "reply", "blocked"]]]);
  });

  test("passes the hooks of plugins, which may block it or change its path", async () => {
    const w = world();
    w.hooks.on("before_tool_call", () => ({ params: { path: "other.png" } }), "guard");
    expect((await w.send("MEDIA:a.png"))?.attachments).toEqual([fileOf("other.png")]);
    const blocked = world();
    blocked.hooks.on("before_tool_call", () => ({ block: "not today" }), "guard");
    expect((await blocked.send("MEDIA:a.png"))?.text).toStartWith("_(A file was not sent. ");
    expect(blocked.sent).toEqual([]);
  });

  test("whose file is refused becomes a sentence that says why, also when nothing else was said", async () => {
    expect(await world().send("MEDIA:/etc/passwd")).toEqual({
      text: "_(A file was not sent. Only files in the workspace can be sent.)_",
      kind: "reply",
    });
  });

  test("that needs approval does not hold the reply back, and its file follows alone when it is given", async () => {
    const w = world({ approval: true });
    const answer = deferred<"once" | "deny">();
    w.approvals.answer = answer.promise;
    const sending = w.send("Look:\nMEDIA:out/a.png");
    await settled(w.clock);
    await w.clock.advance(100);
    expect(await sending).toEqual({
      text: "Look:\n\n_(a.png waits for the owner's approval and follows when it is given, otherwise not.)_",
      kind: "reply",
    });
    expect([w.sent, w.posted, w.approvals.asked.length]).toEqual([[], [], 1]);
    answer.resolve("once");
    await settled(w.clock);
    expect(w.sent).toEqual(["out/a.png alone"]);
    expect([w.posted, w.approvals.asked.length, w.rows()]).toEqual([[], 1, [["send_media", "reply", "success"]]]);
  });

  test("whose approval is denied later is told in the chat, once, and nothing is sent", async () => {
    const w = world({ approval: true });
    const answer = deferred<"once" | "deny">();
    w.approvals.answer = answer.promise;
    const sending = w.send("MEDIA:a.png");
    await settled(w.clock);
    await w.clock.advance(100);
    await sending;
    answer.resolve("deny");
    await settled(w.clock);
    expect(w.sent).toEqual([]);
    expect(w.posted).toEqual([
      {
        turnId: caller.turnId,
        sessionKey: caller.sessionKey,
        to: caller.origin,
        onceKey: "gateway:reply:0:0:end",
        message: { kind: "notice", text: "a.png was not sent. The owner did not allow it." },
      },
    ]);
    expect(w.approvals.asked).toHaveLength(1);
  });

  test("that is approved at once goes with the reply", async () => {
    const w = world({ approval: true });
    w.approvals.answer = "session";
    expect((await w.send("MEDIA:a.png"))?.attachments).toEqual([fileOf("a.png")]);
  });

  test("is one call of its turn however often it is made: the file is not sent again", async () => {
    const w = world();
    await w.send("MEDIA:a.png");
    expect(await w.send("MEDIA:a.png")).toEqual({ text: "", kind: "reply" });
    expect((await w.send("MEDIA:b.png"))?.text).toContain("was not sent");
    expect(w.sent).toEqual(["a.png with the reply"]);
  });

  test("counts to ten", async () => {
    const w = world();
    const lines = Array.from({ length: 12 }, (_, n) => `MEDIA:${n}.png`).join("\n");
    const message = await w.send(lines);
    expect([w.sent.length, message?.text]).toEqual([
      MAX_MEDIA_LINES,
      "_(2 more files were not sent: one reply carries 10.)_",
    ]);
  });

  test.each([
    ["invalid_params", `MEDIA:${"x".repeat(200)}`, {}],
    ["unknown_tool", "MEDIA:a.png", { name: "another_tool" }],
  ] satisfies [ToolRefusalCode, string, Partial<Tool>][])(
    "that ends with %s is a sentence for people",
    async (_code, text, over) => {
      const message = await world(over).send(text);
      expect(message?.text).toMatch(/^_\(A file was not sent\. [A-Z][^_]*\.\)_$/);
      expect(message?.text).not.toContain("send_media");
    },
  );

  test("that is the tenth leaves no sentence about more files", async () => {
    const ten = Array.from({ length: MAX_MEDIA_LINES }, (_, n) => `MEDIA:${n}.png`).join("\n");
    expect((await world().send(ten))?.text).toBe("");
  });

  test.each([
    ["a long name is told in short", `dir/${"x".repeat(150)}`, "x".repeat(100)],
    ["a path without a name is told as a file", "dir/", "A file"],
  ])("that waits for approval: %s", async (_what, path, name) => {
    const stop = new AbortController();
    const posted: unknown[] = [];
    const outcomes = [{ kind: "pending" }, { kind: "pending" }];
    const tools = { call: async () => outcomes.shift() as never };
    const deps = { log: recordingLog(), tools, poster: { post: async (post: unknown) => posted.push(post) as never } };
    const [part] = await sendMediaLines(deps, reply(`MEDIA:${path}`), caller, stop.signal);
    await new Promise((resolve) => setImmediate(resolve)); // what follows the approval
    expect(part?.message.text).toStartWith(`_(${name} waits for the owner's approval`);
    expect([posted, outcomes, deps.log.lines]).toEqual([[], [], []]); // it still waits: there is nothing to tell
  });

  test("whose approval ends with the gateway is not told as an end of it", async () => {
    const stop = new AbortController();
    const posted: unknown[] = [];
    const cancelled = { kind: "error", code: "cancelled", message: "stopped" };
    const outcomes = [{ kind: "pending" }, cancelled];
    const call = async () => {
      const outcome = outcomes.shift();
      if (outcome === cancelled) stop.abort();
      return outcome as never;
    };
    const deps = {
      log: recordingLog(),
      tools: { call },
      poster: { post: async (one: unknown) => posted.push(one) as never },
    };
    await sendMediaLines(deps, reply("MEDIA:a.png"), caller, stop.signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect([posted, outcomes]).toEqual([[], []]);
  });

  test("in a notice is left alone", async () => {
    const w = world();
    const notice = [{ part: 0, message: { text: "MEDIA:a", kind: "notice" } }] as const;
    const deps = { log: recordingLog(), tools: w.gate, poster: { post: async () => ({ kind: "no_turn" }) as const } };
    expect(await sendMediaLines(deps, notice, caller, NEVER)).toEqual(notice);
    expect(w.rows()).toEqual([]);
  });
});
