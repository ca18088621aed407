import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemIds } from "../kit/ids.ts";
import { cliFixture, fakeGateway, input } from "../testing/cli-fixture.ts";
import { flat, valueOf } from "./config-edit.ts";

const FILE = "pi-gateway.jsonc";

test.each([
  ["18789", 18_789],
  ["true", true],
  ['["a"]', ["a"]],
  ['"18789"', "18789"],
  ["1d", "1d"],
  ["openai/gpt-5", "openai/gpt-5"],
])("the value %p of a command line is %p", (text, value) => {
  expect(valueOf(text)).toEqual(value);
});

test("settings are compared by their paths, and lists as a whole", () => {
  expect([...flat({ a: { b: 1, c: [{ d: 2 }] }, e: null })]).toEqual([
    ["a.b", "1"],
    ["a.c", '[{"d":2}]'],
    ["e", "null"],
  ]);
});

describe("pi-gw config set", () => {
  test("changes the file, keeps comments and a copy, and tells the running gateway", async () => {
    await using cli = await cliFixture();
    const asked: string[] = [];
    await using _gateway = await fakeGateway(cli.home, (request, url) => {
      asked.push(`${request.method} ${url.pathname}`);
      return Response.json({ problems: [], needsRestart: ["gateway.port"] });
    });
    await writeFile(join(cli.home, FILE), '{\n  // mine\n  "gateway": { "port": 1234 },\n}\n');
    expect(await cli.run("config", "set", "gateway.port", "4321")).toBe(0);
    expect(await readFile(join(cli.home, FILE), "utf8")).toBe('{\n  // mine\n  "gateway": { "port": 4321 },\n}\n');
    expect(asked).toEqual(["POST /api/config/reload"]);
    expect(cli.err()).toContain("In effect after a restart: gateway.port");
    expect(cli.out()).toContain("The file as it was is");
  });

  test("makes the file where there is none, takes a text as it is, and a setting away again", async () => {
    await using cli = await cliFixture();
    expect(await cli.run("config", "set", "backup.every", "1d")).toBe(0);
    expect(JSON.parse(await readFile(join(cli.home, FILE), "utf8"))).toEqual({ backup: { every: "1d" } });
    expect(await cli.run("config", "set", "backup.every", "--unset")).toBe(0);
    expect(JSON.parse(await readFile(join(cli.home, FILE), "utf8"))).toEqual({});
  });

  test.each([
    [["gateway.prot", "1"], 78, "port"],
    [["logging.levle", "info"], 78, "level"],
    [["gateway.port", "many"], 78, "gateway.port"],
    [["gateway.port"], 1, "Give a value"],
    [["gateway.port", "1", "--unset"], 1, "Give a value"],
  ])("refuses %j, and leaves no file", async (words, code, says) => {
    await using cli = await cliFixture();
    expect(await cli.run("config", "set", ...words)).toBe(code);
    expect(cli.err()).toContain(says);
    expect(existsSync(join(cli.home, FILE))).toBe(false);
  });

  test("judges a value together with the settings that are in the file already", async () => {
    await using cli = await cliFixture();
    expect(await cli.run("config", "set", "gateway.bind", "lan")).toBe(78);
    expect(cli.err()).toContain("neither gateway.auth.token nor gateway.auth.password is set");
    const gateway = { auth: { token: systemIds.secret(24) }, trustedProxies: ["172.16.0.0/12"] };
    await writeFile(join(cli.home, FILE), JSON.stringify({ gateway }));
    expect(await cli.run("config", "set", "gateway.bind", "lan")).toBe(0);
    expect(JSON.parse(await readFile(join(cli.home, FILE), "utf8"))).toEqual({ gateway: { ...gateway, bind: "lan" } });
  });

  test("reads a secret from the input, and never prints it", async () => {
    await using cli = await cliFixture({ stdin: input("a-secret-passphrase\n") });
    expect(await cli.run("config", "set", "backup.passphrase", "-")).toBe(0);
    expect(await readFile(join(cli.home, FILE), "utf8")).toContain("a-secret-passphrase");
    expect(await cli.run("config", "diff")).toBe(0);
    expect(cli.out() + cli.err()).not.toContain("a-secret");
  });
});

test("pi-gw config diff prints what differs from the defaults", async () => {
  await using cli = await cliFixture();
  expect(await cli.run("config", "diff")).toBe(0);
  expect(cli.out()).toBe("All settings are as they are by default.\n");
  await writeFile(join(cli.home, FILE), '{ "backup": { "keep": 3, "every": "1d" } }');
  expect(await cli.run("config", "diff", "--json")).toBe(0);
  const lines = cli
    .out()
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    { setting: "backup.every", value: 86_400_000, default: null },
    { setting: "backup.keep", value: 3, default: 7 },
  ]);
});
