/** A wire to Postgres that is cut at the worst moments: nothing acknowledged is lost, nothing is written twice, and nobody waits for ever. */
import { describe, expect, test } from "bun:test";
import type { Store } from "../../contracts/store.ts";
import { systemClock } from "../../kit/clock.ts";
import { secret } from "../../kit/secret.ts";
import { row, sessionKey, turn } from "../../testing/contracts/store/store-world.ts";
import { type Cut, startCuttingProxy } from "../../testing/postgres/cutting-proxy.ts";
import { createTestDatabase, testPostgres } from "../../testing/postgres/database.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { openStore } from "../index.ts";
import { STORE_TABLES } from "../../testing/postgres/store-tables.ts";

async function world() {
  await using building = new AsyncDisposableStack();
  const home = building.use(await tempHome());
  const database = building.use(await createTestDatabase(STORE_TABLES));
  const proxy = building.use(startCuttingProxy(database.url));
  const log = recordingLog();
  const deps = { clock: systemClock, ids: createSeqIds(), log };
  const store: Store = building.use(await openStore(deps, { home: home.path, url: secret(proxy.url) }));
  const rest = building.move();
  return { store, proxy, log, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

describe.skipIf((await testPostgres()) === null)("a connection to Postgres that is lost", () => {
  test.each(["before the commit", "after the commit"] as const satisfies readonly Cut[])(
    "%s leaves no doubt: each write of the batch is done once, and is told what it did",
    async (cut) => {
      await using fx = await world();
      const { inbox, sessions } = fx.store;
      await inbox.accept(row("first", "a"));
      fx.proxy.cutNext(cut);
      const answers = await Promise.all([
        inbox.accept(row("in1", "a")),
        inbox.accept(row("in2", "b")),
        inbox.accept(row("first", "a")),
      ]);
      expect(answers.map(({ kind }) => kind)).toEqual(["stored", "stored", "duplicate"]);
      expect((await sessions.get(sessionKey("a")))?.messages).toBe(2);
      expect((await inbox.unfinished()).map(({ id }) => String(id))).toEqual(["first", "in1", "in2"]);
      expect(fx.proxy.cuts).toBe(1);
    },
  );

  test("while nobody writes is made again, and reads and writes go on", async () => {
    await using fx = await world();
    const { inbox, health } = fx.store;
    await inbox.accept(row("in1", "a"));
    await inbox.unfinished();
    fx.proxy.cutAll();
    const [written, read] = [inbox.accept(row("in2", "a")), inbox.unfinished()];
    await waitFor("the loss in the log", () =>
      fx.log.lines.some(({ words }) => words === "connection to Postgres lost"),
    );
    fx.proxy.mend();
    expect((await written).kind).toBe("stored");
    expect((await read).length).toBeGreaterThan(0);
    expect(await health.isWritable()).toBe(true);
    expect(fx.log.lines.map(({ words }) => words)).toContain("connected to Postgres again");
  });

  test("in the middle of a turn's writes keeps what was acknowledged, in its order", async () => {
    await using fx = await world();
    const { inbox, turns } = fx.store;
    for (let n = 0; n < 6; n++) {
      fx.proxy.cutNext(n % 2 === 0 ? "after the commit" : "before the commit");
      expect((await inbox.accept(row(`in${n}`, `s${n}`))).kind).toBe("stored");
      const begun = await turns.begin(turn(`t${n}`, `s${n}`, [`in${n}`]));
      expect(begun.attempt).toBe(1);
    }
    expect((await inbox.unfinished()).map(({ id }) => String(id))).toEqual([0, 1, 2, 3, 4, 5].map((n) => `in${n}`));
  });

  test("for good is told: health says so, and the password is in no line of the log", async () => {
    await using fx = await world();
    fx.proxy.cutAll();
    await waitFor("the notice", async () => {
      void fx.store.inbox.accept(row("in1", "a")).catch(() => undefined);
      return fx.log.lines.some(({ words }) => words === "connection to Postgres lost");
    });
    expect(await fx.store.health.isWritable()).toBe(false);
    expect(fx.store.health.notices()).toEqual([
      expect.stringMatching(/^The database cannot be written to .*The gateway tries again, with growing pauses\.$/),
    ]);
    const password = new URL(fx.proxy.url).password;
    expect(password.length).toBeGreaterThan(8);
    expect(JSON.stringify(fx.log.lines)).not.toContain(password);
    fx.proxy.mend();
    await waitFor("writes again", () => fx.store.health.isWritable());
    expect(fx.store.health.notices()).toEqual([]);
  });
});
