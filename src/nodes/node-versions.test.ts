/** Gateways on one database say what is in force there, and are told which of them differs. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { InstanceId } from "../contracts/ids.ts";
import type { GatewayNode, NodeDifference, NodeVersions } from "../contracts/store/nodes.ts";
import type { Store } from "../contracts/store.ts";
import { createTopic } from "../kit/topic.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { testPostgres } from "../testing/postgres/database.ts";
import { createPostgresWorlds } from "../testing/postgres/store-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { advanceUntil } from "../testing/wait-for.ts";
import { createNodeVersions, differencesOf } from "./node-versions.ts";

setDefaultTimeout(30_000);

const SELF: GatewayNode = {
  id: "gateway_1" as InstanceId,
  name: "west:1",
  version: "1.2.3",
  state: "live",
  startedAt: 1,
  renewedAt: 2,
  expiresAt: 3,
  takenOverBy: null,
  settings: "s",
  plugins: "p",
};
const OTHER: GatewayNode = { ...SELF, id: "gateway_2" as InstanceId, name: "east:1" };

test.each<[string, Partial<GatewayNode>, readonly NodeDifference[]]>([
  ["is the same", {}, []],
  ["has other settings", { settings: "x" }, ["settings"]],
  ["has other plugins and another version", { plugins: "x", version: "1.2.4" }, ["version", "plugins"]],
  ["has not said what it has", { settings: null, plugins: null }, []],
  ["has ended", { state: "gone", settings: "x", version: "1" }, []],
  ["drains with other settings", { state: "draining", settings: "x" }, ["settings"]],
])("a gateway that %s differs in %j: %j", (_, more, expected) => {
  expect(differencesOf({ ...OTHER, ...more }, SELF)).toEqual(expected);
});

test("a gateway does not differ from itself, nor from one that is not listed", () => {
  expect(differencesOf(SELF, { ...SELF, settings: "old" })).toEqual([]);
  expect(differencesOf(OTHER, undefined)).toEqual([]);
});

describe.skipIf((await testPostgres()) === null)("two gateways on one Postgres database", () => {
  const worlds = createPostgresWorlds();
  afterAll(() => worlds[Symbol.asyncDispose]());

  function watching({ nodes }: Store, versions: { now: NodeVersions }) {
    const clock = createFakeClock();
    const changed = createTopic<void>();
    const watch = createNodeVersions({ clock, log: recordingLog(), nodes });
    const running = watch.start({ versions: () => versions.now, onChange: changed.subscribe });
    const until = (what: string, fits: (notices: readonly string[]) => boolean) =>
      advanceUntil({ clock, stepMs: 1_000 }, what, () => fits(watch.notices()));
    return {
      until,
      changed: () => changed.publish(),
      notices: watch.notices,
      [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    };
  }

  test("a gateway whose settings are changed is named at the other one until both have the same, and so is a plugin", async () => {
    await using world = await worlds.open();
    const other = await world.openSecond();
    const [mine, theirs] = [{ now: { settings: "s", plugins: "p" } }, { now: { settings: "s", plugins: "p" } }];
    await using here = watching(world.store, mine);
    await using there = watching(other, theirs);
    theirs.now = { settings: "x", plugins: "p" };
    there.changed();
    await here.until("the difference", ([notice]) => notice !== undefined);
    expect(here.notices()).toEqual([
      expect.stringMatching(new RegExp(`^The gateway ${other.nodes.self.name} has other settings than this one`)),
    ]);
    theirs.now = { settings: "x", plugins: "q" };
    there.changed();
    await here.until("both differences", ([notice]) => notice?.includes("other settings and plugins") === true);
    mine.now = theirs.now;
    here.changed();
    await here.until("none", ({ length }) => length === 0);
  });
});
