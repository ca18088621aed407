/** What editors are shown and say, in the forms of ACP. */
import { describe, expect, test } from "bun:test";
import type { TranscriptItem } from "../../contracts/chat.ts";
import { callFacts, promptParts, replayOf, toolUpdate } from "./session-updates.ts";

const CWD = "/home/ada/project";

describe("a tool call", () => {
  test.each([
    ["read", { path: "src/a.ts" }, "read", "read: src/a.ts", "/home/ada/project/src/a.ts"],
    ["read", { path: "/etc/hosts" }, "read", "read: /etc/hosts", "/etc/hosts"],
    ["bash", { command: "ls -l" }, "execute", "bash: ls -l", undefined],
    ["web_fetch", { url: "https://example.org" }, "fetch", "web_fetch", undefined],
    ["mcp_github_search", { query: "bug" }, "other", "mcp_github_search: bug", undefined],
    ["add_task", "no object", "other", "add_task", undefined],
  ])("of %s with %j is of the kind %s", (...[tool, input, kind, title, path]) => {
    const facts = callFacts(tool, input, CWD);
    expect(facts).toMatchObject({ kind, title, rawInput: input } as never);
    expect(facts.locations.map((one) => one.path)).toEqual(path === undefined ? [] : [path]);
  });

  test.each([
    ["write", { path: "a.txt", content: "all" }, [{ newText: "all" }]],
    ["edit", { path: "a.txt", oldText: "a", newText: "b" }, [{ oldText: "a", newText: "b" }]],
    [
      "edit",
      { path: "a.txt", edits: [{ oldText: "a", newText: "b" }, { oldText: "c", newText: "d" }, { oldText: 1 }] },
      [
        { oldText: "a", newText: "b" },
        { oldText: "c", newText: "d" },
      ],
    ],
    ["read", { path: "a.txt", content: "x" }, []],
    ["write", { content: "nowhere" }, []],
  ])("of %s with %j shows the changes %j", (tool, input, diffs) => {
    const path = "/home/ada/project/a.txt";
    expect(callFacts(tool, input, CWD).content).toEqual(diffs.map((one) => ({ type: "diff", path, ...one })) as never);
  });

  test("is told once whole, and then as it goes on", () => {
    const news = { sessionKey: "s", turnId: "t", callId: "c1", tool: "bash" } as never as Parameters<
      typeof toolUpdate
    >[0];
    const began = toolUpdate({ ...news, status: "running", input: { command: "ls" } }, false, CWD);
    expect(began).toMatchObject({ sessionUpdate: "tool_call", toolCallId: "c1", status: "in_progress", name: "bash" });
    const ended = toolUpdate({ ...news, status: "blocked", output: "no" }, true, CWD);
    expect(ended).toEqual({
      sessionUpdate: "tool_call_update",
      toolCallId: "c1",
      status: "failed",
      content: [{ type: "content", content: { type: "text", text: "no" } }],
    });
  });
});

test("a prompt is its words, with files and links quoted below them, and its images apart", () => {
  const parts = promptParts([
    { type: "text", text: "Look" },
    { type: "resource_link", name: "a.ts", uri: "file:///a.ts" },
    { type: "resource", resource: { uri: "file:///b.ts", text: "let b;" } },
    { type: "resource", resource: { uri: "file:///c.bin", blob: "AQID" } },
    { type: "image", mimeType: "image/png", data: "AQID" },
    { type: "audio", mimeType: "audio/wav", data: "AQID" },
  ]);
  expect(parts.text).toBe("Look\n\n[a.ts](file:///a.ts)\n\nfile:///b.ts:\n```\nlet b;\n```");
  expect(parts.images).toEqual([{ mimeType: "image/png", data: "AQID" }]);
});

test("a conversation of before is replayed as it was said, without tools and what was withdrawn", () => {
  const item = (more: object) => ({ id: "1", role: "user", text: "x", at: 0, turnId: null, ...more }) as TranscriptItem;
  const items = [item({}), item({ role: "assistant", text: "y" }), item({ role: "tool" }), item({ deleted: true })];
  expect(items.flatMap(replayOf)).toEqual([
    { sessionUpdate: "user_message_chunk", content: { type: "text", text: "x" } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "y" } },
  ]);
});
