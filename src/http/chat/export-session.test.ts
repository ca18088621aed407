import { expect, test } from "bun:test";
import type { SessionSummary, TranscriptItem } from "../../contracts/chat.ts";
import type { HttpDeps } from "../types.ts";
import { exportSession } from "./export-session.ts";

const SESSION = { key: "agent:default:webchat:dm:1", title: "Plans & <b>more</b>" } as SessionSummary;
const ITEMS = [
  { id: "a", role: "user", text: "# not a heading\n<script>alert(1)</script>", at: 0, turnId: "t" },
  {
    id: "b",
    role: "tool",
    text: "",
    tool: "bash",
    status: "success",
    input: { x: 1 },
    output: "done",
    at: 1,
    turnId: "t",
  },
  { id: "c", role: "assistant", text: "fine", at: 2, turnId: "t", attachments: [{ name: "p.png" }] },
] as unknown as readonly TranscriptItem[];

/** Pages of one item, newest first. */
const deps = {
  store: {
    sessions: {
      transcript: async (_key: string, { cursor = "2" }: { cursor?: string }) => {
        const at = Number(cursor);
        return { items: ITEMS.slice(at, at + 1), ...(at > 0 ? { next: String(at - 1) } : {}) };
      },
    },
  },
} as unknown as Pick<HttpDeps, "store">;

test("an exported conversation has all pages in order, and a name made of its title", async () => {
  const { name, mimeType, text } = await exportSession(deps, SESSION, "json");
  expect([name, mimeType]).toEqual(["plans-b-more-b.json", "application/json"]);
  expect(JSON.parse(text)).toMatchObject({
    session: { key: SESSION.key },
    items: [{ id: "a" }, { id: "b" }, { id: "c" }],
  });
});

test("Markdown quotes what was said, so that no text looks like a part of the file", async () => {
  const { text } = await exportSession(deps, SESSION, "markdown");
  expect(text).toContain("## You, 1970-01-01T00:00:00.000Z\n\n> # not a heading\n> <script>");
  expect(text).toContain("> fine\n> [file: p.png]");
  expect(text.split("\n").filter((line) => line.startsWith("# "))).toEqual(["# Plans & <b>more</b>"]);
});

test("HTML holds what was said as text and no script", async () => {
  const { text } = await exportSession(deps, SESSION, "html");
  expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(text).not.toMatch(/<script|<b>/);
});
