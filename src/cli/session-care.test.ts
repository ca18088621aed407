import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

async function world() {
  const asked: [string, unknown][] = [];
  const fx = await cliFixture();
  const gateway = await fakeGateway(fx.home, async (request, { pathname, search }) => {
    const text = await request.text();
    asked.push([`${request.method} ${decodeURIComponent(pathname)}${search}`, text === "" ? null : JSON.parse(text)]);
    if (pathname === "/api/search")
      return Response.json({
        items: [{ sessionKey: "agent:default:api:dm:x", role: "user", at: 0, snippet: "the plan\u001b[2J" }],
      });
    if (pathname.endsWith("/export")) return Response.json({ name: "x.md", mimeType: "text/markdown", text: "# x\n" });
    if (request.method === "DELETE") return Response.json({ deleted: { messages: 4, media: 1 } });
    if (pathname.endsWith("/branch"))
      return Response.json({ sessionKey: "agent:default:api:dm:other", title: "About x (branch)" });
    if (pathname.endsWith("/resend")) return Response.json({ accepted: "in_9" });
    return Response.json({ session: { title: "About x" } });
  });
  const end = async () => {
    await gateway[Symbol.asyncDispose]();
    await fx[Symbol.asyncDispose]();
  };
  return { ...fx, asked, [Symbol.asyncDispose]: end };
}

test("pi-gw sessions search prints what was found, safe for a terminal", async () => {
  await using fx = await world();
  expect(await fx.run("sessions", "search", "the", "plan")).toBe(0);
  expect(fx.asked[0]?.[0]).toBe("GET /api/search?q=the+plan&limit=20");
  expect(fx.out()).toContain("agent:default:api:dm:x  user, ");
  expect(fx.out()).toContain("the plan\\u001b[2J");
});

test("pi-gw sessions export writes the file to stdout", async () => {
  await using fx = await world();
  expect(await fx.run("sessions", "export", "x", "--format", "html")).toBe(0);
  expect(fx.asked[0]?.[0]).toBe("GET /api/sessions/x/export?format=html");
  expect(fx.out()).toBe("# x\n");
});

test("pi-gw sessions delete says what goes and what stays, and deletes with --yes only", async () => {
  await using fx = await world();
  expect(await fx.run("sessions", "delete", "x")).not.toBe(0);
  expect(fx.err()).toMatch(/deletes what was said[\s\S]*stay in the audit log[\s\S]*--yes/);
  expect(fx.asked).toEqual([]);
  expect(await fx.run("sessions", "delete", "x", "--yes")).toBe(0);
  expect(fx.asked).toEqual([["DELETE /api/sessions/x", null]]);
  expect(fx.out()).toContain("Deleted: 4 messages, 1 files.");
});

test.each([
  ["pin", { pinned: true }],
  ["unpin", { pinned: false }],
  ["archive", { archived: true }],
  ["unarchive", { archived: false }],
])("pi-gw sessions %s changes only that", async (name, body) => {
  await using fx = await world();
  expect(await fx.run("sessions", name, "x")).toBe(0);
  expect(fx.asked).toEqual([["PATCH /api/sessions/x", body]]);
});

test("pi-gw sessions branch and resend go on from a message", async () => {
  await using fx = await world();
  expect(await fx.run("sessions", "branch", "x")).toBe(0);
  expect(await fx.run("sessions", "branch", "x", "in_1", "--name", "other")).toBe(0);
  expect(await fx.run("sessions", "resend", "x", "in_1")).toBe(0);
  expect(await fx.run("sessions", "resend", "x", "in_1", "--text", "in other words")).toBe(0);
  expect(fx.asked).toEqual([
    ["POST /api/sessions/x/branch", {}],
    ["POST /api/sessions/x/branch", { message: "in_1", session: "other" }],
    ["POST /api/sessions/x/resend", { message: "in_1" }],
    ["POST /api/sessions/x/resend", { message: "in_1", text: "in other words" }],
  ]);
  expect(fx.out()).toContain("About x (branch): agent:default:api:dm:other");
  expect(fx.out()).toContain("Sent again as in_9. See the answer with: pi-gw sessions show x");
});
