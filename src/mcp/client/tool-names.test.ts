/** Names of tools of MCP servers, and which of them are taken. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isTaken } from "./globs.ts";
import { toolNames } from "./tool-names.ts";

const named = (server: string, tools: readonly string[]) => Object.fromEntries(toolNames(server, tools));

describe("the name of a tool of an MCP server", () => {
  test("begins with mcp and the server's name, and keeps what providers take", () => {
    expect(named("files", ["read_file", "get-tree", "search.all"])).toEqual({
      read_file: "mcp_files_read_file",
      "get-tree": "mcp_files_get-tree",
      "search.all": "mcp_files_search_all",
    });
  });

  test("is told apart by a hash where two would be called alike, and the one that fits as it is keeps its name", () => {
    const names = named("s", ["a.b", "a_b", "a/b"]);
    expect(names["a_b"]).toBe("mcp_s_a_b");
    expect([names["a.b"], names["a/b"]]).toEqual([
      expect.stringMatching(/^mcp_s_a_b_[0-9a-f]{8}$/),
      expect.stringMatching(/^mcp_s_a_b_[0-9a-f]{8}$/),
    ]);
    expect(names["a.b"]).not.toBe(names["a/b"]);
  });

  test("does not depend on the order of the list, fits every provider, and is never given twice in whatever case", () => {
    const tool = fc.oneof(
      fc.string({ minLength: 1, maxLength: 128 }),
      fc.constantFrom("a.b", "a_b", "A_b", "x".repeat(90)),
    );
    fc.assert(
      fc.property(fc.uniqueArray(tool, { maxLength: 12 }), (tools) => {
        const names = toolNames("some-server", tools);
        expect(toolNames("some-server", tools.toReversed())).toEqual(new Map([...names].toReversed()));
        const all = [...names.values()];
        expect(all.every((name) => /^mcp_some-server_[A-Za-z0-9_-]{0,}$/.test(name) && name.length <= 64)).toBe(true);
        expect(new Set(all.map((name) => name.toLowerCase())).size).toBe(tools.length);
      }),
    );
  });
});

test.each([
  ["read_file", ["*"], [], true],
  ["read_file", ["read_*"], [], true],
  ["write_file", ["read_*"], [], false],
  ["read_file", ["*"], ["*_file"], false],
  ["read_file", ["r*d*e"], ["x*"], true],
  ["aba", ["ab*ba"], [], false],
  ["read_file", [], [], false],
] as const)("the tool %s with allow %j and deny %j: %p", (tool, allow, deny, taken) => {
  expect(isTaken(tool, { allow, deny })).toBe(taken);
});
