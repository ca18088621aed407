/** Prompts of the MCP door: slash commands for those who may use them, and prompts of plugins. */
import { describe, expect, test } from "bun:test";
import type { Role, SessionKey } from "../../contracts/ids.ts";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import type { PluginPrompt } from "../../contracts/plugin.ts";
import type { ToolClient } from "../../contracts/tools/tool.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { PROGRAM } from "../../testing/tools/tool-world.ts";
import { getPrompt, listPrompts, type PromptDeps } from "./prompts.ts";
import { createMcpSurface } from "./surface.ts";
import { NO_MASK } from "../../kit/secret.ts";

const never = new AbortController().signal;
const COMMANDS = {
  owner: [
    { name: "status", help: "How it goes" },
    { name: "queue", help: "What waits", usage: "[steer|collect|default]" },
    { name: "model", help: "Which model", usage: "[name]" },
  ],
  member: [{ name: "status", help: "How it goes" }],
  guest: [],
};
const SAIL: PluginPrompt = {
  name: "sail",
  description: "Sail somewhere",
  arguments: [{ name: "to", required: true, values: ["Bergen"] }],
  get: ({ arguments: { to } }) => [{ role: "user", content: { type: "text", text: `Sail to ${to}, s3cret` } }],
};

function world(role: Role = "owner", prompts: readonly PluginPrompt[] = [SAIL]) {
  const said: unknown[] = [];
  const surface = createMcpSurface();
  surface.add({ prompts });
  const deps: PromptDeps = {
    commands: { list: (asked) => COMMANDS[asked] },
    conversations: Promise.resolve({
      sessionOf: () => "agent:default:api:dm:mcp" as SessionKey,
      async say(text) {
        said.push(text);
        return { turnId: "t1", text: "All is well, s3cret.", usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 } };
      },
    }),
    clock: createFakeClock(),
    surface,
    mask: { ...NO_MASK, text: (text: string) => text.replaceAll("s3cret", "[redacted]") },
  };
  const asking: McpAsking = { caller: { ...PROGRAM, role }, key: null, ending: never, sees: () => true, reach: null };
  const client: ToolClient = {
    answers: [],
    ask: async () => ({}),
    follow: () => ({ [Symbol.dispose]: () => undefined }),
  };
  const call = { callId: "c1", client, signal: never };
  return {
    said,
    asking,
    list: listPrompts(deps, asking),
    get: (name: string, given = {}) => getPrompt(deps, asking, { name, given }, call),
  };
}

describe("the list of prompts", () => {
  test("has the commands that the caller may use, with the choices of their arguments", () => {
    expect(world("owner").list.map(({ name }) => name)).toEqual(["status", "queue", "model", "sail"]);
    expect(world("member").list.map(({ name }) => name)).toEqual(["status", "sail"]);
    const values = world().list.flatMap(({ arguments: known }) => known.map((one) => one.values));
    expect(values).toEqual([["steer", "collect", "default"], [], ["Bergen"]]);
  });
});

describe("a prompt", () => {
  test("of a command is the gateway's reply, once for each call, in the caller's own session", async () => {
    const { get, said, asking } = world();
    const got = await get("queue", { arguments: "steer" });
    expect(JSON.stringify(got)).toContain("The gateway answers `/queue steer`:\\n\\nAll is well, [redacted].");
    expect(said).toEqual([{ principal: asking.caller.principal, session: "mcp", text: "/queue steer", onceKey: "c1" }]);
  });

  test("of a plugin is what the plugin says, masked, and asks for its arguments", async () => {
    expect(JSON.stringify(await world().get("sail", { to: "Bergen" }))).toContain("Sail to Bergen, [redacted]");
    expect(await world().get("sail")).toEqual({ missing: "to" });
  });

  test("of a plugin does not take the place of a command", async () => {
    const taken = { ...SAIL, name: "status" };
    const { get, list } = world("owner", [taken]);
    expect(list.filter(({ name }) => name === "status")).toHaveLength(1);
    expect(JSON.stringify(await get("status"))).toContain("All is well");
  });

  test("that the caller may not use, or that is not there, is none", async () => {
    expect(await world("member").get("queue")).toBeNull();
    expect(await world().get("nothing")).toBeNull();
  });
});
