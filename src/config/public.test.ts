/** What may be seen from outside: the allow-list view, the editors' schema and the reference page. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { secret } from "../kit/secret.ts";
import { checkConfigText, configJsonSchema, publicConfig, renderConfigReference } from "./index.ts";
import { publicView } from "./public.ts";
import { allKeys, asSchemaNode, rootSchema } from "./schema-node.ts";

const TOKEN = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";

describe("the public view", () => {
  test("shows settings, and of secrets only whether they are set", () => {
    const providers = {
      x: { baseUrl: "http://me:hunter2@127.0.0.1/v1", apiKey: "hunter2", models: [{ id: "m" }] },
    };
    const text = JSON.stringify({ gateway: { auth: { token: TOKEN } }, models: { providers } });
    const { config } = checkConfigText(text, () => undefined);
    if (!config) throw new Error("the configuration is good");
    const view = publicConfig(config);
    expect(view).toMatchObject({
      gateway: { port: 18789, auth: { mode: "token", token: "set", password: "not set" } },
      models: { providers: { x: { baseUrl: "http://(hidden)@127.0.0.1/v1", apiKey: "set" } } },
      agent: { pool: { min: 1 } },
    });
    expect(JSON.stringify(view)).not.toMatch(/hunter2|q7Vb2/);
  });

  test.each([
    ["http://me:p@ss@host/v1", "http://(hidden)@host/v1"],
    ["postgres://me@host:5432/db?x=a@b", "postgres://(hidden)@host:5432/db?x=a@b"],
    ["https://host/path@here", "https://host/path@here"],
    ["http://a:1@one.example http://b:2@two.example", "http://(hidden)@one.example http://(hidden)@two.example"],
  ])("hides the user and the whole password of the address %p", (address, shown) => {
    const schema = asSchemaNode(Type.Object({ url: Type.String() }));
    expect(publicView(schema, { url: address })).toEqual({ url: shown });
  });

  test("hides a secret key that was added to the schema, without being told", () => {
    const schema = Type.Object({
      name: Type.String(),
      newKey: Type.Unsafe<string>({ type: "string", secret: true }),
      list: Type.Array(Type.Object({ deep: Type.Unsafe<string>({ type: "string", secret: true }) })),
    });
    const value = { name: "n", newKey: "hunter2", list: [{ deep: "hunter2" }] };
    expect(publicView(asSchemaNode(schema), value)).toEqual({ name: "n", newKey: "set", list: [{ deep: "set" }] });
  });

  test("says of settings that belong to a plugin only that they are set", () => {
    const { config } = checkConfigText(
      '{ "plugins": { "config": { "hello": { "anything": "swordfish" } } } }',
      () => undefined,
    );
    if (!config) throw new Error("not valid");
    expect(JSON.stringify(publicConfig(config))).not.toContain("swordfish");
    expect(publicConfig(config)).toMatchObject({ plugins: { config: { hello: "set" } } });
  });

  test("does not show a key the schema does not name, nor a wrapped value that lost its mark", () => {
    const schema = asSchemaNode(Type.Object({ name: Type.String(), lost: Type.String() }));
    const value = { name: "n", lost: secret("hunter2"), extra: "hunter2" };
    expect(publicView(schema, value)).toEqual({ name: "n", lost: "set" });
  });

  test("does not show a value whose kind is not the schema's", () => {
    expect(publicView(asSchemaNode(Type.Object({ name: Type.String() })), { name: { inner: "hunter2" } })).toEqual({});
  });
});

describe("the schema for editors", () => {
  const schema = configJsonSchema();

  test("is plain JSON without our own marks", () => {
    const text = JSON.stringify(schema);
    expect(JSON.parse(text)).toEqual(schema);
    expect(text).not.toMatch(/"(secret|security|duration)":true|"(expects|~kind)":/); // a setting may be called secret
    expect(text).toContain('"writeOnly":true');
  });

  test.each([
    ["an empty file", {}],
    ["the schema's address", { $schema: "./schema.json" }],
    ["a variable in a number's place", { gateway: { port: "${PORT}" } }],
    ["a duration with its unit", { agent: { timeoutMs: "5m" } }],
    ["an endpoint", { models: { providers: { x: { baseUrl: "http://h/v1", models: [{ id: "m" }] } } } }],
  ])("accepts %s", (_name, value) => {
    expect(Value.Check(asSchema(schema), value)).toBe(true);
  });

  test.each([
    ["an unknown key", { gateway: { prot: 1 } }],
    ["a number written as text", { gateway: { port: "1" } }],
    ["a port that does not exist", { gateway: { port: 65536 } }],
    ["an endpoint without an address", { models: { providers: { x: { models: [{ id: "m" }] } } } }],
  ])("refuses %s", (_name, value) => {
    expect(Value.Check(asSchema(schema), value)).toBe(false);
  });
});

describe("the reference page", () => {
  const page = renderConfigReference();

  test("names every setting that has a value", () => {
    const groups = new Set(["gateway", "agent", "models", "queue", "media", "logging", "$schema"]);
    const isGroup = (path: string) => groups.has(path) || page.includes(`\`${path}.`) || page.includes(`\`${path}[].`);
    const missing = allKeys(rootSchema()).filter(({ path }) => !isGroup(path) && !page.includes(`\`${path}\``));
    expect(missing).toEqual([]);
  });

  test("says of every setting what it does", () => {
    expect(page.split("\n").filter((line) => line.startsWith("| `") && line.endsWith("|  |"))).toEqual([]);
  });

  test("is the stored one, to the last default and limit", async () => {
    const stored = await Bun.file(join(import.meta.dir, "../../docs/reference/config.md")).text();
    // its tables are aligned where it is stored
    const plain = (text: string): readonly string[] =>
      text
        .trim()
        .split("\n")
        .map((line) => line.replaceAll(/-{3,}/g, "---").replaceAll(/ {2,}/g, " "));
    expect(plain(stored)).toEqual(plain(page));
  });

  test("shows defaults as they would be written", () => {
    expect(page).toContain('| `agent.timeoutMs` | duration, at least 1s | `"10m"` |');
    expect(page).toContain("| `gateway.port` | whole number, 0 to 65535 | `18789` |");
    expect(page).toContain("| `gateway.auth.token` | secret text |");
  });
});

const asSchema = (schema: object) => Type.Unsafe<unknown>(schema);
