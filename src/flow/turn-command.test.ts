/** Commands in turns: alone they are commands, among other messages they are words, and an errand costs what its model used. */
import { expect, test } from "bun:test";
import type { AgentLease, Compaction } from "../contracts/agent.ts";
import type { CommandContext, Commands, FoundCommand } from "../contracts/command.ts";
import type { Batch } from "../contracts/queue.ts";
import { inbound } from "../testing/messages.ts";
import { type AskedCommand, commandIn, runErrand } from "./turn-command.ts";

const NEVER = new AbortController().signal;
const FOUND = {} as FoundCommand;
const commands = {
  findFor: ({ text }: { readonly text: string }) => (text.startsWith("/") ? FOUND : null),
  workKind: () => "errand",
} as unknown as Commands;
const batchOf = (...entries: readonly object[]): Batch =>
  ({ entries, sessionFile: { name: "a.jsonl" }, role: "owner" }) as unknown as Batch;
const said = (text: string) => ({ message: inbound(text) });

test("a command that is alone in its turn is one", () => {
  expect(commandIn({ commands }, batchOf(said("/compact")))).toMatchObject({ found: FOUND, errand: true });
});

test.each<[string, Batch]>([
  ["with another message behind it", batchOf(said("/compact"), said("and then?"))],
  ["that came when too many waited", batchOf({ ...said("/compact"), overflow: { cutChars: 0 } })],
  ["that looks like words", batchOf(said("compact, please"))],
  ["in a turn without messages", batchOf()],
])("a command %s is none", (_which, batch) => {
  expect(commandIn({ commands }, batch)).toBeNull();
});

const USAGE = { inputTokens: 5, outputTokens: 2, costUsd: 0.25 };
const DONE: Compaction = { kind: "done", tokensBefore: 9, tokensAfter: 1, usage: USAGE, model: "fake/one" };

/** What an errand costs whose command compacts once for each of these results. */
async function errand(...results: readonly Compaction[]) {
  const given: string[] = [];
  const lease = {
    async compact(instructions: string, signal: AbortSignal) {
      if (signal !== NEVER) throw new Error("nobody could give it up");
      given.push(instructions);
      return results[given.length - 1];
    },
  } as unknown as AgentLease;
  const answer: Commands["answer"] = async (_found, { agent }) => {
    for (const [at] of results.entries()) await agent?.compact(`keep ${at}`);
    return "compacted";
  };
  const asked: AskedCommand = {
    commands: { ...commands, answer },
    found: FOUND,
    context: {} as CommandContext,
    errand: true,
  };
  return { given, ...(await runErrand(asked, lease, NEVER)) };
}

test("an errand costs what its model used in all, and the model is named", async () => {
  const { given, end, done } = await errand(DONE, DONE);
  expect(given).toEqual(["keep 0", "keep 1"]);
  expect([end.usage, end.model, done]).toEqual([{ inputTokens: 10, outputTokens: 4, costUsd: 0.5 }, "fake/one", true]);
});

test("an errand for which no model was asked costs nothing", async () => {
  const { end, done } = await errand({ kind: "nothing" } as unknown as Compaction);
  expect([end.usage.costUsd, end.model, done]).toEqual([0, "", false]);
});
