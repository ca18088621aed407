/** Gateways that meet on one Postgres database: one that lives is left alone, one that froze is taken over from, and writes nothing when it wakes. */
import { describe, expect, test } from "bun:test";
import type { Clock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { intent, row, turn } from "../../testing/contracts/store/store-world.ts";
import { startCuttingProxy } from "../../testing/postgres/cutting-proxy.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { clockWithoutRenewals } from "../../testing/postgres/no-renewals.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { openStore } from "../index.ts";
import { NODE_EXPIRY_MS } from "../node-expiry.ts";

/** Two state directories and one database; the first gateway reaches it through a wire that can be cut. */
async function world() {
  await using building = new AsyncDisposableStack();
  const homes = [building.use(await tempHome()), building.use(await tempHome())] as const;
  const database = building.use(await createTestDatabase(STORE_TABLES));
  const proxy = building.use(startCuttingProxy(database.url));
  const sql = building.use(new Bun.SQL(database.url, { max: 1 }));
  /** The process of a gateway was frozen for so long. */
  const frozen = { ms: 0 };
  const clock: Clock = { ...clockWithoutRenewals, elapsed: () => clockWithoutRenewals.elapsed() + frozen.ms };
  const deps = { clock, ids: createSeqIds(), log: recordingLog() };
  const openAt = async (home: string, url: string) =>
    rest.use(await openStore(deps, { home, url: secret(url), version: "1.2.3" }));
  const rest = building.move();
  return {
    openFirst: () => openAt(homes[0].path, proxy.url),
    openSecond: () => openAt(homes[1].path, database.url),
    /** As if the time of all nodes had passed. */
    expire: () => sql`update nodes set expires_at = 0`,
    frozen,
    proxy,
    sql,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

describe.skipIf((await testPostgres()) === null)("on one Postgres database", () => {
  test("a second gateway does not start while the first lives, says who holds it, and touches nothing", async () => {
    await using fx = await world();
    const first = await fx.openFirst();
    await first.inbox.accept(row("in1", "a"));
    await first.turns.begin(turn("t1", "a", ["in1"]));
    const refused = await fx.openSecond().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "store_taken",
      say: expect.stringMatching(
        /^Another gateway uses this database: \S+:\d+ \(version 1\.2\.3\), since 20\S+Z\. .* free in \d s\.$/,
      ),
    });
    expect((await first.nodes.list(9)).map(({ id, state }) => [id, state])).toEqual([[first.instanceId, "live"]]);
    expect(first.epoch).toBe(1);
    expect((await fx.sql`select writer from batches`).map(({ writer }: { writer: string }) => writer)).toEqual([
      first.instanceId,
    ]);
    await first[Symbol.asyncDispose]();
    expect((await fx.openSecond()).epoch).toBe(2);
  });

  test("a gateway that starts again on its state directory does not wait for the row of its former process", async () => {
    await using fx = await world();
    const first = await fx.openFirst();
    const again = await fx.openFirst();
    const former = (await again.nodes.list(9)).find(({ id }) => id === first.instanceId);
    expect(former).toMatchObject({ state: "gone", takenOverBy: again.instanceId });
  });

  test.each([
    { fence: "on", outcomes: ["superseded", "superseded"] },
    { fence: "off", outcomes: ["stored", "stored"] },
  ])("with the fence $fence, writes of a gateway that froze and woke are $outcomes", async ({ fence, outcomes }) => {
    await using fx = await world();
    const first = await fx.openFirst();
    await first.inbox.accept(row("in1", "a"));
    fx.proxy.cutAll();
    await fx.expire();
    if (fence === "off") await fx.sql`drop trigger batches_superseded on batches`;
    const second = await fx.openSecond();
    fx.proxy.mend();
    const late = await Promise.all(
      ["in2", "in3"].map(async (id) =>
        first.inbox.accept(row(id, "a")).then(
          ({ kind }) => kind as string,
          (error: { readonly code: string }) => error.code,
        ),
      ),
    );
    expect(late).toEqual([...outcomes]);
    expect((await second.inbox.unfinished()).map(({ id }) => String(id))).toEqual(["in1"]);
    expect(await fx.sql`select id from inbox`).toHaveLength(fence === "on" ? 1 : 3);
    if (fence === "off") return;
    expect(await first.health.failed).toMatchObject({ code: "superseded" });
    expect([await first.health.isWritable(), first.health.notices()]).toEqual([
      false,
      [expect.stringContaining("Another gateway has taken over")],
    ]);
    await expect(first.turns.begin(turn("t1", "a", ["in1"]))).rejects.toMatchObject({ code: "superseded" });
  });

  test("a gateway that froze while it recorded a tool call does not run the tool", async () => {
    await using fx = await world();
    const { toolCalls, nodes } = await fx.openFirst();
    await toolCalls.intend(intent("c1", "t1", false));
    await toolCalls.intend({ ...intent("c2", "t1", false), waiting: true });
    fx.frozen.ms = NODE_EXPIRY_MS;
    expect(nodes.isHeld()).toBe(false);
    await expect(toolCalls.intend(intent("c3", "t1", false))).rejects.toMatchObject({ code: "store_failed" });
    await expect(toolCalls.begin("c2")).rejects.toMatchObject({ code: "store_failed" });
  });

  test("a write that is under way is committed before a takeover, or refused after it", async () => {
    await using fx = await world();
    const first = await fx.openFirst();
    await fx.expire();
    const writes = Array.from({ length: 20 }, async (_, n) => {
      const stored = await first.inbox.accept(row(`in${n}`, "a")).catch(() => null);
      return stored === null ? [] : [`in${n}`];
    });
    const second = await fx.openSecond();
    const acknowledged = (await Promise.all(writes)).flat();
    expect((await second.inbox.unfinished()).map(({ id }) => String(id)).toSorted()).toEqual(acknowledged.toSorted());
  });
});
