/** What the demo model says, and that it never pretends. */
import { describe, expect, test } from "bun:test";
import { demoReply } from "./demo-script.ts";
import { parseOrder } from "./orders.ts";

const ask = (text: string, tools: readonly string[] = [], images: readonly string[] = []) =>
  demoReply({ kind: "user", text, images, tools });
const words = (text: string, tools: readonly string[] = []) => {
  const reply = ask(text, tools);
  return reply.kind === "say" ? reply.text : `calls ${reply.tool}`;
};

describe("the demo model", () => {
  test.each(["hello", "status", "help", "code", "what is the meaning of life?", "remind me in 1 minute to stretch"])(
    "says that it is a demo when asked %p",
    (text) => {
      expect(words(text)).toMatch(/demo model/);
    },
  );

  test.each(["hello", "help", "anything else"])("says how to set a key when asked %p", (text) => {
    expect(words(text)).toContain("export ANTHROPIC_API_KEY");
  });

  test("repeats what follows echo: exactly", () => {
    expect([words("echo: one  two\nthree"), words("Echo:x"), words(" echo: /x")]).toEqual([
      "one  two\nthree",
      "x",
      "/x",
    ]);
  });

  test.each(["status", "Status?", "session status", "how are you doing?"])("asks the status tool for %p", (text) => {
    expect(ask(text, ["session_status"])).toEqual({ kind: "call", tool: "session_status", input: {} });
  });

  test("says when a tool is not there", () => {
    expect([words("status"), words("note: buy milk")].every((text) => text.includes("not installed here yet"))).toBe(
      true,
    );
  });

  test("reports what a tool said, and what it could not say", () => {
    const result = { kind: "result" as const, tool: "session_status", tools: [] };
    expect(demoReply({ ...result, text: "3 messages", isError: false })).toMatchObject({
      text: expect.stringContaining("3 messages"),
    });
    expect(demoReply({ ...result, text: "broken", isError: true })).toMatchObject({
      text: expect.stringContaining("could not answer: broken"),
    });
  });

  test("tells which kind of image it got", () => {
    expect(ask("what is this?", [], ["image/png"])).toMatchObject({ text: expect.stringContaining("`image/png`") });
  });

  test("tells a long story of about 400 words", () => {
    const count = words("tell me a long story").split(/\s+/).length;
    expect(count > 350 && count < 550).toBe(true);
  });

  test("shows a list and a code block when it introduces itself", () => {
    expect(words("hello")).toMatch(/\n- .*[\s\S]*```sh\n/);
  });
});

describe("an order to the bridge", () => {
  test("of an unknown kind is an error", () => {
    expect(() => parseOrder('{"kind":"shutdown"}')).toThrow("no known kind");
    expect(() => parseOrder('{"kind":"tools","specs":[{"name":1}]}')).toThrow("no known kind");
    expect(() => parseOrder("[]")).toThrow("not an object");
  });
});
