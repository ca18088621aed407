import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { systemClock } from "../../../kit/clock.ts";
import { row } from "../../../testing/contracts/store/store-world.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { tempHome } from "../../../testing/temp-home.ts";
import { openStore } from "../../index.ts";

const MESSAGES = 60;
const idsDown = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => `in${from - at}`);

/** Every message has "harbour", one in twenty "gull", the first ten "anchor". */
async function filledStore() {
  const home = await tempHome();
  const store = await openStore({ clock: systemClock, ids: createSeqIds(), log: recordingLog() }, { home: home.path });
  for (let n = 0; n < MESSAGES; n++) {
    const text = `harbour ${n}${n % 20 === 0 ? " gull" : ""}${n < 10 ? " anchor" : ""}`;
    await store.inbox.accept(row(`in${n}`, "a", { text, receivedAt: n }));
  }
  const find = async (words: string, cursor?: string) => {
    const page = cursor === undefined ? { limit: 5 } : { limit: 5, cursor };
    const { items, next } = await store.sessions.searchMessages({ words }, page);
    return { ids: items.map(({ id }) => String(id)), next };
  };
  const loseIndex = (): void => {
    using db = new Database(join(home.path, "gateway.db"));
    db.run("insert into message_index (message_index) values ('delete-all')");
  };
  const end = async () => {
    await store[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  };
  return { find, loseIndex, [Symbol.asyncDispose]: end };
}

test("a search for a word of every message gives each message once, newest first, page by page", async () => {
  await using store = await filledStore();
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.find("harb", cursor);
    ids.push(...page.ids);
    cursor = page.next;
  } while (cursor !== undefined);
  expect(ids).toEqual(idsDown(MESSAGES - 1, 0));
});

test("a search for a word of the newest messages does not ask the index, which would collect all that have it", async () => {
  await using store = await filledStore();
  store.loseIndex();
  expect((await store.find("harbour")).ids).toEqual(idsDown(MESSAGES - 1, MESSAGES - 5));
});

test("a search for words that few of the newest messages have finds older ones by the index", async () => {
  await using store = await filledStore();
  expect((await store.find("anchor")).ids).toEqual(idsDown(9, 5));
  expect((await store.find("gull harbour")).ids).toEqual(["in40", "in20", "in0"]);
});
