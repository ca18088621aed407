/** Parameters of pi tools under the names that models know from Claude Code, and in the other spelling: real pi, real files. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, textOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;
let call: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
let rounds = 0;

beforeAll(async () => {
  provider = await startFakeProvider((request): FakeReply => {
    if (!asked(request).startsWith("call") || request.messages.at(-1)?.role === "tool") return says("done");
    return { kind: "tools", calls: [call] };
  });
  home = await tempHome();
  const { agent, models } = endpoint(provider);
  const config = { models, agent: { ...agent, tools: "workspace", pool: { min: 0, max: 1 } } };
  gateway = await startGatewayProcess({ home: home.path, config });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const file = () => Bun.file(join(home.path, "workspace", "a.txt"));

async function make(name: string, input: Readonly<Record<string, unknown>>): Promise<string> {
  await Bun.write(file(), "one\ntwo\nTHREE\n");
  call = { name, input };
  await gateway.chat(`call ${++rounds}`);
  return textOf(provider.requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.content);
}

test.each([
  ["Read", { file_path: "a.txt", offset: 2, limit: 1 }, "two"],
  ["read", { filePath: "a.txt" }, "one"],
  ["LS", { path: "." }, "a.txt"],
])("%s %j reads what was meant", async (name, input, read) => {
  expect(await make(name, input)).toContain(read);
});

test.each([
  ["Write", { file_path: "a.txt", content: "new" }, "new"],
  ["Edit", { file_path: "a.txt", old_string: "two", new_string: "2" }, "one\n2\nTHREE\n"],
  ["edit", { path: "a.txt", old_text: "two", new_text: "" }, "one\n\nTHREE\n"],
  ["edit", { path: "a.txt", oldString: "two", newString: "2" }, "one\n2\nTHREE\n"],
  [
    "MultiEdit",
    {
      file_path: "a.txt",
      edits: [
        { old_string: "one", new_string: "1" },
        { old_string: "two", new_string: "2" },
      ],
    },
    "1\n2\nTHREE\n",
  ],
])("%s %j changes the file as meant", async (name, input, text) => {
  await make(name, input);
  expect(await file().text()).toBe(text);
});

/** Whether the programs behind these are installed is not the point: what pi was about to run is in the audit log. */
test.each([
  [
    "Grep",
    { pattern: "a", "-i": true, "-C": 2, head_limit: 5 },
    "grep",
    { pattern: "a", ignoreCase: true, context: 2, limit: 5 },
  ],
  ["grep", { pattern: "a", ignore_case: true }, "grep", { pattern: "a", ignoreCase: true }],
  ["Glob", { pattern: "*.txt" }, "find", { pattern: "*.txt" }],
])("%s %j is a call of %s with %j", async (name, input, tool, used) => {
  await make(name, input);
  const response = await gateway.fetch(`/api/tool-calls?tool=${tool}&limit=1`);
  const { items } = (await response.json()) as { items: { input: unknown }[] };
  expect(items[0]?.input).toEqual(used);
});

test("a parameter that is given under two names is refused", async () => {
  const read = JSON.parse(await make("write", { path: "a.txt", file_path: "b.txt", content: "x" })) as unknown;
  expect(read).toMatchObject({
    status: "error",
    tool: "write",
    error: expect.stringContaining("Give only path") as never,
  });
  expect(await file().text()).toStartWith("one");
});
