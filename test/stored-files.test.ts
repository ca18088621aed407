/** Whole gateways whose session files and media are in Postgres: one that lost its state directory goes on with the conversation. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../src/testing/postgres/store-tables.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

describe.skipIf((await testPostgres()) === null)("a gateway whose files are in Postgres", () => {
  test("goes on with a conversation in a fresh state directory, and its agent remembers what was said", async () => {
    await using provider = await startFakeProvider((_request, index) => says(`answer ${index}`));
    await using database = await createTestDatabase(STORE_TABLES);
    await using lost = await tempHome();
    await using fresh = await tempHome();
    const config = { ...endpoint(provider), store: { url: database.url } };
    {
      await using first = await startGatewayProcess({ home: lost.path, config });
      await first.chat("my bicycle is green", { session: "a" });
      await first.chat("and my boat is red", { session: "a" });
      await first.stop();
    }
    await rm(lost.path, { recursive: true });

    await using second = await startGatewayProcess({ home: fresh.path, config });
    expect((await second.chat("what is green?", { session: "a" })).body.content).toBe("answer 2");
    const asked = JSON.stringify(provider.requests.at(-1)?.body);
    for (const said of ["my bicycle is green", "answer 0", "and my boat is red", "answer 1"])
      expect(asked).toContain(said);
    await using sql = new Bun.SQL(database.url, { max: 1 });
    const [sizes] =
      await sql`select settled_bytes, bytes, (select sum(bytes) from file_chunks) as chunks from sessions join files on name = file`;
    expect([sizes.bytes, sizes.chunks]).toEqual([sizes.settled_bytes, sizes.settled_bytes]);
    expect(readdirSync(join(fresh.path, "sessions")).filter((name) => !name.endsWith(".jsonl"))).toEqual([]);
    expect(existsSync(lost.path)).toBe(false);
  });
});
