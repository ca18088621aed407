/** The form of an MCP server: changes of the settings that its fields make, and problems beside them. */
import { expect, test } from "bun:test";
import { placed, problemsOf, serverEdits, type ServerSettings, typedOf } from "./server-edits.ts";

const SHOP: ServerSettings = {
  enabled: true,
  command: "node",
  args: ["shop.js", "--quiet"],
  env: { SHOP_KEY: "set", REGION: "set" },
  headers: {},
  allow: ["*"],
  deny: [],
  ownerOnly: true,
};
const kept = typedOf("shop", SHOP);
const secret = (id: number, name: string, value: string) => ({ id, name, value, isKept: false });

test("a new server is written with what differs from the defaults alone", () => {
  const empty = typedOf("", null);
  expect(serverEdits({ ...empty, name: "shop", command: " npx " }, null)).toEqual([
    { path: ["mcp", "servers", "shop"], value: { command: "npx" } },
  ]);
  const full = {
    ...empty,
    name: "shop",
    command: "npx",
    args: "-y\n\nshop-mcp\n",
    env: [secret(0, " KEY ", "s3cret"), secret(1, "", "")],
    network: "hosts",
    hosts: "registry.npmjs.org\n",
    allow: "get_*\nlist_*",
    deny: "get_all",
    ownerOnly: false,
    enabled: false,
  };
  expect(serverEdits(full, null)[0]?.value).toEqual({
    command: "npx",
    args: ["-y", "shop-mcp"],
    env: { KEY: "s3cret" },
    network: { allow: ["registry.npmjs.org"] },
    allow: ["get_*", "list_*"],
    deny: ["get_all"],
    ownerOnly: false,
    enabled: false,
  });
  const address = {
    ...empty,
    name: "shop",
    kind: "address",
    url: "https://shop.example",
    headers: [secret(0, "A", "b")],
  };
  expect(serverEdits(address, null)[0]?.value).toEqual({ url: "https://shop.example", headers: { A: "b" } });
});

test("a change writes what was changed alone, and secrets that nobody typed stay as they are", () => {
  expect(serverEdits(kept, SHOP)).toEqual([]);
  const env = [...kept.env.filter(({ name }) => name !== "REGION"), secret(7, "COLOUR", "blue")];
  const path = ["mcp", "servers", "shop"];
  expect(serverEdits({ ...kept, args: "shop.js", env, deny: "look", enabled: false }, SHOP)).toEqual([
    { path: [...path, "args"], value: ["shop.js"] },
    { path: [...path, "env", "REGION"] },
    { path: [...path, "env", "COLOUR"], value: "blue" },
    { path: [...path, "deny"], value: ["look"] },
    { path: [...path, "enabled"], value: false },
  ]);
});

test("a program that becomes an address loses the settings of a program", () => {
  const edits = serverEdits({ ...kept, kind: "address", url: "https://shop.example" }, SHOP);
  expect(edits.map(({ path, value }) => [path.at(-1), value])).toEqual([
    ["command", undefined],
    ["args", undefined],
    ["env", undefined],
    ["folders", undefined],
    ["network", undefined],
    ["url", "https://shop.example"],
  ]);
});

test("problems that need no gateway are told at their fields", () => {
  const empty = typedOf("", null);
  expect(Object.keys(problemsOf({ ...empty, allow: " " }, []))).toEqual(["name", "command", "allow"]);
  expect(problemsOf({ ...kept, name: "Shop_1" }, []).name).toContain("small letters");
  expect(problemsOf(kept, ["shop"])).toEqual({ name: "There is a server called shop already." });
  expect(problemsOf({ ...kept, network: "hosts" }, [])).toEqual({ network: "Name at least one host." });
  expect(problemsOf({ ...kept, env: [...kept.env, secret(8, "REGION", "x")] }, []).env).toBe("REGION is there twice.");
  expect(problemsOf({ ...kept, env: [secret(8, "KEY", "")] }, []).env).toBe("KEY has no value.");
  expect(problemsOf({ ...kept, env: [secret(8, "", "x")] }, []).env).toBe("A value has no name.");
  expect(problemsOf({ ...kept, kind: "address" }, []).url).toContain("address");
});

test("problems of the gateway's check are told at their fields, and others at the form", () => {
  const at = (path: string) => ({ path, message: `${path} is wrong.` });
  expect(placed("shop", [at("mcp.servers.shop.env.A B"), at("mcp.servers.other.url"), at("budget")])).toEqual({
    env: "mcp.servers.shop.env.A B is wrong.",
    form: "mcp.servers.other.url is wrong. budget is wrong.",
  });
});
