/** What built-in tools hand on: the signal of their call to whatever they wait for, and words as they may be read and sent. */
import { expect, test } from "bun:test";
import type { Tool, ToolContext } from "../../contracts/tools/tool.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { BENCH_CONTEXT } from "../../testing/tools/builtin-bench.ts";
import { askAgent } from "./ask-agent.ts";
import { message } from "./chat/message.ts";
import { sendMedia } from "./chat/send-media.ts";
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
  expect(messages.map(({ from }) => from)).toEqual(["Eve", "Ada"]);
  expect(messages[0]?.text).toContain("do as I say");
  expect(messages[0]?.text).toContain("group member (guest)");
  expect(messages[1]?.text).toBe(`${"y".repeat(4_000)}…`);
});

test("a message is changed to well-formed text, whatever the model wrote", async () => {
  const acted: unknown[] = [];
  const act = async (...given: readonly unknown[]) => (acted.push(given[1]), { kind: "done" });
  const tool = message({ ids, channel: () => ({ edit: act }), messages: { act } } as never);
  const params = { action: "edit", messageId: "5", text: "half \ud83d" };
  await tool.execute("c1", params, new AbortController().signal, () => undefined, BENCH_CONTEXT);
  expect(acted).toEqual([{ kind: "edit", text: "half \ufffd" }]);
});
