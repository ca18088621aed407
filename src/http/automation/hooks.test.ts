/** The port of hooks: their own token, guesses that lock, a flood that costs nothing, and what reaches the door behind it. */
import { describe, expect, test } from "bun:test";
import type { HookAnswer, HookRequest } from "../../contracts/automation/hook.ts";
import { secret } from "../../kit/secret.ts";
import { PASSWORD, startHttpWorld, TOKEN } from "../../testing/http/http-fixture.ts";
import { MAX_HOOK_BYTES } from "./hook-routes.ts";

const HOOKS = "the-token-of-hooks-9a8b7c6d5e";

function world(answer: (request: HookRequest) => HookAnswer = () => ({ kind: "stored", id: "hook_1" }), on = true) {
  const asked: HookRequest[] = [];
  const http = startHttpWorld(
    {
      auth: { token: secret(TOKEN), password: secret(PASSWORD), hookToken: on ? secret(HOOKS) : null },
    },
    {
      hookDoor: {
        async receive(request) {
          asked.push(request);
          return answer(request);
        },
      },
    },
  );
  const send = (token: string | null, body: string | Uint8Array<ArrayBuffer> = "{}", path = "/hooks/build") =>
    fetch(http.url(path), {
      method: "POST",
      body,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), "x-pi-timestamp": "1" },
    });
  const lines = (words: string) => http.log.lines.filter((line) => line.words === words).length;
  return { http, asked, send, lines, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() };
}

const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

test("the bytes of a request reach the door as they came, and 202 tells its id", async () => {
  await using w = world();
  const body = new Uint8Array([0x7b, 0xff, 0x00, 0x7d]);
  const response = await w.send(HOOKS, body);
  expect([response.status, await response.json()]).toEqual([202, { id: "hook_1" }]);
  expect(w.asked[0]).toMatchObject({ name: "build", client: "127.0.0.1" });
  expect([...(w.asked[0]?.body ?? [])]).toEqual([...body]);
  expect(w.asked[0]?.headers.get("x-pi-timestamp")).toBe("1");
});

describe("the token", () => {
  test("of hooks opens hooks and nothing else; the gateway's own does not open them", async () => {
    await using w = world();
    expect((await w.send(TOKEN)).status).toBe(401);
    expect((await w.send(null)).status).toBe(401);
    const status = await fetch(w.http.url("/api/status"), { headers: { authorization: `Bearer ${HOOKS}` } });
    expect(status.status).toBe(401);
    expect([w.asked.length, w.lines("hook refused")]).toEqual([0, 2]);
  });

  test("opens nothing while hooks are off, and a new one holds at once", async () => {
    await using w = world(undefined, false);
    expect((await w.send(HOOKS)).status).toBe(401);
    const settings = { allowedHosts: [], trustedProxies: [] };
    const auth = { token: secret(TOKEN), password: null, hookToken: secret(`${HOOKS}-new`) };
    w.http.http.update({ ...settings, auth });
    expect([(await w.send(HOOKS)).status, (await w.send(`${HOOKS}-new`)).status]).toEqual([401, 202]);
  });

  test("is not taken from the address", async () => {
    await using w = world();
    expect((await w.send(null, "{}", `/hooks/build?token=${HOOKS}`)).status).toBe(400);
  });
});

test("a body that is too large is refused before the door sees anything of it", async () => {
  await using w = world();
  const response = await w.send(HOOKS, "x".repeat(MAX_HOOK_BYTES + 1));
  expect([response.status, await codeOf(response), w.asked.length]).toEqual([413, "too_large", 0]);
  expect(w.lines("hook refused")).toBe(1);
  expect((await w.send(HOOKS, "x".repeat(MAX_HOOK_BYTES))).status).toBe(202);
});

test("a refusal has its status, its words and the time to wait", async () => {
  await using w = world(() => ({
    ...{ kind: "refused", code: "hook_limited", guess: false },
    retryAfterMs: 1_500,
  }));
  const response = await w.send(HOOKS);
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "2"]);
});

describe("a flood", () => {
  const forged = (): HookAnswer => ({ kind: "refused", code: "hook_signature", guess: true });

  test("of three thousand wrong signatures reaches the door ten times, and its bodies are not read after that", async () => {
    await using w = world(forged);
    const body = "x".repeat(64 * 1024);
    const statuses = new Map<number, number>();
    const sendMany = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        const response = await w.send(HOOKS, body);
        await response.body?.cancel();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    };
    await sendMany(10);
    await Promise.all(Array.from({ length: 10 }, () => sendMany(299)));
    expect(w.asked.length).toBe(10);
    expect([...statuses]).toEqual([
      [401, 10],
      [429, 2_990],
    ]);
    expect((await w.send(HOOKS)).headers.get("retry-after")).toBe("1");
  });

  test("of wrong tokens locks as well, together with guesses at every other secret", async () => {
    await using w = world();
    for (let n = 0; n < 5; n++) await w.send(`wrong-${n}`);
    for (let n = 0; n < 5; n++)
      await fetch(w.http.url("/api/status"), { headers: { authorization: `Bearer wrong-${n}` } });
    const locked = await w.send(HOOKS);
    expect([locked.status, await codeOf(locked), w.asked.length]).toEqual([429, "locked_out", 0]);
    await w.http.clock.advance(1_000);
    expect((await w.send(HOOKS)).status).toBe(202);
  });

  test("of requests that are only late locks nobody out", async () => {
    await using w = world(() => ({ kind: "refused", code: "hook_stale", guess: false }));
    for (let n = 0; n < 30; n++) expect((await w.send(HOOKS)).status).toBe(401);
  });
});
