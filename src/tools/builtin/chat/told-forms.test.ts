/** The forms of `send_media` and `message` that a model relies on, without a store behind them. */
import { expect, test } from "bun:test";
import type { HistoryMessage } from "../../../contracts/store/messages.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { BENCH_CONTEXT } from "../../../testing/tools/builtin-bench.ts";
import { message } from "./message.ts";
import { sendMedia } from "./send-media.ts";

const NEVER = new AbortController().signal;

test("a file that is sent again with other words is another message, and with the same words the same one", async () => {
  const keys: string[] = [];
  const media = { mediaId: "m1", name: "a.png", mimeType: "image/png", bytes: 3 };
  const tool = sendMedia({
    poster: { post: async ({ onceKey }: { onceKey: string }) => (keys.push(onceKey), { kind: "posted", id: "x" }) },
    files: { take: async () => ({ kind: "taken", media }) },
  } as never);
  for (const caption of ["one", "two", "one"])
    await tool.execute("c1", { path: "a.png", caption }, NEVER, () => undefined, BENCH_CONTEXT);
  expect([new Set(keys).size, keys[0] === keys[2]]).toEqual([2, true]);
});

const SAID: HistoryMessage = { id: "5", from: "assistant", text: "Here it is.", at: 0, files: [] };

test("a message that is read says which files it has and which message it answers, where there are any", async () => {
  const history = async () => [{ ...SAID, files: ["a.png"], replyTo: "4" }, SAID];
  const tool = message({ ids: createSeqIds(), history, channel: () => undefined } as never);
  const { details } = await tool.execute("c1", { action: "read" }, NEVER, () => undefined, BENCH_CONTEXT);
  const shown = { id: "5", from: "assistant", text: "Here it is.", at: "1970-01-01T00:00:00.000Z" };
  expect(details).toEqual({ messages: [{ ...shown, files: ["a.png"], replyTo: "4" }, shown] });
});

test("a message is not changed into nothing but spaces", async () => {
  const tool = message({ ids: createSeqIds(), channel: () => ({ edit: () => undefined }), messages: {} } as never);
  const edit = { action: "edit", messageId: "5", text: " \n " };
  await expect(tool.execute("c1", edit, NEVER, () => undefined, BENCH_CONTEXT)).rejects.toThrow("edit needs text.");
});
