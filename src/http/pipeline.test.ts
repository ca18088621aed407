import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { type HttpWorld, startHttpWorld } from "../testing/http/http-fixture.ts";
import { rawExchange } from "../testing/http/raw-http.ts";
import { createAuth } from "./access/auth.ts";
import { createHosts } from "./access/hosts.ts";
import { createByteRoom } from "./byte-room.ts";
import { createMediaLinks } from "./access/media-links.ts";
import { secret } from "../kit/secret.ts";
import { createPipeline, MAX_CONNECTIONS } from "./pipeline.ts";
import { createMatcher } from "./route-match.ts";
import { json, NO_BODY } from "./route.ts";

/** A pipeline with one public route, for requests that no client could send. */
function oneClient(world: HttpWorld) {
  const { ids, log, store, people } = world.deps;
  const clock = createFakeClock();
  const key = new Uint8Array(32);
  const auth = createAuth(
    { clock, ids, log, signIns: store.signIns, keys: people.keys },
    { settings: { token: secret("t"), password: null }, bindingKey: key, cookieName: () => "c" },
  );
  const route = {
    method: "GET",
    path: "/health",
    auth: "public",
    scope: "open",
    body: NO_BODY,
    handle: () => json({ ok: true }),
  } as const;
  const pipeline = createPipeline({
    clock,
    ids,
    log,
    auth,
    agentTokens: { resolve: () => null, known: () => false },
    links: createMediaLinks(clock, key),
    match: createMatcher([route]),
    room: createByteRoom(),
    stopping: new AbortController().signal,
    access: () => ({ hosts: createHosts({ hostname: "127.0.0.1", port: 1 }, []), proxies: [] }),
  });
  const ask = (pendingWebSockets: number, url = "http://127.0.0.1:1/health") => {
    const server = { pendingWebSockets, pendingRequests: 1, requestIP: () => ({ address: "127.0.0.1" }) };
    return pipeline.answer(new Request(url, { headers: { host: "127.0.0.1:1" } }), server as never);
  };
  return { pipeline, ask };
}

test("sockets and requests together are limited, and who comes then is told to come back", async () => {
  await using world = startHttpWorld();
  const { pipeline, ask } = oneClient(world);
  expect((await ask(MAX_CONNECTIONS - 1))?.status).toBe(200);
  const refused = await ask(MAX_CONNECTIONS);
  expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(pipeline.inFlight()).toBe(0);
});

test.each([
  "http://evil.example/health",
  "https://evil.example/health",
  "http://127.0.0.1.nip.io:1/health",
  "http://127.0.0.1:2/health",
])("an absolute request target with a foreign host (%s) is refused, whatever the Host header says", async (url) => {
  await using world = startHttpWorld();
  expect((await oneClient(world).ask(0, url))?.status).toBe(421);
});

test("an absolute request target is judged by the Host header while Bun hides its own host", async () => {
  await using world = startHttpWorld();
  const ask = async (target: string, host: string) =>
    (await rawExchange(world.http.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))
      .statuses;
  const own = `127.0.0.1:${world.http.port}`;
  expect(await ask(`http://${own}/health`, own)).toEqual([200]);
  expect(await ask(`http://${own}/health`, "evil.example")).toEqual([421]);
  expect(await ask("http://evil.example/health", "evil.example")).toEqual([421]);
  // Bun 1.4 replaces the host of the target by the Host header before anything of ours runs (oven-sh/bun#33002). This becomes 421 with a
  // Bun that does not.
  expect(await ask("http://evil.example/health", own)).toEqual([200]);
});
