import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

test("pi-gw notifications lists browsers, sends one a test and takes one off the list", async () => {
  await using fx = await cliFixture();
  const asked: string[] = [];
  const outcomes = [
    { ok: true, say: "The push service took it." },
    { ok: false, say: "The notification was not sent: its push service is away." },
  ];
  await using _gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    asked.push(`${request.method} ${pathname}`);
    if (request.method === "POST") return Response.json(outcomes.shift());
    if (request.method === "DELETE") return Response.json({ removed: true });
    const items = [
      { id: "push_2", browser: "Firefox on Linux", createdAt: 1, sentAt: null, problem: null, current: false },
      { id: "push_1", browser: "Chrome on Android", createdAt: 1, sentAt: 1, problem: "status 500", current: false },
    ];
    return Response.json({ enabled: true, publicKey: "k", items });
  });
  expect(await fx.run("notifications")).toBe(0);
  expect(fx.out()).toMatch(
    /^ID +BROWSER +LAST NOTIFICATION +TROUBLE\npush_2 {2}Firefox on Linux +none yet\npush_1 {2}Chrome on Android +\S.* ago +not taken: status 500\n$/,
  );
  expect([await fx.run("notifications", "test", "push_2"), await fx.run("notifications", "test", "push_1")]).toEqual([
    0, 1,
  ]);
  expect(await fx.run("notifications", "remove", "push_1")).toBe(0);
  expect(fx.out()).toEndWith("its push service is away.\nIt gets no more notifications.\n");
  expect(asked).toEqual([
    "GET /api/notifications",
    "POST /api/notifications/push_2/test",
    "POST /api/notifications/push_1/test",
    "DELETE /api/notifications/push_1",
  ]);
});

test("pi-gw notifications says where they are switched on when no browser gets any", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, async () =>
    Response.json({ enabled: true, publicKey: "k", items: [] }),
  );
  expect(await fx.run("notifications", "list")).toBe(0);
  expect(fx.out()).toContain("Switch them on in the web console");
});
