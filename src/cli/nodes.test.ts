import { expect, test } from "bun:test";
import { cliFixture, fakeGateway } from "../testing/cli-fixture.ts";

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const NODE = { version: "1.2.3", startedAt: AT, renewedAt: AT + 2_000, expiresAt: AT + 8_000, takenOverBy: null };
const ANSWER = {
  self: "gateway_2",
  items: [
    { ...NODE, id: "gateway_2", name: "west:7", state: "live" },
    { ...NODE, id: "gateway_3", name: "south:8", state: "live", differs: ["settings", "plugins"] },
    { ...NODE, id: "gateway_1", name: "east-of-a-cluster-5d9c7b8f6-x2x9q:9", state: "gone", takenOverBy: "gateway_2" },
  ],
};

test("pi-gw nodes shows each gateway, its state, when it was heard of and who took over, and --json the answer itself", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, async (_request, { pathname }) =>
    pathname === "/api/nodes" ? Response.json(ANSWER) : new Response(null, { status: 404 }),
  );
  expect(await fx.run("nodes")).toBe(0);
  const since = "2026-01-02T03:04:05.000Z  2026-01-02T03:04:07.000Z";
  expect(fx.out().trimEnd().split("\n")).toEqual([
    "NAME                                 VERSION  STATE  SINCE                     HEARD OF                  ABOUT",
    `west:7                               1.2.3    live   ${since}  this gateway`,
    `south:8                              1.2.3    live   ${since}  has other settings and plugins than this gateway`,
    `east-of-a-cluster-5d9c7b8f6-x2x9q:9  1.2.3    gone   ${since}  taken over by west:7`,
  ]);
  const shown = fx.out().length;
  expect(await fx.run("nodes", "--json")).toBe(0);
  expect(JSON.parse(fx.out().slice(shown))).toEqual(ANSWER);
});

test.each([
  [["nodes", "drain"], "/api/nodes/self/drain", "This gateway"],
  [["nodes", "drain", "machine:7"], "/api/nodes/machine%3A7/drain", "machine:7"],
])(
  "pi-gw %j asks for a drain and says who drains, by the name in the list, and what follows",
  async (words, wanted, who) => {
    await using fx = await cliFixture();
    await using _gateway = await fakeGateway(fx.home, async ({ method }, { pathname }) =>
      method === "POST" && pathname === wanted
        ? Response.json({ draining: "gateway_1" }, { status: 202 })
        : new Response(null, { status: 404 }),
    );
    expect(await fx.run(...words)).toBe(0);
    expect(fx.out()).toStartWith(`${who} takes no new sessions from now on.`);
  },
);
