/** A whole gateway whose store is Postgres: a turn, kill -9 in the middle of another, and a server that goes away and comes back. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { startCuttingProxy } from "../src/testing/postgres/cutting-proxy.ts";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { waitForEnd } from "../src/testing/wait-for.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, eventually, post, sentenceOf, startFails, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

describe.skipIf((await testPostgres()) === null)("a gateway on Postgres", () => {
  test("answers, loses nothing by kill -9 in the middle of a turn, and waits for a server that was away", async () => {
    let hangs = false;
    await using provider = await startFakeProvider(() => (hangs ? { kind: "hang" } : says("here is the answer")));
    await using home = await tempHome();
    await using database = await createTestDatabase();
    using proxy = startCuttingProxy(database.url);
    const config = { ...endpoint(provider), store: { url: proxy.url } };

    await using first = await startGatewayProcess({ home: home.path, config });
    expect((await first.chat("one", { session: "a" })).body.content).toBe("here is the answer");
    expect(existsSync(join(home.path, "gateway.db"))).toBe(false);
    hangs = true;
    const cut = post(first, { text: "two", session: "a" }, { "idempotency-key": "cut" }).catch(() => null); // the connection dies with the gateway
    await provider.arrived(2);
    await first.kill();
    await cut;

    hangs = false;
    await using second = await startGatewayProcess({ home: home.path });
    const answer = await post(second, { text: "two", session: "a" }, { "idempotency-key": "cut" });
    expect(await answer.json()).toMatchObject({ content: "here is the answer" });
    expect((await transcript(second, "a")).map(({ role, text }) => `${role}: ${text}`)).toEqual([
      ...["user: one", "assistant: here is the answer"],
      ...["user: two", "assistant: here is the answer"],
    ]);

    proxy.cutAll();
    await eventually(
      "not ready",
      async () => (await second.fetch("/ready")).status,
      (status) => status === 503,
    );
    const during = second.chat("three", { session: "a" });
    proxy.mend();
    expect((await during).body.content).toBe("here is the answer");
    await eventually(
      "ready",
      async () => (await second.fetch("/ready")).status,
      (status) => status === 200,
    );
    expect(await transcript(second, "a")).toHaveLength(6);

    const { password } = new URL(proxy.url);
    const told = await Promise.all(
      ["/api/status", "/api/config"].map(async (path) => (await second.fetch(path)).text()),
    );
    await second.stop();
    const logs = readdirSync(join(home.path, "logs"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(logs.join("")).toContain("connected to Postgres again");
    expect([...told, ...logs, second.stderr(), second.stdout()].filter((text) => text.includes(password))).toEqual([]);
  });

  test("does not start without its database, says why without the password, and ends although something is left open", async () => {
    const password = "a-password-for-tests-9931";
    await using folder = await tempHome();
    const preload = join(folder.path, "left-open.ts"); // as a connection to a server is that is out of reach
    await Bun.write(preload, "setInterval(() => undefined, 60_000);");
    const config = { store: { url: `postgres://gateway:${password}@127.0.0.1:1/none` } };
    const failed = await waitForEnd("the gateway to end", startFails({ config, preload }));
    expect(failed.exitCode).toBe(74);
    expect(sentenceOf(failed)).toMatch(/^Postgres cannot be reached \(.*\)\. Check store\.url/);
    expect(failed.said).not.toContain(password);
  });
});
