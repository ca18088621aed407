import { describe, expect, test } from "bun:test";
import { secret } from "../../kit/secret.ts";
import { hexDigest } from "./digests.ts";
import { type HttpWorld, PASSWORD, startHttpWorld, TOKEN } from "../../testing/http/http-fixture.ts";

const signIn = (world: HttpWorld, body: unknown, headers: Record<string, string> = {}) =>
  fetch(world.url("/api/sign-in"), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const status = async (world: HttpWorld, headers: Record<string, string>) =>
  (await fetch(world.url("/api/status"), { headers })).status;
const withToken = (token: string) => ({ authorization: `Bearer ${token}` });
const PASSWORD_MODE = { auth: { token: secret(TOKEN), password: secret(PASSWORD) } };
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

describe("signing in", () => {
  test("gives a cookie that scripts cannot read and other sites do not send", async () => {
    await using world = startHttpWorld();
    const response = await signIn(world, { token: TOKEN });
    expect(response.status).toBe(204);
    expect(response.headers.get("set-cookie")).toMatch(
      new RegExp(`^pi_gateway_${world.http.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000$`),
    );
  });

  test("works with token, password and one-time code, and stores only digests", async () => {
    await using byToken = startHttpWorld();
    await using byPassword = startHttpWorld(PASSWORD_MODE);
    const ways = [
      [byToken, { token: TOKEN }],
      [byToken, { secret: TOKEN }],
      [byToken, { code: byToken.http.signInCode() }],
      [byPassword, { password: PASSWORD }],
      [byPassword, { secret: PASSWORD }],
      [byPassword, { code: byPassword.http.signInCode() }],
    ] as const;
    for (const [world, body] of ways) {
      const response = await signIn(world, body);
      const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
      expect(await status(world, { cookie })).toBe(200);
      const stored = JSON.stringify([...world.signIns]);
      for (const value of [cookie.split("=")[1] ?? "", TOKEN, PASSWORD]) expect(stored).not.toContain(value);
    }
  });

  test("takes the code of another gateway once, and asks nobody about what cannot be a code", async () => {
    const made = new Set([hexDigest("code-of-another-node-1")]);
    const asked: string[] = [];
    const useCode = async (digest: string) => {
      asked.push(digest);
      return made.delete(digest);
    };
    await using world = startHttpWorld({}, { people: { elsewhere: { useCode, signedOut: async () => undefined } } });
    const codes = ["code-of-another-node-1", "code-of-another-node-1", "short", "code of another node 1"];
    const answers = [];
    for (const code of codes) answers.push((await signIn(world, { code })).status);
    expect(answers).toEqual([204, 401, 401, 401]);
    expect(asked).toHaveLength(2);
  });

  test("asks other gateways about few codes at a time, and about none of a client that was wrong too often", async () => {
    let [asking, most, all] = [0, 0, 0];
    const useCode = async () => {
      all++;
      most = Math.max(most, ++asking);
      await new Promise((resolve) => setImmediate(resolve));
      asking--;
      return false;
    };
    await using world = startHttpWorld({}, { people: { elsewhere: { useCode, signedOut: async () => undefined } } });
    const guess = (number: number) => signIn(world, { code: `guess-number-${String(number).padStart(9, "0")}` });
    await Promise.all(Array.from({ length: 200 }, (_, at) => guess(at)));
    expect(most).toBeLessThanOrEqual(10);
    const before = all;
    expect((await guess(200)).status).toBe(429);
    expect(all).toBe(before);
  });

  test("refuses a body with no credential, with two, or with anything else", async () => {
    await using world = startHttpWorld();
    for (const body of [{}, { token: TOKEN, password: PASSWORD }, { user: "operator" }, { token: 7 }, [], null]) {
      expect((await signIn(world, body)).status).toBe(422);
    }
  });

  test("ends after thirty days", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    await world.clock.advance(30 * 24 * 3_600_000 - 1);
    expect(await status(world, { cookie })).toBe(200);
    await world.clock.advance(1);
    expect(await status(world, { cookie })).toBe(401);
  });

  test("out ends the cookie", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    const page = { cookie, origin: world.http.url, "x-pi-gateway": "1" };
    const response = await fetch(world.url("/api/sign-out"), { method: "POST", headers: page });
    expect([response.status, response.headers.get("set-cookie")?.includes("Max-Age=0")]).toEqual([204, true]);
    expect(await status(world, { cookie })).toBe(401);
    expect(world.signIns.size).toBe(0);
  });

  test("holds for whoever asks by its digest, until it is over, signed out or its token is another one", async () => {
    await using world = startHttpWorld();
    const digestOf = async () => (await world.cookie(), [...world.signIns.keys()].at(-1) ?? "");
    const [first, second] = [await digestOf(), await digestOf()];
    expect([await world.http.isSignedIn(first), await world.http.isSignedIn("nobody's")]).toEqual([true, false]);
    world.signIns.delete(first);
    expect([await world.http.isSignedIn(first), await world.http.isSignedIn(second)]).toEqual([false, true]);
    const auth = { token: secret("another-token-of-22-characters"), password: null };
    world.http.update({ auth, allowedHosts: [], trustedProxies: [] });
    expect(await world.http.isSignedIn(second)).toBe(false);
    world.http.update({ auth: { token: secret(TOKEN), password: null }, allowedHosts: [], trustedProxies: [] });
    expect(await world.http.isSignedIn(second)).toBe(true);
    await world.clock.advance(30 * 24 * 3_600_000);
    expect(await world.http.isSignedIn(second)).toBe(false);
  });

  test("with a code works once", async () => {
    await using world = startHttpWorld();
    const code = world.http.signInCode();
    expect((await signIn(world, { code })).status).toBe(204);
    expect((await signIn(world, { code })).status).toBe(401);
  });

  test("with a code works for ten minutes", async () => {
    await using world = startHttpWorld();
    const [early, late] = [world.http.signInCode(), world.http.signInCode()];
    await world.clock.advance(10 * 60_000 - 1);
    expect((await signIn(world, { code: early })).status).toBe(204);
    await world.clock.advance(1);
    expect((await signIn(world, { code: late })).status).toBe(401);
  });

  test("with the empty or a missing password is not possible when no password is set", async () => {
    await using world = startHttpWorld({ auth: { token: secret(TOKEN), password: null } });
    expect((await signIn(world, { password: "" })).status).toBe(422);
    expect((await signIn(world, { password: "\0".repeat(32) })).status).toBe(401);
  });
});

describe("rotating the token", () => {
  test("ends the old token, cookies made with it and open sockets at once", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    const socket = new WebSocket(world.url("/ws").replace("http", "ws"), { headers: withToken(TOKEN) });
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", (event) => resolve(event.code)));
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const fresh = "another-token-of-22-characters";
    world.http.update({ auth: { token: secret(fresh), password: null }, allowedHosts: [], trustedProxies: [] });
    expect(await closed).toBe(4001);
    expect(await status(world, withToken(TOKEN))).toBe(401);
    expect(await status(world, { cookie })).toBe(401);
    expect(await status(world, withToken(fresh))).toBe(200);
  });

  test("ends an answer that is being streamed in its name", async () => {
    await using world = startHttpWorld();
    const response = await world.postJson("/api/chat", { text: "hi", stream: true });
    world.http.update({
      auth: { token: secret("x".repeat(22)), password: null },
      allowedHosts: [],
      trustedProxies: [],
    });
    expect(await response.text()).toContain('event: error\ndata: {"code":"unauthorized"');
  });

  test("leaves sign-ins alone when only host names change", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    const auth = { token: secret(TOKEN), password: null };
    world.http.update({ auth, allowedHosts: ["chat.example.com"], trustedProxies: [] });
    expect(await status(world, { cookie })).toBe(200);
    expect(await status(world, { cookie, host: "chat.example.com" })).toBe(200);
  });
});

describe("password mode", () => {
  test("signs a browser in with the password and not with the token, which still works for programs", async () => {
    await using world = startHttpWorld(PASSWORD_MODE);
    for (const body of [{ token: TOKEN }, { secret: TOKEN }, { password: TOKEN }]) {
      const response = await signIn(world, body);
      expect([response.status, response.headers.get("set-cookie")]).toEqual([401, null]);
    }
    expect((await signIn(world, { secret: PASSWORD })).status).toBe(204);
    expect(await status(world, withToken(TOKEN))).toBe(200);
    expect(await status(world, withToken(PASSWORD))).toBe(401);
  });

  test("taken over while the gateway runs ends browsers that signed in with the token; programs go on", async () => {
    await using world = startHttpWorld();
    const byToken = await world.cookie();
    const code = world.http.signInCode();
    const program = new WebSocket(world.url("/ws").replace("http", "ws"), { headers: withToken(TOKEN) });
    const page = { cookie: byToken, origin: world.http.url };
    const browser = new WebSocket(world.url("/ws").replace("http", "ws"), { headers: page });
    const closed = new Promise<number>((resolve) => browser.addEventListener("close", (event) => resolve(event.code)));
    for (const socket of [program, browser]) await new Promise((resolve) => socket.addEventListener("open", resolve));
    world.http.update({ ...PASSWORD_MODE, allowedHosts: [], trustedProxies: [] });
    expect(await closed).toBe(4001);
    expect(program.readyState).toBe(WebSocket.OPEN);
    expect(await status(world, { cookie: byToken })).toBe(401);
    const byCode = (await signIn(world, { code })).headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(await status(world, { cookie: byCode })).toBe(200);
    world.http.update({
      auth: { token: secret(TOKEN), password: secret("another password") },
      allowedHosts: [],
      trustedProxies: [],
    });
    expect(await status(world, { cookie: byCode })).toBe(401);
    program.close();
  });
});

describe("wrong credentials", () => {
  const wrong = withToken("wrong");

  test("lock the password for their client after ten, the right one included, and say for how long", async () => {
    await using world = startHttpWorld(PASSWORD_MODE);
    for (let at = 0; at < 10; at++) expect((await signIn(world, { password: "wrong" })).status).toBe(401);
    const locked = await signIn(world, { password: PASSWORD });
    expect([locked.status, locked.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await locked.json()).toMatchObject({ error: { code: "locked_out", retryAfterMs: 1_000 } });
    await world.clock.advance(1_000);
    expect((await signIn(world, { password: PASSWORD })).status).toBe(204);
  });

  test("count on every path together: any route, the socket, sign-in", async () => {
    await using world = startHttpWorld();
    const attempts = [
      () => status(world, wrong),
      async () => (await fetch(world.url("/nowhere"), { headers: wrong })).status,
      async () => (await fetch(world.url("/api/chat"), { method: "POST", headers: wrong })).status,
      async () => (await fetch(world.url("/ws"), { headers: wrong })).status,
      async () => (await signIn(world, { token: "wrong" })).status,
      async () => (await signIn(world, { secret: "wrong" })).status,
      () => status(world, { ...wrong, "x-forwarded-for": "8.8.8.8", "x-device-token": "anything" }),
      () => status(world, { authorization: "bearer WRONG" }),
      () => status(world, { ...wrong, cookie: `pi_gateway_${world.http.port}=made-up` }),
      () => status(world, wrong),
    ];
    for (const attempt of attempts) expect(await attempt()).toBe(401);
    for (const attempt of attempts) expect(await attempt()).toBe(429);
  });

  test("of a thousand guesses evaluate fewer than twenty", async () => {
    await using world = startHttpWorld();
    let evaluated = 0;
    for (let at = 0; at < 1_000; at++) {
      if ((await status(world, withToken(`guess-${at}`))) === 401) evaluated++;
      await world.clock.advance(10);
    }
    expect(evaluated).toBeLessThan(20);
  });

  test("never lock out a valid cookie, because another program on the same machine could cause that", async () => {
    await using world = startHttpWorld();
    const cookie = await world.cookie();
    for (let at = 0; at < 12; at++) await status(world, wrong);
    expect(await status(world, wrong)).toBe(429);
    expect(await status(world, { cookie })).toBe(200);
  });

  test("of a page of another site are not even looked at", async () => {
    await using world = startHttpWorld(PASSWORD_MODE);
    for (let at = 0; at < 30; at++) {
      expect((await signIn(world, { password: "guess" }, { origin: "http://evil.example" })).status).toBe(403);
    }
    expect((await signIn(world, { password: PASSWORD })).status).toBe(204);
  });

  test("are not: missing ones, and cookies that have ended", async () => {
    await using world = startHttpWorld();
    for (let at = 0; at < 30; at++) {
      expect(await status(world, {})).toBe(401);
      expect(await status(world, { cookie: `pi_gateway_${world.http.port}=${"x".repeat(43)}` })).toBe(401);
    }
    expect(await status(world, withToken(TOKEN))).toBe(200);
  });

  test("answer alike whatever is wrong about them", async () => {
    await using world = startHttpWorld();
    const odd = ["' OR 1=1 --", TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), "x".repeat(5_000)];
    const bodies = new Set<string>();
    for (const token of odd)
      bodies.add(await codeOf(await fetch(world.url("/api/status"), { headers: withToken(token) })));
    expect([...bodies]).toEqual(["unauthorized"]);
  });
});

test("a wrong text in the sign-in form is one failure, and says nothing about the token in password mode", async () => {
  await using world = startHttpWorld(PASSWORD_MODE);
  const attempt = (typed: string) => signIn(world, { secret: typed });
  const said = [];
  for (const typed of ["not it", TOKEN]) {
    const { error } = (await (await attempt(typed)).json()) as { error: { message: string } };
    said.push(error.message);
  }
  expect(new Set(said).size).toBe(1);
  const answers = [];
  for (let n = 0; n < 9; n++) answers.push((await attempt("not it")).status);
  expect(answers).toEqual([...Array(8).fill(401), 429]);
});

describe("signed-in browsers", () => {
  type Listed = {
    readonly items: readonly { readonly id: string; readonly browser: string | null; readonly current: boolean }[];
  };
  const listed = async (world: HttpWorld, cookie: string) =>
    (await (await fetch(world.url("/api/sign-ins"), { headers: { cookie } })).json()) as Listed;

  test("are listed without what their cookies are, and one of them is signed out by another", async () => {
    await using world = startHttpWorld();
    const own = await world.cookie();
    const other = await world.cookie();
    const { items } = await listed(world, own);
    expect(items.map(({ current }) => current).toSorted()).toEqual([false, true]);
    const text = JSON.stringify(items);
    for (const cookie of [own, other]) expect(text).not.toContain(cookie.split("=")[1] ?? "");
    const id = items.find(({ current }) => !current)?.id ?? "";
    const end = () =>
      fetch(world.url(`/api/sign-ins/${id}`), {
        method: "DELETE",
        headers: { cookie: own, "x-pi-gateway": "1", origin: world.url("") },
      });
    expect((await end()).status).toBe(200);
    expect([await status(world, { cookie: own }), await status(world, { cookie: other })]).toEqual([200, 401]);
    expect((await end()).status).toBe(404);
  });

  test("are listed by the names they gave when they signed in", async () => {
    await using world = startHttpWorld();
    for (const browser of ["Firefox on Windows", undefined])
      expect((await signIn(world, { token: TOKEN, browser })).status).toBe(204);
    expect((await signIn(world, { token: TOKEN, browser: "x".repeat(81) })).status).toBe(422);
    expect((await signIn(world, { browser: "Firefox on Windows" })).status).toBe(422);
    const { items } = await listed(world, await world.cookie());
    const others = items.filter(({ current }) => !current);
    expect(new Set(others.map(({ browser }) => browser))).toEqual(new Set(["Firefox on Windows", null]));
  });

  test("whose credential was replaced are not listed", async () => {
    await using world = startHttpWorld();
    await world.cookie();
    world.http.update({
      auth: { token: secret("b-token-of-at-least-22-characters"), password: null },
      allowedHosts: [],
      trustedProxies: [],
    });
    const headers = withToken("b-token-of-at-least-22-characters");
    expect(await (await fetch(world.url("/api/sign-ins"), { headers })).json()).toEqual({ items: [] });
  });
});
