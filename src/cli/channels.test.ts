import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const CARD = {
  id: "telegram",
  ok: false,
  detail: "the token is wrong\u001b[2J",
  own: false,
  access: { dm: "pairing", group: "allowlist", requireMention: true, groups: 0 },
  lastReceived: { at: 0, from: "Ada" },
  lastSent: null,
  lastLost: { at: 0, because: "the chat is gone" },
};

test("pi-gw channels says how each account is, what passed last and who may write", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, async () => Response.json({ items: [CARD] }));
  expect(await fx.run("channels")).toBe(0);
  expect(fx.out()).toMatch(
    /^CHANNEL +STATE +LAST MESSAGE +WHO MAY WRITE +TROUBLE\ntelegram +not connected \(the token is wrong.*\) +\S.* ago from Ada +direct messages: pairing, groups: allowlist +a reply was lost/,
  );
  expect(fx.out()).toContain("a reply was lost");
  expect(fx.out()).not.toContain("\u001b");
});
