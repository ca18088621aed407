/**
 * What every store promises about order: what was done after something else had been done comes after it, whichever gateway did it; text is
 * sorted by its characters, in no language; and pages show each row once, while new rows come in.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Principal, TurnId } from "../../../contracts/ids.ts";
import type { Listed, Page } from "../../../contracts/paging.ts";
import type { Store } from "../../../contracts/store.ts";
import { job } from "../../automation/job-fixture.ts";
import { waitFor } from "../../wait-for.ts";
import { question } from "./approval-contract.ts";
import { end, HERE, intent, OPERATOR, row, type StoreWorld, turn } from "./store-world.ts";

interface List {
  /** Adds row number `n`. */
  add(store: Store, n: number): Promise<unknown>;
  ids(store: Store, page: Page): Promise<Listed<string>>;
}

/** A turn that has ended, in a session of its own. */
async function answered({ inbox, turns }: Store, id: string, parts = [0]): Promise<void> {
  await inbox.accept(row(`in-${id}`, id, { receivedAt: 1_000 }));
  await turns.begin(turn(`t-${id}`, id, [`in-${id}`]));
  const reply = parts.map((part) => ({ part, message: { text: `part ${part}`, kind: "reply" as const } }));
  await turns.finish(end(`t-${id}`, { reply }));
}

const ids = <T>({ items, next }: Listed<T>, idOf: (item: T) => string): Listed<string> => ({
  items: items.map(idOf),
  ...(next === undefined ? {} : { next }),
});

const LISTS: Readonly<Record<string, List>> = {
  turns: {
    add: (store, n) => answered(store, `turns${n}`),
    ids: async ({ turns }, page) => ids(await turns.list({}, page), (one) => one.turn.turnId),
  },
  sessions: {
    add: ({ inbox }, n) => inbox.accept(row(`sessions${n}`, `sessions${n}`)),
    ids: async ({ sessions }, page) => ids(await sessions.list({}, page), ({ key }) => key),
  },
  "replies that were given up": {
    async add(store, n) {
      await answered(store, `dead${n}`);
      await store.outbox.settle(`t-dead${n}:0`, { state: "dead", because: "gone" }, 4_000);
    },
    ids: async ({ outbox }, page) => ids(await outbox.list("dead", page), ({ id }) => id),
  },
  "tool calls": {
    add: ({ toolCalls }, n) => toolCalls.intend(intent(`call${n}`, "t", true)),
    ids: async ({ toolCalls }, page) => ids(await toolCalls.list({}, page), ({ id }) => id),
  },
  "audit entries": {
    add: ({ audit }, n) => audit.note({ kind: "sign_in", at: 1, actor: "operator", subject: `s${n}`, detail: {} }),
    ids: async ({ audit }, page) => ids(await audit.list(page, "sign_in"), ({ subject }) => subject),
  },
  "approvals that were answered": {
    async add({ approvals }, n) {
      await approvals.put(question(`asked${n}`));
      await approvals.end(`asked${n}`, { decision: "once", by: OPERATOR, at: 2_000 });
    },
    ids: async ({ approvals }, page) => ids(await approvals.ended(page), ({ id }) => id),
  },
  jobs: {
    add: ({ jobs }, n) => jobs.add(job({ id: `job${n}` })),
    ids: async ({ jobs }, page) => ids(await jobs.list({}, page), ({ id }) => id),
  },
  "runs of a job": {
    add: ({ jobs }, n) => jobs.addManualRun({ id: `run${n}`, jobId: "job0", slot: n }),
    ids: async ({ jobs }, page) => ids(await jobs.runs("job0", page), ({ id }) => id),
  },
};

export function orderPromises(open: () => Promise<StoreWorld>): void {
  pagePromises(open);
  sortPromises(open);
  gatewayPromises(open);
}

function pagePromises(open: () => Promise<StoreWorld>): void {
  describe("pages", () => {
    let world: StoreWorld;
    beforeAll(async () => void (world = await open()));
    afterAll(() => world[Symbol.asyncDispose]());

    test.each(Object.entries(LISTS))(
      "%s are shown once each, also when one more comes between two pages",
      async (_, list) => {
        const { store } = world;
        for (let n = 0; n < 5; n++) await list.add(store, n);
        const { items: all, next } = await list.ids(store, { limit: 50 });
        expect([new Set(all).size >= 5, next]).toEqual([true, undefined]);
        const seen: string[] = [];
        let page = await list.ids(store, { limit: 2 });
        await list.add(store, 5);
        for (let pages = 0; pages < 10; pages++) {
          expect(page.items.length).toBeLessThanOrEqual(2);
          seen.push(...page.items);
          if (page.next === undefined) break;
          page = await list.ids(store, { limit: 2, cursor: page.next });
        }
        expect(seen.filter((id) => all.includes(id))).toEqual([...all]);
        for (const cursor of ["x", "", "e30", "\0"])
          await expect(list.ids(store, { limit: 2, cursor })).rejects.toMatchObject({ code: "bad_request" });
      },
    );
  });
}

function sortPromises(open: () => Promise<StoreWorld>): void {
  test("facts of a channel are listed in the order of their characters, and by exactly the beginning that is asked for", async () => {
    await using world = await open();
    const { channelState } = world.store;
    const keys = ["a:B", "a:Z", "a:_", "a:a", "a:b", "a:é", "a:😀"];
    for (const key of [...keys.toReversed(), "A:1", "a;", "a", "a9", "á:1", "b"])
      await channelState.put("telegram", "main", key, "");
    expect((await channelState.list("telegram", "main", "a:")).map(({ key }) => key)).toEqual(keys);
    await channelState.put("telegram", "main", "100%_x", "");
    await channelState.put("telegram", "main", "100 x", "");
    expect((await channelState.list("telegram", "main", "100%")).map(({ key }) => key)).toEqual(["100%_x"]);
  });

  test("the newest version of a message is the last of its own edits, and of no event whose id only looks alike", async () => {
    await using world = await open();
    const { inbox } = world.store;
    const at = (eventId: string) => inbox.newestVersion({ channel: HERE.channel, account: HERE.account, eventId });
    const accept = (eventId: string) =>
      inbox.accept(row(`in-${eventId}`, "a", { eventId, fingerprint: `print of ${eventId}` }));
    expect(await at("5")).toBeNull();
    for (const eventId of ["5", "5#9", "5#10", "5$", "50", "5 #1", '5"', "é5#1", "#", "E5", "e5#1"])
      await accept(eventId);
    expect([await at("5"), await at("50"), await at("e5"), await at("E5"), await at("7")]).toEqual([
      "print of 5#10",
      "print of 50",
      "print of e5#1",
      "print of E5",
      null,
    ]);
    expect(await inbox.newestVersion({ channel: "api", account: HERE.account, eventId: "5" })).toBeNull();
  });

  test("ids that differ in case, accents or spaces are different ids", async () => {
    await using world = await open();
    const { roleGrants, tasks } = world.store;
    const people = ["ann", "Ann", "ann ", "änn", "a\u0308nn"] as Principal[];
    for (const principal of people) await roleGrants.put({ principal, role: "member", grantedBy: OPERATOR, at: 1 });
    expect(await roleGrants.list()).toHaveLength(people.length);
    const askedBy = { turnId: "t" as TurnId, callId: "c" };
    for (const owner of people)
      await tasks.add({ id: `of ${owner}`, owner, title: "tea", dueDate: null, priority: "low", askedBy, at: 1 });
    for (const owner of people)
      expect((await tasks.list(owner, "all", 9)).map(({ id }) => id)).toEqual([`of ${owner}`]);
  });
}

/** Of one turn: between the first and the commit another gateway may end a turn of its own. */
const PARTS = [0, 1, 2];
const TURNS = 6;

function gatewayPromises(open: () => Promise<StoreWorld>): void {
  test("messages that gateways accepted one after the other wait in that order, each in its gateway, and in the one that takes over from all", async () => {
    await using world = await open();
    const stores = [world.store, await world.openSecond(), await world.openSecond()];
    const order = [2, 0, 1, 1, 0, 2, 2, 1, 0, 0];
    for (const [n, who] of order.entries()) await stores[who]?.inbox.accept(row(`in${n}`, "a"));
    const waiting = async ({ inbox }: Store) => (await inbox.unfinished()).map(({ id }) => String(id));
    for (const [me, store] of stores.entries())
      expect(await waiting(store)).toEqual(order.flatMap((who, n) => (who === me ? [`in${n}`] : [])));
    for (const store of stores) await store[Symbol.asyncDispose]();
    expect(await waiting(await world.reopen())).toEqual(order.map((_, n) => `in${n}`));
  });

  test("a gateway that goes on after the last of its parts that it saw misses none, while others end turns as well", async () => {
    await using world = await open();
    const stores = [world.store, await world.openSecond(), await world.openSecond()];
    const seenBy = async (store: Store, who: number): Promise<readonly string[]> => {
      let ended = false;
      const write = async (): Promise<void> => {
        for (let n = 0; n < TURNS; n++) await answered(store, `${who}.${n}`, PARTS);
        ended = true;
      };
      const writing = write();
      const seen: string[] = [];
      let after = 0;
      await waitFor("the last part", async () => {
        const isLast = ended; // before it reads: what is written from now on is read the next time
        const parts = await store.outbox.pending(7, after);
        seen.push(...parts.map(({ id }) => id));
        after = parts.at(-1)?.seq ?? after;
        return isLast && parts.length === 0;
      });
      await writing;
      return seen;
    };
    const turnsOf = (who: number) => Array.from({ length: TURNS }, (_, n) => `t-${who}.${n}`);
    expect(await Promise.all(stores.map(seenBy))).toEqual(
      stores.map((_, who) => turnsOf(who).flatMap((id) => PARTS.map((part) => `${id}:${part}`))),
    );
  });
}
