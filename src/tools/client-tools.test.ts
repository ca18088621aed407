/** Tools that a program brings to its turn: offered and judged like any other, written down, and run by the program alone. */
import { expect, test } from "bun:test";
import type { ToolContext } from "../contracts/tools/tool.ts";
import { MEMBER, OWNER, policy, says, tool, toolWorld } from "../testing/tools/tool-world.ts";
import { noSessionTools } from "../testing/tools/quiet-deps.ts";

const OPEN_DOOR = {
  name: "open_door",
  description: "Opens the door.",
  parameters: { type: "object", properties: { which: { type: "string" } } },
};
const bringing = (context: ToolContext, name = "open_door"): ToolContext => ({
  ...context,
  clientTools: [{ ...OPEN_DOOR, name }],
});
const DELEGATED = JSON.stringify({
  status: "pending",
  tool: "open_door",
  message: "Tool execution delegated to client",
});

test("a program's tool is offered to its own turn after those of the gateway, marked as the program's", async () => {
  const world = toolWorld([tool(async () => says("x"))]);
  const offered = { ...OPEN_DOOR, label: "open_door", client: true };
  expect(world.gate.specs(bringing(OWNER)).slice(1)).toEqual([offered] as never);
  expect((await world.gate.offered(bringing(OWNER), true)).slice(1)).toEqual([offered] as never);
  expect(world.gate.specs(OWNER).map(({ name }) => name)).toEqual(["echo"]);
  expect(world.gate.specs(null).map(({ name }) => name)).toEqual(["echo"]);
});

test("a call of a program's tool leaves a row and says that the program runs it", async () => {
  const world = toolWorld([]);
  const context = bringing(MEMBER);
  expect(await world.call({ which: "front" }, { tool: "open_door", context })).toEqual({
    kind: "ok",
    result: says(DELEGATED),
  });
  await world.clock.advance(0);
  expect(world.rows).toHaveLength(1);
  expect(world.last()).toMatchObject({
    intent: { tool: "open_door", input: { which: "front" }, idempotent: true },
    end: { status: "success" },
  });
});

test("a program's tool is called by its exact name, by the turn that brought it, with an object", async () => {
  const world = toolWorld([]);
  const call = (name: string, context: ToolContext, params: unknown = {}) =>
    world.call(params, { tool: name, context });
  expect(await call("openDoor", bringing(OWNER))).toMatchObject({ code: "unknown_tool" });
  expect(await call("open_door", OWNER)).toMatchObject({ code: "unknown_tool" });
  for (const params of [null, "front", ["front"]])
    expect(await call("open_door", bringing(OWNER), params)).toMatchObject({ code: "invalid_params" });
});

test("a program's tool goes before one of the gateway with the same name, which is not run", async () => {
  let ran = 0;
  const world = toolWorld([tool(async () => (ran++, says("x")))]);
  const outcome = await world.call({ text: "x" }, { context: bringing(OWNER, "echo") });
  expect(outcome).toMatchObject({ kind: "ok" });
  expect([ran, JSON.stringify(outcome)]).toEqual([0, expect.stringContaining("delegated to client")]);
});

test("lists that say what the gateway offers leave a program's tool alone, and lists that forbid name it", async () => {
  const world = toolWorld([]);
  const call = () => world.call({}, { tool: "open_door", context: bringing(OWNER) });
  world.rules.now = policy({ allow: ["echo"], roles: { owner: { allow: ["echo"] } } });
  expect(await call()).toMatchObject({ kind: "ok" });
  for (const rules of [{ deny: ["open_*"] }, { roles: { owner: { deny: ["open_door"] } } }]) {
    world.rules.now = policy(rules);
    expect(await call()).toMatchObject({ kind: "refused", code: "not_allowed" });
  }
});

test("a plugin sees a call of a program's tool, and an owner is asked about it where the rules say so", async () => {
  const world = toolWorld([]);
  const call = () => world.call({}, { tool: "open_door", context: bringing(OWNER) });
  world.rules.now = policy({ approvals: { ask: ["open_door"], never: [] } });
  expect(await call()).toMatchObject({ code: "approval_denied" });
  world.hooks.on("before_tool_call", () => ({ block: "not this door" }), "guard");
  expect(await call()).toMatchObject({ kind: "refused", message: "not this door" });
  expect(world.approvals.asked).toHaveLength(1);
});

test("neither built-in tools, those of programs nor calls from elsewhere are kept in the session that called them", async () => {
  const noted: string[] = [];
  const sessionTools = { ...noSessionTools, noteUse: (_key: unknown, name: string) => void noted.push(name) };
  const made = tool(async () => says("x"));
  const world = toolWorld([made], { sessionTools });
  world.registry.register({ ...made, name: "built_in" }, "gateway");
  const context = bringing(OWNER);
  await world.call({ text: "x" }, { context, path: "http" });
  await world.call({ text: "x" }, { context, tool: "built_in" });
  await world.call({ text: "x" }, { context, tool: "open_door" });
  expect(noted).toEqual([]);
  await world.call({ text: "x" }, { context });
  expect(noted).toEqual(["echo"]);
});
