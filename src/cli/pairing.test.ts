import { describe, expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const person = (state: string) => ({
  id: "pair_1",
  channel: "telegram",
  account: "main",
  principal: "telegram:user:9",
  name: "Eve\u001b[2J",
  state,
  role: state === "approved" ? "member" : null,
  createdAt: 0,
  expiresAt: 0,
});

async function world(items: readonly object[] = [person("pending"), person("approved")]) {
  const asked: string[] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    const body = request.method === "POST" ? JSON.stringify(await request.json()) : "";
    asked.push(`${request.method} ${decodeURIComponent(pathname)} ${body}`.trim());
    if (body.includes("WRONG234"))
      return Response.json({ error: { code: "not_found", message: "There is no such entry." } }, { status: 404 });
    if (request.method === "GET") return Response.json({ items });
    return Response.json({ person: person("approved"), role: "member" });
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

describe("pi-gw pairing", () => {
  test("list shows who waits and who has access, safe for a terminal", async () => {
    await using fx = await world();
    expect(await fx.run("pairing", "list")).toBe(0);
    const [head, waits, letIn] = fx.out().split("\n");
    expect(head).toMatch(/^ID +PERSON +NAME +CHANNEL +STATE$/);
    expect(waits).toMatch(/^pair_1 +telegram:user:9 +Eve\\u001b\[2J +telegram\/main +waits/);
    expect(letIn).toContain("has access as member");
    await using none = await world([]);
    await none.run("pairing", "list");
    expect(none.out()).toStartWith("Nobody waits");
    await using lines = await world();
    await lines.run("pairing", "list", "--json");
    expect(
      lines
        .out()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).state),
    ).toEqual(["pending", "approved"]);
  });

  test("approve sends the code and a role, member unless another is named; revoke and undo take an id", async () => {
    await using fx = await world();
    expect(await fx.run("pairing", "approve", "ABCD-2345")).toBe(0);
    expect(await fx.run("pairing", "approve", "ABCD-2345", "--role", "owner")).toBe(0);
    expect(await fx.run("pairing", "revoke", "pair_1")).toBe(0);
    expect(await fx.run("pairing", "undo", "pair_1")).toBe(0);
    expect(fx.asked).toEqual([
      'POST /api/pairing {"code":"ABCD-2345","role":"member"}',
      'POST /api/pairing {"code":"ABCD-2345","role":"owner"}',
      'POST /api/pairing/pair_1 {"decision":"revoke"}',
      'POST /api/pairing/pair_1 {"decision":"undo"}',
    ]);
    const approved = "telegram:user:9 may write on telegram from now on, as member.\n";
    expect(fx.out()).toBe(
      `${approved}${approved}They may not write any more.\nThe last decision about them is undone.\n`,
    );
  });

  test("a code that is not there ends with the gateway's sentence", async () => {
    await using fx = await world();
    expect(await fx.run("pairing", "approve", "WRONG234")).toBe(1);
    expect(fx.err()).toContain("There is no such entry.");
  });
});
