import { expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { cliFixture, fakeGateway, TOKEN } from "../testing/cli-fixture.ts";

test("pi-gw token rotate asks the running gateway, and says what becomes of signed-in browsers", async () => {
  await using fx = await cliFixture();
  const asked: string[] = [];
  await using _gateway = await fakeGateway(fx.home, async ({ method }, { pathname }) => {
    asked.push(`${method} ${pathname}`);
    return Response.json({ browsers: "stay signed in" });
  });
  expect(await fx.run("token", "rotate")).toBe(0);
  expect(asked).toEqual(["POST /api/token/rotate"]);
  expect(fx.out()).toBe(
    `A new token is in ${fx.home}/token; the old one is refused from now on. Browsers that signed in with the password stay signed in.\n`,
  );
});

test("pi-gw token rotate writes the file itself when no gateway runs, and prints no token", async () => {
  await using fx = await cliFixture();
  expect(await fx.run("token", "rotate")).toBe(1);
  expect(fx.err()).toContain("There is no token");
  await Bun.write(`${fx.home}/token`, `${TOKEN}\n`);
  expect(await fx.run("token", "rotate", "--json")).toBe(0);
  const now = (await Bun.file(`${fx.home}/token`).text()).trim();
  expect([now === TOKEN, now.length > 20, fx.out().includes(now)]).toEqual([false, true, false]);
  expect((await stat(`${fx.home}/token`)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(fx.out())).toEqual({ rotated: true, file: `${fx.home}/token`, browsers: "signed out" });
});

test("pi-gw token rotate leaves a token alone that is in the configuration", async () => {
  await using fx = await cliFixture();
  await Bun.write(`${fx.home}/token`, `${TOKEN}\n`);
  await Bun.write(`${fx.home}/pi-gateway.jsonc`, JSON.stringify({ gateway: { auth: { token: TOKEN } } }));
  expect(await fx.run("token", "rotate")).toBe(1);
  expect(fx.err()).toContain("gateway.auth.token");
  expect((await Bun.file(`${fx.home}/token`).text()).trim()).toBe(TOKEN);
});

test("pi-gw token rotate leaves a token alone that other gateways may have, while no gateway runs", async () => {
  await using fx = await cliFixture();
  await Bun.write(`${fx.home}/token`, `${TOKEN}\n`);
  const store = { url: "postgres://gateway@127.0.0.1:1/gateway" };
  await Bun.write(`${fx.home}/pi-gateway.jsonc`, JSON.stringify({ store }));
  expect(await fx.run("token", "rotate")).toBe(1);
  expect(fx.err()).toContain("Start this gateway, then: pi-gw token rotate");
  expect((await Bun.file(`${fx.home}/token`).text()).trim()).toBe(TOKEN);
});
