import { expect, test } from "bun:test";
import type { UpdateReport } from "../../contracts/update.ts";
import { cliFixture, fakeGateway } from "../../testing/cli-fixture.ts";

const REPORT: UpdateReport = {
  version: "1.4.1",
  because: null,
  newest: null,
  isRunning: false,
  steps: [],
  hasFailed: false,
  last: null,
};

test.each<readonly [string, Partial<UpdateReport>, readonly string[]]>([
  ["nothing else is known", {}, []],
  [
    "a newer version is known",
    { newest: { version: "1.4.2", isNewer: true, at: 0 } },
    ["Version 1.4.2 is there. Update with: pi-gw update"],
  ],
  ["it is the newest", { newest: { version: "1.4.1", isNewer: false, at: 0 } }, ["It is the newest version."]],
  [
    "the last update went back",
    { last: { from: "1.4.1", to: "1.4.2", at: 0, kind: "returned", why: "the port was taken" } },
    ["The update from 1.4.1 to 1.4.2 at 1970-01-01T00:00 went back: the port was taken."],
  ],
  [
    "an update is at work",
    { isRunning: true, steps: ["Installing …", "Trying it …"] },
    ["An update is at work:", "  Installing …", "  Trying it …"],
  ],
  [
    "an update failed before it switched",
    { hasFailed: true, steps: ["no room on the disk"] },
    ["The last update failed before it switched, and nothing was changed:", "  no room on the disk"],
  ],
])("pi-gw update --status says which version runs, and that %s", async (_what, more, lines) => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, async () => Response.json({ ...REPORT, ...more }));
  expect(await fx.run("update", "--status")).toBe(0);
  expect(fx.out()).toBe(["Version 1.4.1 runs.", ...lines, ""].join("\n"));
});

test("pi-gw update --status --json gives the answer of the gateway as it is", async () => {
  await using fx = await cliFixture();
  await using _gateway = await fakeGateway(fx.home, async () => Response.json(REPORT));
  expect(await fx.run("update", "--status", "--json")).toBe(0);
  expect(JSON.parse(fx.out())).toEqual(REPORT);
});
