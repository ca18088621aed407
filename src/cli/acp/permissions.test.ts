import { expect, test } from "bun:test";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { writeOutJson } from "../../kit/marks/written-out.ts";
import { askApproval } from "./permissions.ts";

/** What the editor was asked, and what the gateway was told. */
async function ask(input: unknown, outcome: object) {
  const asked: Record<string, unknown>[] = [];
  const told: unknown[] = [];
  const client = {
    request: async (_method: string, params: Record<string, unknown>) => {
      asked.push(params);
      return { outcome };
    },
  };
  const socket = { ask: async (_method: string, params: unknown) => void told.push(params) };
  const editor = { client, sessionId: "s", cwd: "/ws", hasForms: false };
  const approval = { id: "a1", callId: "c1", tool: "bash", input, because: "it asks", shown: writeOutJson(input) };
  await askApproval(socket as never, editor as never, approval as PendingApproval);
  return { toolCall: asked[0]?.["toolCall"] as { title: string; content: unknown[] }, told };
}

test("an editor shows the whole input of a call that waits for its owner, with hidden characters written out", async () => {
  const { toolCall } = await ask({ command: "ls \u202egnp.sh", to: "elsewhere" }, { outcome: "cancelled" });
  expect(toolCall.title).toBe(String.raw`bash: ls \u202egnp.sh (it asks)`);
  const text = String.raw`{
  "command": "ls \u202egnp.sh",
  "to": "elsewhere"
}`;
  expect(toolCall.content).toEqual([{ type: "content", content: { type: "text", text } }]);
});

test.each([
  [{ outcome: "selected", optionId: "once" }, "once"],
  [{ outcome: "selected", optionId: "session" }, "session"],
  [{ outcome: "selected", optionId: "anything" }, "deny"],
  [{ outcome: "cancelled" }, "deny"],
])("an approval that an editor answers with %j is %s", async (outcome, decision) => {
  expect((await ask({}, outcome)).told).toEqual([{ id: "a1", decision }]);
});
