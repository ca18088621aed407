import { describe, expect, test } from "bun:test";
import { shallowJson } from "./shallow-json.ts";

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

/** In pieces of seven bytes, as a network cuts them. */
function passed(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      controller.close();
    },
  });
  return new Response(shallowJson(body)).text();
}

describe("JSON of a server", () => {
  test.each([
    ["64 levels", deep(64)],
    ["brackets in a text", JSON.stringify({ a: `"\\${"[".repeat(100)}` })],
    ["many events, one after the other", `data: ${deep(60)}\n\n`.repeat(5)],
    ["events with a bracket that is never closed", `: [\r\ndata: ${deep(60)}\r\n\r\n`.repeat(9)],
  ])("passes as it is with %s", async (_what, text) => {
    expect(await passed(text)).toBe(text);
  });

  test.each([
    ["65 levels", deep(65)],
    ["an event of several lines", `data: ${"[".repeat(40)}\ndata: ${deep(40)}\n\n`],
    ["lines that end with a return", `data: ${"[".repeat(40)}\r\ndata: ${deep(40)}\r\n\r\n`],
    ["a comment with a quote before it", `: "\ndata: ${deep(65)}\n\n`],
    ["closing brackets before it", `${"]".repeat(100)}${deep(65)}`],
  ])("is refused with %s", async (_what, text) => {
    await expect(passed(text)).rejects.toThrow("deeper than 64 levels");
  });
});
