/** What the demo model says, and that it never pretends. */
import { describe, expect, test } from "bun:test";
import { demoChart } from "./chart.ts";
import { demoReply } from "./script.ts";
import { parseOrder } from "../orders.ts";

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

  test.each([
    "status",
    "Status?",
    "session status",
    "how are you doing?",
    "What is your status?",
    "Please tell me the current status of this chat.",
  ])("asks the status tool for %p", (text) => {
    expect(ask(text, ["session_status"])).toEqual({ kind: "call", tool: "session_status", input: {} });
  });

  test.each([
    ["note: buy milk", "save_note", { title: "buy milk", content: "buy milk" }],
    [
      "Note: status of the roof\nis bad",
      "save_note",
      { title: "status of the roof", content: "status of the roof\nis bad" },
    ],
    ["take a note that the key is blue", "save_note", { title: "the key is blue", content: "the key is blue" }],
    ["search my notes for milk", "search_notes", { query: "milk" }],
    ["add task water the plants.", "add_task", { title: "water the plants" }],
    ["Add a task: check the status", "add_task", { title: "check the status" }],
    ["add bread to my tasks", "add_task", { title: "bread" }],
    ["what are my tasks?", "list_tasks", {}],
    ["search the web for herons", "web_search", { query: "herons" }],
    ["open https://a.example/heron?x=1", "web_fetch", { url: "https://a.example/heron?x=1" }],
    ["send me a chart", "send_media", { path: "demo-chart.png", caption: "A chart, drawn by the demo model." }],
  ])("understands %j", (text, tool, input) => {
    expect(ask(text, [tool])).toEqual({ kind: "call", tool, input } as never);
    expect(words(text)).toContain(`\`${tool}\`, and that tool is not installed here yet`);
  });

  test("calls a tool of a program that is named in the question, with what the question is about", () => {
    const programTools = [
      { name: "get_time", texts: [] },
      { name: "get_weather", texts: ["location"] },
    ];
    const asked = (text: string) => demoReply({ kind: "user", text, images: [], tools: [], programTools });
    const call = { kind: "call", tool: "get_weather", input: { location: "San Francisco" } } as const;
    expect(asked("What's the weather like in San Francisco?")).toEqual(call);
    expect(asked("time please")).toEqual({ kind: "call", tool: "get_time", input: {} });
    expect(asked("echo: the weather in Oslo").kind).toBe("say");
    expect(asked("what is new?").kind).toBe("say");
  });

  test("takes a long text that mentions a status for what it is: a text", () => {
    expect(words(`${"word ".repeat(60)} status. And more.`, ["session_status"])).toContain("You said:");
  });

  test("tells tasks as a list", () => {
    const tasks = [
      { id: "1", title: "water", due_date: "2026-03-01", status: "pending" },
      { id: "2", title: "sweep", due_date: null, status: "completed" },
    ];
    const told = (text: string) => {
      const reply = demoReply({ kind: "result", tool: "list_tasks", tools: [], text, isError: false });
      return reply.kind === "say" ? reply.text : "";
    };
    expect(told(JSON.stringify({ tasks }))).toContain("- [ ] water (2026-03-01)\n- [x] sweep");
    expect(told('{"tasks":[]}')).toContain("There are no tasks.");
    expect(told("odd")).toContain("odd");
  });

  test("draws a chart that is a real picture", () => {
    const png = Buffer.from(demoChart());
    expect(png.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
    expect([png.readUInt32BE(16), png.readUInt32BE(20), png.toString("latin1").endsWith("IEND\xaeB`\x82")]).toEqual([
      320,
      180,
      true,
    ]);
  });

  test("says of a shell and files that they need a sandbox, and where to look", () => {
    const told = ["list files", "run: id", "write file a.txt: words"].map((text) =>
      words(text).includes("pi-gw doctor"),
    );
    expect([...told, words("status").includes("pi-gw doctor")]).toEqual([true, true, true, false]);
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

  test("retells a reminder and an error in words, not as JSON", () => {
    const reminder = {
      reminder: "q4",
      at: "2026-11-16T08:30:10Z",
      timezone: "Europe/Berlin",
      local: "2026-11-16T09:30:10+01:00",
    };
    const made = demoReply({
      kind: "result",
      tool: "create_reminder",
      tools: [],
      text: JSON.stringify(reminder),
      isError: false,
    });
    expect(made).toMatchObject({ text: expect.stringContaining("is set for 2026-11-16, 09:30 (Europe/Berlin).") });
    for (const said of [{ error: "no such zone" }, { reason: "no such zone" }, { message: "no such zone" }]) {
      const text = JSON.stringify({ status: "error", tool: "cron", ...said });
      const failed = demoReply({ kind: "result", tool: "cron", tools: [], text, isError: true });
      expect(failed).toMatchObject({ text: expect.stringContaining("could not answer: no such zone\n") });
    }
  });

  test("says of a file that it has sent where it is, not what the tool said", () => {
    const text = JSON.stringify({ message_id: "turn_1:x2", sent: true, name: "demo-chart.png", bytes: 1_481 });
    const sent = demoReply({ kind: "result", tool: "send_media", tools: [], text, isError: false });
    expect(sent).toMatchObject({ text: expect.stringContaining("`demo-chart.png` is in this chat.") });
    expect(sent).not.toMatchObject({ text: expect.stringContaining("message_id") });
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
