/** Lockouts: every credential × every kind of wrong attempt × the same and other addresses. A right strong secret is never refused. */
import { describe, expect, test } from "bun:test";
import type { HookAnswer } from "../../contracts/automation/webhook.ts";
import type { ToolContext } from "../../contracts/tools/tool.ts";
import { secret } from "../../kit/secret.ts";
import { type HttpWorld, PASSWORD, startHttpWorld } from "../../testing/http/http-fixture.ts";

const STRONG = "q7Vd0mZpXr3nT8sKc1Yw5LhGb2Fj6Ru9EiAo4NxPzMk";
const HOOK_TOKEN = "hB4n8Wq2Zt6Xc0Vm3Lk7Jp1Rs5Yd9Gf";
const AGENT_TOKEN = "an-agent-token-of-32-random-bytes";
const SAME = "203.0.113.7";
const WRONG_ATTEMPTS = 120;

interface World {
  readonly http: HttpWorld;
  readonly token: string;
  readonly cookie: string;
}

type Mode = "token" | "password";

type Attempt = (world: World, from: string) => Promise<number>;

const forwarded = (from: string) => ({ "x-forwarded-for": from });
const bearer =
  (path: string, tokenOf: (world: World) => string, init: RequestInit = {}): Attempt =>
  async (world, from) => {
    const headers = { authorization: `Bearer ${tokenOf(world)}`, ...forwarded(from), ...Object(init.headers) };
    return (await fetch(world.http.url(path), { ...init, headers })).status;
  };
const signIn =
  (bodyOf: (world: World) => object): Attempt =>
  async (world, from) => {
    const headers = { "content-type": "application/json", ...forwarded(from) };
    const init = { method: "POST", headers, body: JSON.stringify(bodyOf(world)) };
    return (await fetch(world.http.url("/api/sign-in"), init)).status;
  };
const hook = (token: string, signature: string): Attempt =>
  bearer("/hooks/build", () => token, { method: "POST", body: "{}", headers: { "x-pi-signature": signature } });

const chat = { method: "POST", headers: { "content-type": "application/json" }, body: "{" };

/** Strong secrets: every way to show each of them, and the answer that shows that it was accepted. */
const STRONG_WAYS: Record<
  string,
  { readonly attempt: Attempt; readonly accepted: number; readonly tokenModeOnly?: true }
> = {
  "token as bearer, any route": { attempt: bearer("/api/status", ({ token }) => token), accepted: 200 },
  "token as bearer, unknown path": { attempt: bearer("/nowhere", ({ token }) => token), accepted: 404 },
  "token as bearer, route with a body": { attempt: bearer("/api/chat", ({ token }) => token, chat), accepted: 400 },
  "token as bearer, event socket": { attempt: bearer("/ws", ({ token }) => token), accepted: 400 },
  "token in the sign-in form": {
    attempt: signIn(({ token }) => ({ secret: token })),
    accepted: 204,
    tokenModeOnly: true,
  },
  "token at sign-in": { attempt: signIn(({ token }) => ({ token })), accepted: 204, tokenModeOnly: true },
  "one-time code at sign-in": { attempt: signIn(({ http }) => ({ code: http.http.signInCode() })), accepted: 204 },
  cookie: {
    attempt: async ({ http, cookie }, from) =>
      (await fetch(http.url("/api/status"), { headers: { cookie, ...forwarded(from) } })).status,
    accepted: 200,
  },
  "webhook token and signature": { attempt: hook(HOOK_TOKEN, "right"), accepted: 202 },
  "agent token": { attempt: bearer("/api/tools", () => AGENT_TOKEN), accepted: 200 },
};

const PASSWORD_WAYS: Record<string, Attempt> = {
  "password at sign-in": signIn(() => ({ password: PASSWORD })),
  "password in the sign-in form": signIn(() => ({ secret: PASSWORD })),
};

/** Every way to be wrong. `locksPassword`: these are guesses at the password, so they may lock it for the client that made them. */
const WRONG_WAYS: Record<string, { readonly attempt: Attempt; readonly locksPassword: boolean }> = {
  "bearer token": { attempt: bearer("/api/status", () => "wrong"), locksPassword: false },
  "bearer token on the event socket": { attempt: bearer("/ws", () => "wrong"), locksPassword: false },
  "token at sign-in": { attempt: signIn(() => ({ token: "wrong" })), locksPassword: false },
  "one-time code": { attempt: signIn(() => ({ code: "wrong" })), locksPassword: false },
  "webhook token": { attempt: hook("wrong", "right"), locksPassword: false },
  "webhook signature": { attempt: hook(HOOK_TOKEN, "wrong"), locksPassword: false },
  password: { attempt: signIn(() => ({ password: "wrong" })), locksPassword: true },
  "sign-in form": { attempt: signIn(() => ({ secret: "wrong" })), locksPassword: true },
};

async function startWorld(mode: Mode, token = STRONG): Promise<World & AsyncDisposable> {
  const forged: HookAnswer = { kind: "refused", code: "hook_signature", guess: true };
  const http = startHttpWorld(
    {
      auth: {
        token: secret(token),
        password: mode === "password" ? secret(PASSWORD) : null,
        hookToken: secret(HOOK_TOKEN),
      },
      trustedProxies: ["127.0.0.1"],
    },
    {
      automation: {
        webhooks: {
          receive: async ({ headers }) =>
            headers.get("x-pi-signature") === "right" ? { kind: "stored", id: "hook_1" } : forged,
        },
      },
      tools: {
        agentTokens: {
          known: (value) => value === AGENT_TOKEN,
          resolve: () => ({ principal: "operator", scope: "dm" }) as unknown as ToolContext,
        },
      },
    },
  );
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: http.http.signInCode() }),
  };
  const response = await fetch(http.url("/api/sign-in"), init);
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { http, token, cookie, [Symbol.asyncDispose]: () => http[Symbol.asyncDispose]() };
}

const otherAddress = (at: number): string => `198.${18 + (at >> 8)}.${at & 255}.1`;

/** The ways that did not work, with what they were answered. */
async function refusals(world: World, mode: Mode, from: string): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [name, way] of Object.entries(STRONG_WAYS)) {
    if (mode === "password" && way.tokenModeOnly) continue;
    const status = await way.attempt(world, from);
    if (status !== way.accepted) failed.push(`${name}: ${status}`);
  }
  return failed;
}

const CASES = Object.keys(WRONG_WAYS).flatMap((name) => (["token", "password"] as const).map((mode) => [name, mode]));

describe("a right strong secret", () => {
  test.each(CASES as [string, Mode][])(
    "is accepted on every path after many wrong attempts (%s, %s mode) from the same address and from others",
    async (name, mode) => {
      const wrong = WRONG_WAYS[name];
      if (!wrong) throw new Error(name);
      await using world = await startWorld(mode);
      for (let at = 0; at < WRONG_ATTEMPTS; at++) expect(await wrong.attempt(world, SAME)).not.toBeLessThan(400);
      for (const from of [SAME, "192.0.2.1"]) expect(await refusals(world, mode, from)).toEqual([]);
      for (let at = 0; at < WRONG_ATTEMPTS; at++) await wrong.attempt(world, otherAddress(at));
      for (const from of [SAME, "192.0.2.2"]) expect(await refusals(world, mode, from)).toEqual([]);
    },
  );
});

describe("the right password", () => {
  test.each(Object.entries(WRONG_WAYS))(
    "after wrong attempts (%s) is locked only by guesses at the password, and only for the client that made them",
    async (_name, { attempt, locksPassword }) => {
      await using world = await startWorld("password");
      for (let at = 0; at < WRONG_ATTEMPTS; at++) await attempt(world, otherAddress(at));
      for (const way of Object.values(PASSWORD_WAYS)) expect(await way(world, "192.0.2.1")).toBe(204);
      for (let at = 0; at < 10; at++) await attempt(world, SAME);
      for (const way of Object.values(PASSWORD_WAYS)) {
        expect(await way(world, SAME)).toBe(locksPassword ? 429 : 204);
        expect(await way(world, "192.0.2.1")).toBe(204);
      }
    },
  );

  test("is locked for a whole network after a hundred guesses from its addresses", async () => {
    await using world = await startWorld("password");
    const guess = signIn(() => ({ password: "wrong" }));
    for (let at = 0; at < 100; at++) await guess(world, `2001:db8:1:${at.toString(16)}::1`);
    const right = signIn(() => ({ password: PASSWORD }));
    expect(await right(world, "2001:db8:1:ffff::1")).toBe(429);
    expect(await right(world, "2001:db8:2:1::1")).toBe(204);
  });
});

test.each(["abcdeabcdeabcdeabcdeabcde", "short-token-20-chars"])(
  "a weak operator token (%s) is treated like a password: guesses lock it for the client that made them",
  async (weak) => {
    await using world = await startWorld("token", weak);
    const right = bearer("/api/status", () => weak);
    const wrong = bearer("/api/status", () => "wrong");
    for (let at = 0; at < 10; at++) expect(await wrong(world, SAME)).toBe(401);
    expect(await right(world, SAME)).toBe(429);
    expect(await signIn(() => ({ token: weak }))(world, SAME)).toBe(429);
    expect(await right(world, "192.0.2.1")).toBe(200);
  },
);

test("wrong tokens are answered with 429 once there were ten in a minute, and leave ten lines in the log", async () => {
  await using world = await startWorld("token");
  const statuses: number[] = [];
  for (let at = 0; at < 30; at++) statuses.push(await bearer("/api/status", () => "wrong")(world, SAME));
  expect(statuses).toEqual([...Array<number>(10).fill(401), ...Array<number>(20).fill(429)]);
  expect(world.http.log.lines.filter(({ words }) => words === "credential refused")).toHaveLength(10);
});
