/**
 * Tool errors as models and programs read them: every error is one of three envelopes, in a turn of real pi and over HTTP, and what a model
 * writes down for a parameter is read by one rule on both.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { AuditRow } from "../src/contracts/store/tool-calls.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { pluginsOf, putPlugin } from "./plugins-fixture.ts";
import { asked, endpoint, eventually, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const LAMP = {
  type: "object",
  properties: {
    device: { type: "string" },
    level: { type: "integer" },
    on: { type: "boolean" },
    note: { type: "string" },
  },
  required: ["device"],
  additionalProperties: false,
};

const PLUGIN = `
  const answer = (text) => ({ content: [{ type: "text", text }] });
  const tool = (name, execute, more = {}) =>
    api.registerTool({ name, description: "A tool.", parameters: { type: "object" }, flags: { idempotent: true }, execute, ...more });
  tool("set_lamp", async (_id, params) => ({ ...answer(JSON.stringify(params)), details: { lamp: "details of lamp 7" } }),
    { parameters: ${JSON.stringify(LAMP)} });
  tool("fails", async () => { throw new Error("The lamp is broken."); });
  tool("says_nothing", async () => ({ content: [] }));
  api.registerHook("before_tool_call", ({ tool, params }) => (tool === "set_lamp" && params.note === "forbidden" ? { block: "Not this lamp." } : undefined));
`;

interface Made {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly cut?: boolean;
}

let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;
const made = new Map<string, Made>();

beforeAll(async () => {
  provider = await startFakeProvider((request): FakeReply => {
    if (request.messages.at(-1)?.role === "tool") return says("done");
    const { cut = false, ...call } = made.get(asked(request)) ?? { name: "none", input: {} };
    return { kind: "tools", calls: [call], ...(cut ? { finish: "length" } : {}) };
  });
  home = await tempHome();
  await putPlugin(home.path, { id: "lamps", body: PLUGIN });
  const { agent, models } = endpoint(provider);
  const config = {
    models,
    agent: { ...agent, tools: "full", pool: { min: 0, max: 1 } },
    plugins: { enabled: ["lamps"] },
  };
  gateway = await startGatewayProcess({ home: home.path, config });
  await Bun.write(join(home.path, "workspace", "a.txt"), "one line");
  await eventually(
    "the plugin lamps runs",
    async () => (await pluginsOf(gateway)).get("lamps")?.state,
    (state) => state === "running",
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

/** What the model read after it had made this call. */
async function inTurn(call: Made): Promise<string> {
  const words = `call ${made.size}`;
  made.set(words, call);
  const { body } = await gateway.chat(words);
  expect(body.content).toBe("done");
  return textOf(provider.requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.content);
}

interface HttpAnswer {
  readonly ok: boolean;
  readonly result?: { readonly content: readonly { readonly text: string }[] };
  readonly envelope?: unknown;
}

async function overHttp({ name, input }: Made): Promise<HttpAnswer> {
  const body = JSON.stringify({ tool: name, params: input });
  const headers = { "content-type": "application/json" };
  return (await (await gateway.fetch("/api/tools/call", { method: "POST", headers, body })).json()) as HttpAnswer;
}

async function lastRow(tool: string): Promise<AuditRow | undefined> {
  const response = await gateway.fetch(`/api/tool-calls?tool=${tool}&limit=1`);
  return ((await response.json()) as { items: AuditRow[] }).items[0];
}

const error = (tool: string, ...words: readonly string[]) => ({ status: "error", tool, words });
const blocked = (tool: string, ...words: readonly string[]) => ({ status: "blocked", tool, words });

describe("a call that cannot run or fails is the same envelope in a turn and over HTTP", () => {
  test.each([
    ["a missing parameter", { name: "set_lamp", input: {} }, error("set_lamp", "device: is missing; it must be text.")],
    [
      "null for a required parameter",
      { name: "set_lamp", input: { device: null } },
      error("set_lamp", "device: is null; it must be text."),
    ],
    ["an empty required text", { name: "set_lamp", input: { device: "" } }, error("set_lamp", "device: is missing")],
    [
      "true for a number",
      { name: "set_lamp", input: { device: "a", level: true } },
      error("set_lamp", "level: is true; it must be a whole number"),
    ],
    [
      "an unknown parameter",
      { name: "set_lamp", input: { device: "a", levl: 1 } },
      error("set_lamp", "Did you mean level?"),
    ],
    [
      "a hook that blocks",
      { name: "set_lamp", input: { device: "a", note: "forbidden" } },
      blocked("set_lamp", "Not this lamp."),
    ],
    ["a tool that throws", { name: "fails", input: {} }, error("fails", "The lamp is broken.")],
    ["a tool without a result", { name: "says_nothing", input: {} }, error("says_nothing", "content")],
  ])("%s", async (_what, call, { words, ...start }) => {
    const read = JSON.parse(await inTurn(call)) as Record<string, string>;
    const { ok, envelope } = await overHttp(call);
    expect([read, ok, envelope]).toEqual([expect.objectContaining(start), false, read]);
    for (const word of words) expect(read["error"] ?? read["reason"]).toContain(word);
  });
});

test("a tool that does not exist is an error with the nearest name and all names, in a turn those of pi too", async () => {
  const call = { name: "set_lmap", input: {} };
  const words = "There is no tool called set_lmap. Did you mean set_lamp? The tools are: ";
  const read = JSON.parse(await inTurn(call)) as Record<string, string>;
  expect(read).toEqual({
    status: "error",
    tool: "set_lmap",
    error: expect.stringContaining(`${words}read, `) as never,
  });
  const { envelope } = await overHttp(call);
  expect(envelope).toEqual({ status: "error", tool: "set_lmap", error: expect.stringContaining(words) as never });
});

describe("an error of a pi tool is an envelope", () => {
  test.each([
    [
      "with null for a required text",
      { name: "write", input: { path: "a.txt", content: null } },
      error("write", "content: must not be null"),
    ],
    ["that fails while it runs", { name: "ls", input: { path: "a.txt" } }, error("ls", "a.txt")],
    ["without its file", { name: "read", input: { path: "nothing.txt" } }, error("read", "nothing.txt")],
    ["outside of the workspace", { name: "read", input: { path: "/etc/hostname" } }, blocked("read", "/etc/hostname")],
    ["without a required parameter", { name: "bash", input: { comand: "true" } }, error("bash", "command")],
    [
      "that was cut off by the output limit",
      { name: "read", input: { path: "x" }, cut: true },
      error("read", "output token limit"),
    ],
  ])("%s", async (_what, call, { words, ...start }) => {
    const read = JSON.parse(await inTurn(call)) as Record<string, string>;
    expect(read).toMatchObject(start);
    for (const word of words) expect(read["error"] ?? read["reason"]).toContain(word);
  });
});

describe("a parameter is read by one rule in a turn and over HTTP", () => {
  test.each([
    ["a number as text", { device: "a", level: "2" }, { device: "a", level: 2 }],
    ["true as text", { device: "a", on: "true" }, { device: "a", on: true }],
    ["a text as number", { device: 12 }, { device: "12" }],
    ["null for an optional parameter", { device: "a", note: null, level: null }, { device: "a" }],
  ])("%s", async (_what, input, used) => {
    const call = { name: "set_lamp", input };
    expect(JSON.parse(await inTurn(call))).toEqual(used);
    const inTurnRow = await lastRow("set_lamp");
    expect(JSON.parse((await overHttp(call)).result?.content[0]?.text ?? "null")).toEqual(used);
    const httpRow = await lastRow("set_lamp");
    expect([inTurnRow, httpRow]).toMatchObject([
      { input: used, asked: input },
      { input: used, asked: input },
    ]);
  });

  test("a call that needs no change has no second input in the audit log", async () => {
    await inTurn({ name: "set_lamp", input: { device: "plain" } });
    const row = await lastRow("set_lamp");
    expect([row?.input, row?.asked]).toEqual([{ device: "plain" }, undefined]);
  });
});

test("the details of a result are in the session file of pi, and the model does not read them", async () => {
  await inTurn({ name: "set_lamp", input: { device: "with details" } });
  const sessions = async () => {
    const files = await Array.fromAsync(new Bun.Glob("sessions/*.jsonl").scan({ cwd: home.path, absolute: true }));
    return (await Promise.all(files.map((file) => Bun.file(file).text()))).join("\n");
  };
  // the process gives the file back when its turn is over
  await eventually("the details are in a session file", sessions, (text) =>
    text.includes('"details":{"lamp":"details of lamp 7"}'),
  );
  expect(JSON.stringify(provider.requests.at(-1)?.body)).not.toContain("details of lamp 7");
});

test.each([
  ["null", null],
  ["a list", ["device"]],
  ["a text", "lamp"],
  ["a number", 5],
  ["left out", undefined],
])(
  "parameters that are %s get the envelope and the row of every other invalid call over HTTP",
  async (_what, params) => {
    const response = await gateway.fetch("/api/tools/call", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tool: "set_lamp", params }),
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      ok: false,
      error: { code: "invalid_params", message: expect.stringContaining("The parameters of set_lamp are not valid") },
      envelope: { status: "error", tool: "set_lamp" },
    });
    const rows = (await (await gateway.fetch("/api/tool-calls?tool=set_lamp&limit=1")).json()) as { items: AuditRow[] };
    expect(rows.items).toMatchObject([{ tool: "set_lamp", status: "error" }]);
  },
);
