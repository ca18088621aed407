/** The tools that ship, taken together: each is closed, bounded, limited and timed, and none of them opens a door to the machine. */
import { describe, expect, test } from "bun:test";
import {
  BUILTIN_PLATFORMS,
  builtinFactories,
  builtinTools,
  type BuiltinToolDeps,
  IDS_TO_DISABLE,
  enabledTools,
} from "./builtin.ts";
import type { Config } from "./config/index.ts";
import type { Tool } from "./contracts/tools/tool.ts";
import { OWNER, toolWorld } from "./testing/tools/tool-world.ts";

const search = { settings: () => ({ provider: "searxng" }) };
const nothingBehind = { search, pages: {}, opensPages: () => true } as unknown as BuiltinToolDeps;
const somebody = { choices: () => [{ agentId: "other", description: "" }] };
const factories = builtinFactories({
  delegator: () => somebody,
  mayChat: () => true,
} as unknown as Parameters<typeof builtinFactories>[0]);
const tools: readonly Tool[] = [...builtinTools(nothingBehind), ...factories.flatMap(({ make }) => make(OWNER) ?? [])];

type Node = Readonly<Record<string, unknown>>;

/** Every schema inside a schema, with the way to it. */
function nodesOf(schema: Node, at = ""): readonly (readonly [string, Node])[] {
  const below = Object.entries((schema["properties"] ?? {}) as Record<string, Node>).flatMap(([name, node]) =>
    nodesOf(node, `${at}.${name}`),
  );
  const either = ((schema["anyOf"] ?? []) as readonly Node[]).flatMap((node) => nodesOf(node, at));
  const items = schema["items"] === undefined ? [] : nodesOf(schema["items"] as Node, `${at}[]`);
  return [[at, schema], ...below, ...either, ...items];
}

function unbounded(node: Node): boolean {
  if (node["const"] !== undefined || node["enum"] !== undefined) return false;
  switch (node["type"]) {
    case "object":
      return node["additionalProperties"] !== false;
    case "string":
      return node["maxLength"] === undefined && node["pattern"] === undefined && node["format"] === undefined;
    case "array":
      return node["maxItems"] === undefined;
    case "integer":
    case "number":
      return node["maximum"] === undefined || node["minimum"] === undefined;
    default:
      return false;
  }
}

describe("the tools that ship", () => {
  test("are these, and none of them is a shell, an interpreter, a file system or a database; web_fetch alone takes an address", () => {
    expect(tools.map(({ name }) => name)).toEqual([
      ...["send_message", "send_media", "message", "session_status"],
      ...["save_note", "search_notes", "add_task", "list_tasks", "complete_task", "update_task"],
      ...[
        "cron",
        "create_reminder",
        "web_search",
        "web_fetch",
        "gateway",
        "tool_search",
        "delegate_to_agent",
        "ask_agent",
      ],
    ]);
    const addressed = tools.filter(({ parameters }) => nodesOf(parameters).some(([at]) => /url|host|origin/i.test(at)));
    expect(addressed.map(({ name }) => name)).toEqual(["web_fetch"]);
  });

  test("that MCP clients are not told of are those about the conversation they are called in, and tool_search: all others are listed", () => {
    const inConversation = tools.filter(({ flags }) => flags?.inConversation).map(({ name }) => name);
    expect(inConversation).toEqual(["send_message", "send_media", "message", "session_status", "tool_search"]);
  });

  test.each(tools.map((tool) => [tool.name, tool] as const))("%s takes nothing without an end", (_name, tool) => {
    const loose = nodesOf(tool.parameters).filter(([, node]) => unbounded(node));
    expect(loose.map(([at]) => `${at || "(all)"} needs a largest value or length`)).toEqual([]);
    expect(tool.limit).toBeDefined();
    expect(tool.timeoutMs).toBeGreaterThan(0);
    expect(tool.description.length).toBeGreaterThan(20);
  });

  test.each(tools.map((tool) => [tool.name, tool] as const))(
    "%s refuses a call that makes no sense",
    async (name, tool) => {
      const { origins: _origins, ...anywhere } = tool; // where it may be called from is looked at first
      const world = toolWorld([{ ...anywhere, execute: () => Promise.reject(new Error("it was run")) }]);
      world.rules.now = { ...world.rules.now, allow: ["*", name] };
      for (const params of [null, "text", [], { no_such_parameter: 1 }, { __proto__: null, constructor: 1 }])
        expect(await world.call(params, { tool: name })).toMatchObject({ kind: "refused", code: "invalid_params" });
      expect(world.rows.map(({ end }) => end?.status)).toEqual(Array(5).fill("error"));
    },
  );
});

describe("plugins.disabled", () => {
  const named = [...builtinTools(nothingBehind), ...factories];

  test("takes away each tool that ships, by its name, and no other", () => {
    for (const { name } of named) {
      const left = enabledTools(named, [name]);
      expect([name, left.length]).toEqual([name, named.length - 1]);
      expect(left.some((tool) => typeof tool !== "function" && tool.name === name)).toBe(false);
    }
    const names = named.map(({ name }) => name).filter((name) => name !== "gateway"); // without it nobody could change that
    expect(names.filter((name) => !IDS_TO_DISABLE.includes(name))).toEqual([]); // else: add them there, in src/builtin.ts
    expect(enabledTools(named, ["nothing"])).toHaveLength(named.length);
  });

  test("keeps each channel that ships from being opened, by its id", () => {
    // the settings with which each is opened
    const bots = { telegram: { enabled: true, botToken: "t", accounts: {} }, discord: { enabled: true, token: "t" } };
    expect(BUILTIN_PLATFORMS.map(({ id }) => id)).toEqual(Object.keys(bots));
    const config = (disabled: readonly string[]) => ({ channels: bots, plugins: { disabled } }) as unknown as Config;
    for (const { id, settings } of BUILTIN_PLATFORMS) {
      expect([id, settings(config([])) !== null, settings(config([id]))]).toEqual([id, true, null]);
      expect(IDS_TO_DISABLE).toContain(id);
    }
  });
});
