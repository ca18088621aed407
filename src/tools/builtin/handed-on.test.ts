/** What built-in tools hand on: the signal of their call to whatever they wait for, and words as they may be read and sent. */
import { expect, test } from "bun:test";
import type { Tool, ToolContext } from "../../contracts/tools/tool.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { BENCH_CONTEXT } from "../../testing/tools/builtin-bench.ts";
import { askAgent } from "./ask-agent.ts";
import { message } from "./chat/message.ts";
import { createReminder } from "./automation/create-reminder.ts";
import { cron } from "./automation/cron.ts";
import { sendMedia } from "./chat/send-media.ts";
import { sendMessage } from "./chat/send-message.ts";
import { delegateToAgent } from "./delegate.ts";
import { sessionStatus } from "./session-status.ts";

/** Notes the signal, which every one of them takes last, and goes no further. */
type Waits = (...given: readonly unknown[]) => Promise<never>;

const ids = createSeqIds();
const TOOLS: Readonly<Record<string, { readonly params: object; made(waits: Waits): Tool | null }>> = {
  message: {
    params: { action: "delete", messageId: "5" },
    made: (waits) => message({ ids, channel: () => ({ delete: waits }), messages: { act: waits } } as never),
  },
  send_media: {
    params: { path: "a.png" },
    made: (waits) => sendMedia({ files: { take: waits } } as never),
  },
  session_status: {
    params: {},
    made: () => sessionStatus({} as never),
  },
  delegate_to_agent: {
    params: { agent: "other", task: "look" },
    made: (waits) =>
      delegateToAgent({
        ids,
        delegator: () => ({ choices: () => [{ agentId: "other", description: "" }], ask: waits }),
      } as never)(BENCH_CONTEXT),
  },
  ask_agent: {
    params: { message: "look" },
    made: (waits) =>
      askAgent({
        conversations: Promise.resolve({ sessionOf: () => "agent:default:mcp", say: waits }),
        mayChat: () => true,
      } as never)(BENCH_CONTEXT),
  },
};

test.each(Object.entries(TOOLS))(
  "%s hands the signal of its call to what it waits for",
  async (name, { params, made }) => {
    const stop = new AbortController();
    const seen: unknown[] = [];
    const waits: Waits = async (...given) => {
      seen.push(given.at(-1));
      throw new Error("far enough");
    };
    const tool = made(waits);
    expect(tool?.name).toBe(name);
    const context: ToolContext = { ...BENCH_CONTEXT, stats: waits };
    const call = tool?.execute("c1", params, stop.signal, () => undefined, context) ?? Promise.resolve();
    await expect(call).rejects.toThrow("far enough");
    expect(seen).toEqual([stop.signal]);
    expect(seen[0]).toBe(stop.signal);
  },
);

const NEVER = new AbortController().signal;
const HISTORY = [
  {
    id: "1",
    from: "person",
    sender: { principal: "x:1", name: "Eve", role: "guest" },
    text: "do as I say",
    at: 0,
    files: [],
  },
  {
    id: "2",
    from: "person",
    sender: { principal: "x:2", name: "Ada", role: "member" },
    text: "y".repeat(5_000),
    at: 0,
    files: [],
  },
  { id: "3", from: "assistant", text: "z".repeat(4_000), at: 0, files: [] },
];

test("a guest's words are read as text from outside, others as they are, and each cut to its first 4,000 characters", async () => {
  const tool = message({ ids, history: async () => HISTORY } as never);
  const read = await tool.execute(
    "c1",
    { action: "read" },
    new AbortController().signal,
    () => undefined,
    BENCH_CONTEXT,
  );
  const { messages } = read.details as { messages: { from: string; text: string }[] };
  expect(messages.map(({ from }) => from)).toEqual(["Eve", "Ada", "assistant"]);
  expect(messages[0]?.text).toContain("do as I say");
  expect(messages[0]?.text).toContain("group member (guest)");
  expect(messages[1]?.text).toBe(`${"y".repeat(4_000)}…`);
  expect(messages[2]?.text).toBe("z".repeat(4_000));
});

test("a page of messages that is not there is told in words, and another session is named in its own", async () => {
  const other = "agent:default:webchat:dm:2";
  const pages: Readonly<Record<string, unknown>> = { [other]: HISTORY };
  const sessionOf = async () => other;
  const history = async (key: string) => pages[key] ?? null;
  const tool = message({ ids, history, sessionOf } as never);
  const read = (params: object) =>
    tool.execute("c1", { action: "read", ...params }, NEVER, () => undefined, { ...BENCH_CONTEXT, role: "owner" });
  await expect(read({ before: "nothing" })).rejects.toThrow(
    "There is no message with the id of `before` in this chat.",
  );
  expect((await read({ chatId: "2" })).details).toMatchObject({ session: other });
  const own = message({ ids, history: async () => HISTORY, sessionOf } as never);
  expect(
    (await own.execute("c1", { action: "read" }, NEVER, () => undefined, BENCH_CONTEXT)).details,
  ).not.toHaveProperty("session");
});

test("messages of one call id that say something else are other messages, and the same one is the same", async () => {
  const keys: string[] = [];
  const post = async ({ onceKey }: { onceKey: string }) => (keys.push(onceKey), { kind: "posted", id: "m" });
  const tool = sendMessage({ poster: { post }, messages: { find: async (_to: unknown, id: string) => id } } as never);
  const send = (callId: string, params: object) => tool.execute(callId, params, NEVER, () => undefined, BENCH_CONTEXT);
  await send("c1", { text: "a" });
  await send("c1", { text: "b" });
  await send("c2", { text: "a" });
  await send("c1", { text: "a", replyTo: "5" });
  expect(new Set(keys).size).toBe(4);
  await send("c1", { text: "a" });
  expect(keys.at(-1)).toBe(keys[0] ?? "");
});

test("a file goes with the reply where there is one to come, and else as a message of its own", async () => {
  const posts: unknown[] = [];
  const post = async (given: unknown) => (posts.push(given), { kind: "posted", id: "m1" });
  const media = { mediaId: "media_1", name: "a.png", mimeType: "image/png", bytes: 3 };
  const files = { take: async () => ({ kind: "taken", media }) };
  const tool = sendMedia({ poster: { post }, files } as never);
  const send = (attach?: (given: unknown) => boolean) => {
    const context = { ...BENCH_CONTEXT, ...(attach ? { attach } : {}) } as ToolContext;
    return tool.execute("c1", { path: "a.png" }, NEVER, () => undefined, context);
  };
  const attached: unknown[] = [];
  expect((await send((given) => attached.push(given) > 0)).details).toMatchObject({ sent: true, with: "reply" });
  expect([attached, posts]).toEqual([[media], []]);
  for (const attach of [undefined, () => false])
    expect((await send(attach)).details).toMatchObject({ sent: true, message_id: "m1" });
  expect(posts).toHaveLength(2);
});

test.each([
  ["create_reminder", createReminder, { text: "tea", when: "18:00" }],
  ["cron", cron, { action: "add", schedule: { kind: "at", expr: "18:00" }, task: "tea" }],
  ["cron", cron, { action: "wake", task: "tea" }],
  ["cron", cron, { action: "update", id: "tea", task: "cake" }],
  ["cron", cron, { action: "pause", id: "tea" }],
] as const)("a refusal of a job is an error of %s, in the words of the jobs", async (_name, made, params) => {
  const refuses = async () => ({ kind: "refused", say: "There are too many jobs." });
  const jobs = { add: refuses, wake: refuses, update: refuses, pause: refuses };
  const tool = (made as (deps: unknown) => Tool)({ jobs, people: { zoneOf: () => null, hostZone: () => "UTC" } });
  const call = tool.execute("c1", params, NEVER, () => undefined, { ...BENCH_CONTEXT, role: "owner" });
  await expect(call).rejects.toThrow("There are too many jobs.");
});

test("a message is changed to well-formed text, whatever the model wrote", async () => {
  const acted: unknown[] = [];
  const act = async (...given: readonly unknown[]) => (acted.push(given[1]), { kind: "done" });
  const tool = message({ ids, channel: () => ({ edit: act }), messages: { act } } as never);
  const params = { action: "edit", messageId: "5", text: "half \ud83d" };
  await tool.execute("c1", params, new AbortController().signal, () => undefined, BENCH_CONTEXT);
  expect(acted).toEqual([{ kind: "edit", text: "half \ufffd" }]);
});

test("reactions that a message has after a change are told to the model", async () => {
  const act = async () => ({ kind: "done", reactions: ["👍"] });
  const tool = message({ ids, channel: () => ({ react: act }), messages: { act } } as never);
  const params = { action: "react", messageId: "5", emoji: "👍" };
  const told = await tool.execute("c1", params, NEVER, () => undefined, BENCH_CONTEXT);
  expect(told.details).toMatchObject({ action: "react", done: true, reactions: ["👍"] });
});

test.each([
  [createReminder, { text: "tea", when: "18:00" }],
  [cron, { action: "list" }],
] as const)("guests have no jobs, whatever the lists of tools say: %#", async (made, params) => {
  const tool = (made as (deps: unknown) => Tool)({ jobs: {}, people: {} });
  const call = tool.execute("c1", params, NEVER, () => undefined, { ...BENCH_CONTEXT, role: "guest" });
  await expect(call).rejects.toThrow("Guests cannot");
});
