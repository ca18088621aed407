/** Letters between gateways on a real Postgres server: in order, each once, over lost connections, and with a word when one is missing. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { ReceivedLetter } from "../../../contracts/store/letters.ts";
import type { Store } from "../../../contracts/store.ts";
import { systemClock } from "../../../kit/clock.ts";
import { secret } from "../../../kit/secret.ts";
import { startCuttingProxy } from "../../../testing/postgres/cutting-proxy.ts";
import { createTestDatabase, testPostgres } from "../../../testing/postgres/database.ts";
import { STORE_TABLES } from "../../../testing/postgres/store-tables.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { tempHome } from "../../../testing/temp-home.ts";
import { waitFor } from "../../../testing/wait-for.ts";
import { openStore } from "../../open.ts";

setDefaultTimeout(20_000);

async function fixture() {
  const stack = new AsyncDisposableStack();
  const home = stack.use(await tempHome());
  const database = stack.use(await createTestDatabase(STORE_TABLES));
  const wire = stack.use(startCuttingProxy(database.url)); // goes after the gateways, which say goodbye over it
  const ids = createSeqIds();
  let opened = 0;
  const open = async (): Promise<Store> => {
    const beside = { stateDirectory: `directory ${opened++}` };
    const deps = { clock: systemClock, ids, log: recordingLog() };
    return stack.use(await openStore(deps, { home: home.path, url: secret(wire.url), beside }));
  };
  const sql = stack.use(new Bun.SQL(database.url, { max: 1 }));
  return { open, wire, sql, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function reader(store: Store) {
  const read: ReceivedLetter[] = [];
  const missed: string[] = [];
  store.letters.onLetter((letter) => void read.push(letter));
  store.letters.onMissed((from) => void missed.push(from));
  return { read, missed, bodies: () => read.map(({ body }) => body) };
}

const knows = (store: Store, other: Store) =>
  waitFor(
    "the other gateway to be known",
    () => store.letters.others(),
    (others) => others.includes(other.instanceId),
  );

/** NOTIFY holds one lock of the whole server until its transaction has committed, so turns at all gateways would wait for each other. */
test("gateways are woken by letters alone, over a connection that begins no transaction", async () => {
  const store = join(import.meta.dir, "../..");
  const files = [...new Bun.Glob("**/*.ts").scanSync(store)].filter((file) => !file.endsWith(".test.ts"));
  const texts = await Promise.all(files.map(async (file) => [file, await Bun.file(join(store, file)).text()] as const));
  const waking = texts.filter(([, text]) => /\bpg_notify\b|["'`\s;]notify\s+\w+\s*[;"'`,]/i.test(text));
  expect(waking.map(([file]) => file)).toEqual(["postgres/letters/outgoing.ts"]);
  expect(waking[0]?.[1]).not.toMatch(/\bbegin\b.*["'`]|\.control\(/);
});

describe.skipIf((await testPostgres()) === null)("letters between gateways on Postgres", () => {
  test("who lives cannot be asked while the database is away, which is an error that callers know", async () => {
    await using world = await fixture();
    const one = await world.open();
    world.wire.cutAll();
    expect(one.letters.live()).rejects.toMatchObject({ code: "store_failed" });
    world.wire.mend();
    expect(await waitFor("the database", () => one.letters.live().catch(() => null))).toEqual([]);
  });

  test("arrive after every connection was cut, still in order and once", async () => {
    await using world = await fixture();
    const { open, wire } = world;
    const [one, two] = [await open(), await open()];
    const { bodies, missed } = reader(two);
    await knows(two, one);
    one.letters.send({ to: null, kind: "count", body: "before" });
    await waitFor("the first letter", bodies, ({ length }) => length === 1);
    wire.cutAll();
    for (const body of ["1", "2", "3"]) one.letters.send({ to: null, kind: "count", body });
    wire.mend();
    await waitFor("the others", bodies, ({ length }) => length === 4);
    expect([bodies(), missed]).toEqual([["before", "1", "2", "3"], []]);
  });

  test("that were lost with a crash of the server are missed, and the reader is told whose they were", async () => {
    await using world = await fixture();
    const { open, sql } = world;
    const [one, two] = [await open(), await open()];
    const { bodies, missed } = reader(two);
    await knows(two, one);
    one.letters.send({ to: null, kind: "count", body: "1" });
    await waitFor("the first letter", bodies, ({ length }) => length === 1);
    await sql`insert into node_letters (from_node, number, kind, body, at) values (${one.instanceId}, 7, 'count', '"after"', 0)`;
    await waitFor("the letter after the gap", bodies, ({ length }) => length === 2);
    expect(missed).toEqual([one.instanceId]);
  });

  test("of a gateway from which another one has taken over are not read any more", async () => {
    await using world = await fixture();
    const { open, sql } = world;
    const [one, two, three] = [await open(), await open(), await open()];
    const { bodies } = reader(two);
    await knows(two, one);
    await sql`update nodes set state = 'gone', taken_over_by = ${two.instanceId} where id = ${one.instanceId}`;
    one.letters.send({ to: null, kind: "count", body: "of the late one" });
    await waitFor(
      "the late letter to be stored",
      async () => (await sql`select 1 from node_letters`).length,
      (count) => count === 1,
    );
    three.letters.send({ to: null, kind: "count", body: "of a live one" });
    await waitFor("the letter of the live one", bodies, ({ length }) => length > 0);
    expect(bodies()).toEqual(["of a live one"]);
    expect(two.letters.others()).toEqual([three.instanceId]);
  });

  test("of before a gateway began are not its concern", async () => {
    await using world = await fixture();
    const { open } = world;
    const [one, two] = [await open(), await open()];
    const { bodies } = reader(two);
    await knows(two, one);
    one.letters.send({ to: null, kind: "count", body: "early" });
    await waitFor("the early letter", bodies, ({ length }) => length === 1);
    const late = await open();
    const { bodies: readLate } = reader(late);
    await knows(late, one);
    one.letters.send({ to: null, kind: "count", body: "new" });
    await waitFor("the new letter", readLate, ({ length }) => length > 0);
    expect(readLate()).toEqual(["new"]);
  });
});
