import { expect, test } from "bun:test";
import { createFakeClock } from "../testing/fake-clock.ts";
import { startHttpWorld } from "../testing/http/http-fixture.ts";
import { createAuth } from "./access/auth.ts";
import { createHosts } from "./access/hosts.ts";
import { createByteRoom } from "./byte-room.ts";
import { createMediaLinks } from "./access/media-links.ts";
import { secret } from "../kit/secret.ts";
import { createPipeline, MAX_CONNECTIONS } from "./pipeline.ts";
import { createMatcher } from "./route-match.ts";
import { json, NO_BODY } from "./route.ts";

test("sockets and requests together are limited, and who comes then is told to come back", async () => {
  await using world = startHttpWorld();
  const { ids, log, store } = world.deps;
  const clock = createFakeClock();
  const key = new Uint8Array(32);
  const auth = createAuth(
    { clock, ids, log, signIns: store.signIns },
    { settings: { token: secret("t"), password: null }, bindingKey: key, cookieName: () => "c" },
  );
  const route = {
    method: "GET",
    path: "/health",
    auth: "public",
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
  const ask = (pendingWebSockets: number) => {
    const server = { pendingWebSockets, pendingRequests: 1, requestIP: () => ({ address: "127.0.0.1" }) };
    const request = new Request("http://127.0.0.1:1/health", { headers: { host: "127.0.0.1:1" } });
    return pipeline.answer(request, server as never);
  };
  expect((await ask(MAX_CONNECTIONS - 1))?.status).toBe(200);
  const refused = await ask(MAX_CONNECTIONS);
  expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(pipeline.inFlight()).toBe(0);
});
