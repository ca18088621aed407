/** What an MCP server may have beside its command or its address. */
import { describe, expect, test } from "bun:test";
import { checkConfigText } from "./check.ts";

function problemsOf(server: object): readonly string[] {
  const text = JSON.stringify({ mcp: { servers: { mine: server } } });
  return checkConfigText(text, () => undefined).problems.map(({ message }) => message);
}

const url = "https://mcp.example/";

describe("an MCP server", () => {
  test.each([
    ["a program", { command: "npx", args: ["-y"], env: { KEY: "k" }, folders: [{ path: "/data" }], network: "all" }],
    ["an address", { url, headers: { "X-Key": "k" }, oauth: {} }],
    ["an address with a header of its own for the sign-in", { url, headers: { Authorization: "Bearer k" } }],
  ])("may be %s", (_what, server) => {
    expect(problemsOf(server)).toEqual([]);
  });

  test.each([
    ["neither", {}],
    ["both", { command: "npx", url }],
    ["both, and settings of each,", { command: "npx", url, args: ["-y"], headers: { "X-Key": "k" } }],
  ])("with %s of command and url is refused", (_what, server) => {
    expect(problemsOf(server)).toEqual(["mcp.servers.mine must have exactly one of command and url."]);
  });

  test.each([
    ["url", "args", { url, args: ["-y"] }],
    ["url", "env", { url, env: { KEY: "k" } }],
    ["url", "folders", { url, folders: [{ path: "/data" }] }],
    ["url", "network", { url, network: "all" }],
    ["command", "headers", { command: "npx", headers: { "X-Key": "k" } }],
    ["command", "oauth", { command: "npx", oauth: {} }],
  ])("that has %s is told that %s has no effect", (kind, key, server) => {
    expect(problemsOf(server)).toEqual([`mcp.servers.mine.${key} has no effect beside ${kind}. Remove it.`]);
  });

  test.each(["Authorization", "authorization", "AUTHORIZATION"])("signs in by oauth or by %s, not both", (name) => {
    expect(problemsOf({ url, oauth: {}, headers: { [name]: "Bearer k" } })).toEqual([
      "mcp.servers.mine has both oauth and a header Authorization. Keep one of them.",
    ]);
  });
});
