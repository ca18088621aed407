/** Two whole gateways on one Postgres database: the second takes over when the first froze or died; the first, woken, finishes nothing. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { NodeList } from "../src/contracts/store/nodes.ts";
import { deferred } from "../src/kit/deferred.ts";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../src/testing/postgres/store-tables.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, eventually, post, sentenceOf, startFails, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** From the last renewal of a gateway that froze until another one has its work. */
const TAKEOVER_MS = 12_000;

describe.skipIf((await testPostgres()) === null)("two gateways on one Postgres database", () => {
  test("a gateway that froze in a turn is taken over from within 12 s, and answers nothing when it wakes", async () => {
    const late = deferred<void>();
    await using provider = await startFakeProvider((_request, index) =>
      index === 0 ? says("an answer", late.promise, " that comes too late") : says(`answer ${index}`),
    );
    await using database = await createTestDatabase(STORE_TABLES);
    await using sql = new Bun.SQL(database.url, { max: 1 });
    const config = { ...endpoint(provider), store: { url: database.url } };

    await using first = await startGatewayProcess({ config });
    const cut = post(first, { text: "one", session: "a" }).catch(() => null); // the gateway may end before it answers
    await provider.arrived(1);
    const refused = await startFails({ config });
    expect(sentenceOf(refused)).toMatch(/^Another gateway uses this database: \S+:\d+ \(version \S+\), since \S+Z\. /);
    expect(refused.exitCode).toBe(75);

    process.kill(first.pid, "SIGSTOP");
    await eventually(
      "the end of its time",
      async () =>
        (await sql`select expires_at <= extract(epoch from clock_timestamp()) * 1000 as over from nodes`)[0].over,
      Boolean,
    );
    await using second = await startGatewayProcess({ config });
    const answered = await eventually(
      "an answer of the second gateway",
      () => saidIn(second),
      ({ length }) => length === 1,
    );

    process.kill(first.pid, "SIGCONT");
    late.resolve();
    expect(await first.exited).toBe(75);
    await cut;
    expect(first.stderr()).toContain("another gateway has taken over");
    expect((await second.chat("two", { session: "a" })).body.content).toBe("answer 2");
    expect(await saidIn(second)).toEqual([...answered, "answer 2"]);
    const [former, current] =
      await sql`select state, taken_over_by, renewed_at, started_at from nodes order by started_at`;
    expect([former.state, current.state]).toEqual(["gone", "live"]);
    expect(Number(current.started_at) - Number(former.renewed_at)).toBeLessThan(TAKEOVER_MS);
    const { items, self } = (await (await second.fetch("/api/nodes")).json()) as NodeList;
    expect(items.map(({ id, state, takenOverBy }) => [id === self, state, takenOverBy])).toEqual([
      [true, "live", null],
      [false, "gone", self],
    ]);
    await second.stop();
    expect(await sql`select id from nodes where state <> ${"gone"}`).toHaveLength(0);
  });

  test("a gateway that drains leaves new sessions to the one beside it, which answers its turn within 12 s when it is killed", async () => {
    const never = deferred<void>();
    await using provider = await startFakeProvider((_request, index) =>
      index === 0 ? says("an answer", never.promise, " that never comes") : says(`answer ${index}`),
    );
    await using database = await createTestDatabase(STORE_TABLES);
    await using sql = new Bun.SQL(database.url, { max: 1 });
    const config = { ...endpoint(provider), store: { url: database.url, secret: "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e" } };
    await using first = await startGatewayProcess({ config });
    await using second = await startGatewayProcess({ config });
    const cut = post(first, { text: "one", session: "a" }).catch(() => null);
    await provider.arrived(1);
    expect((await first.fetch("/api/nodes/self/drain", { method: "POST" })).status).toBe(202);
    expect((await first.fetch("/ready")).status).toBe(503);
    expect((await first.chat("of a new session", { session: "b" })).body.content).toBe("answer 1");
    const { items: nodes, self: other } = (await (await second.fetch("/api/nodes")).json()) as NodeList;
    expect(nodes.map(({ id, state }) => [id === other, state]).toSorted()).toEqual([
      [false, "draining"],
      [true, "live"],
    ]);
    const homes = await sql`select owner = ${other} as there from node_leases where kind = ${"session"} order by key`;
    expect(homes.map(({ there }: { readonly there: boolean }) => there)).toEqual([false, true]);
    await first.kill();
    const killedAt = performance.now();
    await cut;

    const answered = await eventually(
      "an answer of the other gateway",
      () => saidIn(second),
      ({ length }) => length === 1,
    );
    expect(performance.now() - killedAt).toBeLessThan(TAKEOVER_MS);
    expect(answered).toEqual(["answer 2"]);
    expect((await second.chat("two", { session: "a" })).body.content).toBe("answer 3");
    expect(await saidIn(second)).toEqual(["answer 2", "answer 3"]);
    const { items, self } = (await (await second.fetch("/api/nodes")).json()) as NodeList;
    expect(items.map(({ id, state, takenOverBy }) => [id === self, state, takenOverBy])).toEqual([
      [true, "live", null],
      [false, "gone", self],
    ]);
    expect((await second.fetch("/api/nodes/self/drain", { method: "POST" })).status).toBe(409);
    expect(await sql`select id from turns where crashes > 0`).toHaveLength(1);
    expect(await sql`select id from outbox where ended_at is null`).toHaveLength(0);
    never.resolve();
  });
});

async function saidIn(gateway: GatewayProcess): Promise<readonly string[]> {
  return (await transcript(gateway, "a")).filter(({ role }) => role === "assistant").map(({ text }) => text);
}
