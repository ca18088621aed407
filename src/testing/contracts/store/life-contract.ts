/** What every store promises about its own life: it says whether it takes writes, and answers nothing after it was closed. */
import { expect, test } from "bun:test";
import type { InboxId } from "../../../contracts/ids.ts";
import { OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function lifePromises(open: () => Promise<StoreWorld>): void {
  test("a store that is well takes writes, has nothing to say to its owner and asks for no end of the process", async () => {
    await using world = await open();
    const { health } = world.store;
    expect([await health.isWritable(), health.hasFailed(), health.notices()]).toEqual([true, false, []]);
    expect(await Promise.race([health.failed, Promise.resolve("not settled")])).toBe("not settled");
  });

  test("a store that was closed has done what was asked before, and answers nothing more", async () => {
    await using world = await open();
    const { store } = world;
    const last = store.inbox.accept(row("in1", "a"));
    await store[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    expect(await last).toMatchObject({ kind: "stored" });
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.inbox.accept(row("in2", "a")),
      () => store.inbox.unfinished(),
      () => store.turns.begin(turn("t1", "a", ["in1"])),
      () => store.turns.resultOf("in1" as InboxId),
      () => store.sessions.get(sessionKey("a")),
      () => store.outbox.pending(1),
      () => store.jobs.nextDueAt(),
      () => store.roleGrants.remove(OPERATOR, OPERATOR),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "stopping" });
    expect((await (await world.reopen()).inbox.unfinished()).map(({ id }) => String(id))).toEqual(["in1"]);
  });
}
