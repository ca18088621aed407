import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

test("pi-gw sign-ins lists browsers and signs one out; config revert asks the gateway", async () => {
  await using fx = await cliFixture();
  const asked: string[] = [];
  await using _gateway = await fakeGateway(fx.home, async (request, { pathname }) => {
    asked.push(`${request.method} ${pathname}`);
    return Response.json({
      items: [
        { id: "ab12", browser: "Firefox on Windows", createdAt: 0, expiresAt: 60_000, current: false },
        { id: "cd34", browser: null, createdAt: 0, expiresAt: 60_000, current: false },
      ],
    });
  });
  expect(await fx.run("sign-ins")).toBe(0);
  expect(fx.out().trimEnd().split("\n")).toEqual([
    "ID    BROWSER             SIGNED IN         UNTIL",
    "ab12  Firefox on Windows  1970-01-01T00:00  1970-01-01T00:01",
    "cd34  -                   1970-01-01T00:00  1970-01-01T00:01",
  ]);
  expect(await fx.run("sign-ins", "end", "ab12")).toBe(0);
  expect(await fx.run("config", "revert")).toBe(0);
  expect(asked).toEqual(["GET /api/sign-ins", "DELETE /api/sign-ins/ab12", "POST /api/config/revert"]);
});
