/** Incoming webhooks at the port: their own token, guesses that lock, a flood that costs nothing, and what automation gets of it. */
import { describe, expect, test } from "bun:test";
import type { HookAnswer, WebhookCall } from "../../contracts/automation/webhook.ts";
import { secret } from "../../kit/secret.ts";
import { PASSWORD, startHttpWorld, TOKEN } from "../../testing/http/http-fixture.ts";
import { MAX_HOOK_BYTES } from "./incoming-webhooks.ts";

const HOOKS = "the-token-of-hooks-9a8b7c6d5e";

function world(answer: (request: WebhookCall) => HookAnswer = () => ({ kind: "stored", id: "hook_1" }), on = true) {
  const asked: WebhookCall[] = [];
  const http = startHttpWorld(
    {
      auth: { token: secret(TOKEN), password: secret(PASSWORD), hookToken: on ? secret(HOOKS) : null },
    },
    {
      automation: {
        webhooks: {
          async receive(request) {
            asked.push(request);
            return answer(request);
          },
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

test("the bytes of a webhook reach automation as they came, and 202 tells its id", async () => {
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

test("the body of a webhook that is too large is refused before automation sees anything of it", async () => {
  await using w = world();
  const response = await w.send(HOOKS, "x".repeat(MAX_HOOK_BYTES + 1));
  expect([response.status, await codeOf(response), w.asked.length]).toEqual([413, "too_large", 0]);
  expect(w.lines("hook refused")).toBe(1);
  expect((await w.send(HOOKS, "x".repeat(MAX_HOOK_BYTES))).status).toBe(202);
});

test("a refusal has its status, its words and the time to wait", async () => {
  await using w = world(() => ({
    kind: "refused",
    code: "hook_limited",
    guess: false,
    retryAfterMs: 1_500,
  }));
  const response = await w.send(HOOKS);
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "2"]);
});

describe("a flood", () => {
  const forged = (): HookAnswer => ({ kind: "refused", code: "hook_signature", guess: true });

  test("of wrong signatures is answered with 429 after ten, and the next right one is taken", async () => {
    await using w = world(({ body }) => (body.length > 2 ? forged() : { kind: "stored", id: "hook_1" }));
    const statuses: number[] = [];
    for (let n = 0; n < 30; n++) statuses.push((await w.send(HOOKS, "forged")).status);
    expect(statuses).toEqual([...Array<number>(10).fill(401), ...Array<number>(20).fill(429)]);
    expect((await w.send(HOOKS, "forged")).headers.get("retry-after")).toBe("1");
    expect([(await w.send("wrong")).status, (await w.send(HOOKS)).status]).toEqual([401, 202]);
  });

  test("of wrong tokens never reaches automation, is counted apart from guesses at other secrets, and locks nobody out", async () => {
    await using w = world();
    const status = (token: string) =>
      fetch(w.http.url("/api/status"), { headers: { authorization: `Bearer ${token}` } });
    for (let n = 0; n < 10; n++) expect((await w.send(`wrong-${n}`)).status).toBe(401);
    const limited = await w.send("wrong");
    expect([limited.status, await codeOf(limited), w.asked.length]).toEqual([429, "locked_out", 0]);
    expect((await status("wrong")).status).toBe(401);
    expect([(await status(TOKEN)).status, (await w.send(HOOKS)).status]).toEqual([200, 202]);
  });

  test("of requests that are only late locks nobody out", async () => {
    await using w = world(() => ({ kind: "refused", code: "hook_stale", guess: false }));
    for (let n = 0; n < 30; n++) expect((await w.send(HOOKS)).status).toBe(401);
  });
});

test("a webhook whose content type names another charset than UTF-8 is refused before anything is done", async () => {
  await using w = world();
  const headers = { authorization: `Bearer ${HOOKS}`, "content-type": "application/json; charset=utf-16" };
  const response = await fetch(w.http.url("/hooks/build"), { method: "POST", body: "{}", headers });
  expect([response.status, w.asked.length]).toEqual([415, 0]);
});
