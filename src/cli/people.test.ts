import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const ANSWERS: Readonly<Record<string, object>> = {
  "GET /api/people": {
    items: [
      { principal: "telegram:user:1", role: "owner", from: "configuration" },
      { principal: "discord:user:2\u001b[2J", role: "member", from: "chat" },
    ],
  },
  "POST /api/people": { principal: "telegram:user:1", role: null },
  "GET /api/models": {
    items: [
      { name: "one/small", thinking: ["off"] },
      { name: "one/large", thinking: ["off", "high"], price: { input: 3, output: 15 } },
    ],
    providers: ["two"],
    current: "one/large",
  },
  "GET /api/models/providers": {
    items: [
      { name: "openai", keyFrom: "settings", isOwn: false, canTest: true },
      { name: "groq", keyFrom: null, isOwn: false, canTest: true },
    ],
  },
  "POST /api/models/test": { ok: false, say: "api.openai.com refuses this key (401)", models: [] },
};

async function output(...argv: string[]) {
  await using fx = await cliFixture();
  const asked: unknown[] = [];
  await using _gateway = await fakeGateway(fx.home, async (request, { pathname, search }) => {
    const body = request.method === "POST" ? await request.json() : undefined;
    asked.push(body ?? `${pathname}${search}`);
    return Response.json(ANSWERS[`${request.method} ${pathname}`] ?? {});
  });
  const code = await fx.run(...argv);
  return { code, lines: fx.out().trimEnd().split("\n"), asked, err: fx.err() };
}

test("pi-gw people lists roles and where they come from, safe for a terminal, and gives and takes them", async () => {
  expect((await output("people", "list")).lines).toEqual([
    "PERSON                   ROLE    FROM",
    "telegram:user:1          owner   configuration",
    "discord:user:2\\u001b[2J  member  chat",
  ]);
  const taken = await output("people", "role", "telegram:user:1", "none");
  expect(taken).toMatchObject({ code: 0, asked: [{ principal: "telegram:user:1", role: null }] });
  expect(await output("people", "role", "telegram:user:1", "king")).toMatchObject({ code: 1, asked: [] });
});

test("pi-gw models marks the current one, and --json prints the answer itself", async () => {
  const models = await output("models", "--agent", "helper");
  expect(models.asked).toEqual(["/api/models?agent=helper"]);
  expect(models.lines).toEqual([
    "MODEL        THINKING   PER MILLION TOKENS",
    "  one/small  off",
    "* one/large  off, high  $3 in, $15 out",
    "By their whole name also the models of: two",
  ]);
  expect(JSON.parse((await output("models", "--json")).lines[0] ?? "")).toEqual(ANSWERS["GET /api/models"]);
});

test("pi-gw models providers says where keys come from, and models test tries one", async () => {
  expect((await output("models", "providers")).lines).toEqual([
    "PROVIDER  KEY",
    "openai    from the settings",
    "groq      none",
  ]);
  const tried = await output("models", "test", "openai");
  expect(tried).toMatchObject({ code: 1, asked: [{ provider: "openai" }] });
  expect(tried.lines).toEqual(["api.openai.com refuses this key (401)."]);
  const json = await output("models", "test", "openai", "--json");
  expect(JSON.parse(json.lines[0] ?? "")).toEqual(ANSWERS["POST /api/models/test"]);
});
