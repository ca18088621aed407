import { expect, test } from "bun:test";
import { usageOfLines } from "./entry-usage.ts";
import { parseRecord } from "./protocol.ts";
import { createRun } from "./run.ts";

const usage = (input: number) => ({ input, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } });
const USED = { inputTokens: 7, outputTokens: 1, costUsd: 0.5 };

test("every entry that a model was asked for counts, and half a line counts for nothing", () => {
  const entries = [
    { type: "message", message: { role: "user", content: "hello" } },
    { type: "message", message: { role: "assistant", usage: usage(1) } },
    { type: "message", message: { role: "toolResult", usage: usage(10) } },
    { type: "compaction", summary: "…", usage: usage(100) },
    { type: "branch_summary", usage: usage(1_000) },
    { type: "usage", kind: "cache_warm", usage: usage(10_000) },
    { type: "model_change", usage: usage(100_000) },
  ].map((entry) => JSON.stringify(entry));
  const torn = '{"type":"compaction","usage":{"input":1';
  expect(usageOfLines([...entries, "", "nonsense", torn].join("\n"))).toEqual({
    inputTokens: 11_111,
    outputTokens: 5,
    costUsd: 2.5,
  });
});

test("usage of the part that is cut off names the model that answered last, and how many tokens came from a cache", () => {
  const answer = (model: string) => ({
    role: "assistant",
    provider: "fake",
    model,
    usage: { ...usage(1), cacheRead: 4 },
  });
  const lines = ["one", "two"].map((model) => JSON.stringify({ type: "message", message: answer(model) }));
  expect(usageOfLines(lines.join("\n"))).toEqual({
    inputTokens: 10,
    cachedTokens: 8,
    outputTokens: 2,
    costUsd: 1,
    model: "fake/two",
  });
});

test.each([
  ["a summary", { type: "compaction_end", reason: "threshold", result: { summary: "…", usage: usage(7) } }],
  ["a tool that asked a model", { type: "message_end", message: { role: "toolResult", usage: usage(7) } }],
  ["a cache kept warm", { type: "entry_appended", entry: { type: "usage", usage: usage(7) } }],
])("a turn counts what it did not say: %s", (_what, record) => {
  const run = createRun("a/b");
  const parsed = parseRecord(JSON.stringify(record));
  if (parsed.kind === "event") run.apply(parsed.event);
  expect(run.end({ because: "stopped" })).toMatchObject({ usage: USED });
});

test.each([
  { type: "compaction_end", reason: "manual", aborted: true },
  { type: "entry_appended", entry: { type: "compaction", usage: usage(7) } }, // told by compaction_end already
  { type: "message_end", message: { role: "user", content: "hello" } },
])("nothing is counted twice or for nothing: %j", (record) => {
  expect(parseRecord(JSON.stringify(record))).toEqual({ kind: "event", event: { type: "alive" } });
});
