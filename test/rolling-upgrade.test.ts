/** Whole gateways of two versions on one Postgres database, with real pi: they are updated one after the other while people write. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../src/testing/postgres/store-tables.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { VERSION } from "../src/version.ts";
import { asked, endpoint, eventually, sentenceOf, startFails, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const PROJECT = resolve(import.meta.dir, "..");
const NEXT_VERSION = "99.0.0";
const ADDS = { name: "next-adds", sql: "alter table inbox add column next_word text" };
const TAKES = { name: "next-takes", sql: "create table next_marks (at bigint)", worksFrom: NEXT_VERSION };
/** The newest migration of this version, as the build has it. */
const NEWEST = /\{name:"node-keys",sql:'[^']*'\}/;
const SESSIONS = ["a", "b", "c"];
/** Of one answer, as models need time: people who were answered at once would write hundreds of messages while a gateway starts. */
const MODEL_MS = 300;

/** This build with another version and two more migrations. */
function makeNextVersion(folder: string): string {
  const build = join(folder, "dist");
  cpSync(join(PROJECT, "dist"), build, {
    recursive: true,
    filter: (path) => !/\/dist\/(?:pi-gw|maps|sdk)$/.test(path),
  });
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  let changed = 0;
  for (const file of readdirSync(build).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(join(build, file), "utf8");
    const next = text
      .replace(NEWEST, (last) => `${last},${JSON.stringify(ADDS)},${JSON.stringify(TAKES)}`)
      .replaceAll(`version:"${VERSION}"`, `version:"${NEXT_VERSION}"`);
    if (next === text) continue;
    changed++;
    writeFileSync(join(build, file), next);
  }
  expect(changed).toBeGreaterThanOrEqual(2);
  return build;
}

interface People {
  /** Each session wrote and was answered so often. */
  readonly answered: Readonly<Record<string, number>>;
  /** Ends with the answer to what was written last. */
  stop(): Promise<void>;
}

/** In each session somebody writes the next message when the last was answered, to whichever gateway takes it, and again under the same key until one does. */
function startPeople(gateways: ReadonlySet<GatewayProcess>): People {
  const answered: Record<string, number> = Object.fromEntries(SESSIONS.map((session) => [session, 0]));
  let isOver = false;
  const ask = async (session: string, number: number): Promise<void> => {
    const reached = [...gateways];
    const gateway = reached[number % reached.length];
    const body = JSON.stringify({ text: `${session}${number}`, session });
    const headers = { "content-type": "application/json", "idempotency-key": `${session}-${number}` };
    const response = await gateway?.fetch("/api/chat", { method: "POST", headers, body }).catch(() => null);
    const { content } = response?.ok ? ((await response.json()) as { content?: string }) : {};
    if (content === `you said: ${session}${number}`) return;
    await Bun.sleep(50); // it is stopping, or gone: a person tries again
    await ask(session, number);
  };
  const all = SESSIONS.map(async (session) => {
    for (let number = 0; !isOver; number++) {
      await ask(session, number);
      answered[session] = number + 1;
    }
  });
  return {
    answered,
    async stop() {
      isOver = true;
      await Promise.all(all);
    },
  };
}

describe.skipIf((await testPostgres()) === null)("gateways that are updated one after the other", () => {
  test("answer every message once and in order; older ones work beside newer ones until the last of them has ended", async () => {
    await using provider = await startFakeProvider((request) =>
      says(Bun.sleep(MODEL_MS), `you said: ${asked(request)}`),
    );
    await using database = await createTestDatabase(STORE_TABLES);
    await using folder = await tempHome();
    await using sql = new Bun.SQL(database.url, { max: 1 });
    const config = { ...endpoint(provider), store: { url: database.url, secret: "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e" } };
    const build = makeNextVersion(folder.path);
    const applied = async () =>
      (await sql`select name from migrations where name like 'next-%' order by name`).map(
        ({ name }: { name: string }) => name,
      );

    await using all = new AsyncDisposableStack();
    const gateways = new Set<GatewayProcess>();
    const start = async (of: string | null): Promise<GatewayProcess> => {
      const started = all.use(await startGatewayProcess({ config, ...(of === null ? {} : { build: of }) }));
      gateways.add(started);
      return started;
    };
    const stop = async (gateway: GatewayProcess): Promise<void> => {
      gateways.delete(gateway);
      expect(await gateway.stop()).toBe(0);
    };
    const older = [await start(null), await start(null)] as const;
    const people = startPeople(gateways);
    const goesOn = async (what: string): Promise<void> => {
      const before = { ...people.answered };
      const more = () => SESSIONS.every((session) => (people.answered[session] ?? 0) >= (before[session] ?? 0) + 2);
      await eventually(`answers ${what}`, more, Boolean);
    };
    await goesOn("of the older ones");

    const newer = await start(build);
    expect(newer.stderr()).toContain("tables keep what an older gateway uses");
    expect(await applied()).toEqual([ADDS.name]);
    await goesOn("of older ones beside a newer one");
    await stop(older[0]);
    await start(null); // one that crashed, for example, may come back
    await goesOn("of one that started on tables that a newer one had added to");
    for (const gateway of [...gateways]) if (gateway !== newer) await stop(gateway);
    await goesOn("of the newer one alone");
    await start(build);
    expect(await applied()).toEqual([ADDS.name, TAKES.name]);
    await goesOn("of the newer ones");
    await people.stop();

    for (const session of SESSIONS) {
      const expected = Array.from({ length: people.answered[session] ?? 0 }, (_none, number) => [
        `${session}${number}`,
        `you said: ${session}${number}`,
      ]).flat();
      expect((await transcript(newer, session)).map(({ text }) => text)).toEqual(expected);
    }
    const refused = await startFails({ config });
    expect(sentenceOf(refused)).toContain(`(its migration next-takes works from version ${NEXT_VERSION} on)`);
  });
});
