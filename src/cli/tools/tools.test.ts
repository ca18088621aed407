import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { openStore } from "../../store/index.ts";
import { cliFixture, fakeGateway, input } from "../../testing/cli-fixture.ts";
import { intent } from "../../testing/contracts/store/store-world.ts";

const TOOLS = [
  {
    name: "echo",
    description: "Says it again",
    plugin: "gateway",
    flags: { idempotent: true, ownerOnly: false },
    status: "ok",
  },
  { name: "bad", plugin: "hello", flags: {}, status: "quarantined", reason: "its parameters are not an object" },
];

describe("tools", () => {
  test("list shows each with who brought it and what it is, or why it is quarantined", async () => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, () => Response.json({ tools: TOOLS }));
    expect(await fx.run("tools", "list")).toBe(0);
    expect(
      fx
        .out()
        .split("\n")
        .map((line) => line.replaceAll(/ +/g, " ")),
    ).toEqual([
      "TOOL OF FLAGS WHAT IT DOES",
      "echo gateway idempotent Says it again",
      "bad hello quarantined: its parameters are not an object",
      "",
    ]);
  });

  test("list shows the tools of pi too, and who may use each", async () => {
    await using fx = await cliFixture();
    const tools = [
      { ...TOOLS[0], usableBy: [{ agent: "default", roles: ["owner", "member"] }], asks: null },
      { name: "ask_agent", description: "Asks.", plugin: "gateway", flags: {}, origins: ["mcp"], usableBy: [] },
    ];
    const bash = { name: "bash", description: "Runs it.", flags: { elevated: true }, asks: "it may do anything" };
    const piTools = [
      { ...bash, usableBy: [{ agent: "papers", roles: ["owner"] }] },
      { name: "read", description: "Reads it.", flags: {}, usableBy: [], asks: null },
    ];
    await using _gateway = await fakeGateway(fx.home, () => Response.json({ tools, piTools }));
    expect(await fx.run("tools", "list")).toBe(0);
    expect(
      fx
        .out()
        .split("\n")
        .map((line) => line.replaceAll(/ +/g, " ")),
    ).toEqual([
      "TOOL OF FOR FLAGS WHAT IT DOES",
      "echo gateway owner, member idempotent Says it again",
      "ask_agent gateway MCP clients Asks.",
      "bash pi agent papers: owner elevated, after approval Runs it.",
      "read pi nobody Reads it.",
      "",
    ]);
  });

  test("call sends the parameters and prints the words of the answer", async () => {
    await using fx = await cliFixture({ stdin: input('{"text":', '"from the pipe"}') });
    const seen: unknown[] = [];
    await using _gateway = await fakeGateway(fx.home, async (request, url) => {
      seen.push([url.pathname, await request.json()]);
      return Response.json({ ok: true, result: { content: [{ type: "text", text: "a\u001b[2J\nb" }] }, callId: "c" });
    });
    expect(await fx.run("tools", "call", "echo", '{"text":"hi"}', "--call-id", "c")).toBe(0);
    expect(await fx.run("tools", "call", "echo", "-")).toBe(0);
    expect(fx.out()).toBe("a\\u001b[2J\nb\n".repeat(2));
    expect(seen).toEqual([
      ["/api/tools/call", { tool: "echo", params: { text: "hi" }, callId: "c" }],
      ["/api/tools/call", { tool: "echo", params: { text: "from the pipe" } }],
    ]);
  });

  test("call ends with 1 and a sentence when the tool failed, was refused, or its parameters are not JSON", async () => {
    await using fx = await cliFixture();
    const answers = [
      Response.json({ ok: false, error: { code: "tool_failed", message: "No such city." } }),
      Response.json(
        { ok: false, error: { code: "unknown_tool", message: "There is no tool called x." } },
        { status: 404 },
      ),
    ];
    await using _gateway = await fakeGateway(fx.home, () => answers.shift() ?? new Response());
    expect(await fx.run("tools", "call", "x")).toBe(1);
    expect(await fx.run("tools", "call", "x")).toBe(1);
    expect(await fx.run("tools", "call", "x", "{nonsense")).toBe(1);
    expect(fx.err().split("\n").slice(0, 2)).toEqual(["No such city.", "There is no tool called x."]);
    expect(fx.err()).toContain("not JSON");
  });
});

test("tool-calls hands its filters on and prints a line per call", async () => {
  await using fx = await cliFixture();
  const row = {
    id: "c1",
    status: "error",
    tool: "echo",
    userId: "operator",
    origin: "chat",
    createdAt: 0,
    executionTimeMs: 12,
    input: { text: "hi" },
    output: "no",
  };
  const asked: string[] = [];
  await using _gateway = await fakeGateway(fx.home, (_request, url) => {
    asked.push(url.search);
    return Response.json({ items: [row] });
  });
  expect(await fx.run("tool-calls", "--tool", "echo", "--status", "error", "--limit", "5")).toBe(0);
  expect(asked).toEqual(["?tool=echo&status=error&limit=5"]);
  expect(fx.out().split("\n")).toEqual([
    "AT                        END    TOOL  TIME   FOR       FROM  INPUT",
    '1970-01-01T00:00:00.000Z  error  echo  12 ms  operator  chat  {"text":"hi"}',
    "",
  ]);
});

describe("audit list", () => {
  const entry = {
    no: 7,
    kind: "role.given",
    at: 0,
    actor: "operator",
    subject: "telegram:user:7",
    detail: { role: "member" },
  };

  test("shows who did what to whom, asks for one kind, and says when there is nothing", async () => {
    const asked: string[] = [];
    let items: readonly unknown[] = [entry];
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, (_request, url) => {
      asked.push(`${url.pathname}${url.search}`);
      return Response.json({ items });
    });
    expect(await fx.run("audit", "list", "--kind", "role.given", "-n", "5")).toBe(0);
    expect(fx.out().split("\n")).toEqual([
      "AT                        WHAT        ABOUT            BY        MORE",
      '1970-01-01T00:00:00.000Z  role.given  telegram:user:7  operator  {"role":"member"}',
      "",
    ]);
    expect(asked).toEqual(["/api/audit?kind=role.given&limit=5"]);
    items = [];
    await fx.run("audit", "list");
    expect(fx.out()).toContain("Nothing is on the audit log besides tool calls.");
  });
});

describe("audit verify", () => {
  test("says that the audit log is intact, and where it is not", async () => {
    await using fx = await cliFixture();
    {
      await using store = await openStore({ clock: systemClock, ids: systemIds, log: silentLog }, { home: fx.home });
      for (const id of ["a", "b", "c"])
        await store.toolCalls.refuse(intent(id, "t", true), { status: "blocked", output: "no" });
    }
    expect(await fx.run("audit", "verify")).toBe(0);
    expect(fx.out()).toBe("The audit log is intact: 3 tool calls, 0 other entries, 6 links.\n");
    {
      using db = new Database(join(fx.home, "gateway.db"));
      db.exec("update tool_calls set output = 'yes' where id = 'b'");
    }
    expect(await fx.run("audit", "verify", "--json")).toBe(1);
    expect(JSON.parse(fx.out().split("\n")[1] ?? "")).toMatchObject({
      ok: false,
      kind: "tampered",
      findings: [{ callId: "b" }],
    });
  });

  test("says when there is nothing to verify", async () => {
    await using fx = await cliFixture();
    expect(await fx.run("audit", "verify")).toBe(1);
    expect(fx.out()).toContain("nothing to verify");
  });
});
