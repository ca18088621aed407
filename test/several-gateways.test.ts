/** Two whole gateways on one Postgres database, with real pi: a conversation has one home, and everybody is served by whichever gateway they reach. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ApiKey } from "../src/contracts/api-keys.ts";
import type { PendingApproval } from "../src/contracts/tools/approval.ts";
import { type Deferred, deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../src/testing/postgres/store-tables.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
  asked,
  endpoint,
  eventually,
  keyOf,
  openSocket,
  post,
  sentenceOf,
  startFails,
  streamed,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const SECRET = "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e";
const JSON_BODY = { "content-type": "application/json" };

describe.skipIf((await testPostgres()) === null)("several gateways on one Postgres database", () => {
  const all = new AsyncDisposableStack();
  const held = new Map<string, Deferred<void>>();
  let provider: FakeProvider;
  let url: string;
  let first: GatewayProcess;
  let second: GatewayProcess;
  const configOf = (secret: string) => ({
    ...endpoint(provider),
    store: { url, secret },
    tools: { approvals: { ask: ["save_note"] } },
  });

  beforeAll(async () => {
    provider = all.use(
      await startFakeProvider((request) => {
        const words = asked(request);
        if (words.startsWith("note") && request.messages.at(-1)?.role === "user")
          return { kind: "tools", calls: [{ name: "save_note", input: { title: words, content: words } }] };
        const [, name = ""] = /^wait (\w+)$/.exec(words) ?? [];
        const gate = held.get(name);
        return gate ? says("Well", gate.promise, ", here it is") : says(`you said: ${words}`);
      }),
    );
    url = all.use(await createTestDatabase(STORE_TABLES)).url;
    first = all.use(await startGatewayProcess({ config: configOf(SECRET) }));
    second = all.use(await startGatewayProcess({ config: configOf(SECRET) }));
  });
  afterAll(() => all.disposeAsync());

  /** The model says no more in this turn until the test lets it. */
  const holdUp = (name: string): Deferred<void> => {
    const gate = deferred<void>();
    held.set(name, gate);
    return gate;
  };

  test("a gateway with other keys is refused, and is told how both could run", async () => {
    const refused = await startFails({ config: configOf("another-secret-for-tests-7f3kQ9") });
    expect(sentenceOf(refused)).toMatch(
      /^Another gateway uses this database: .* give all gateways .* the same store\.secret/,
    );
    expect(refused.exitCode).toBe(75);
    expect(second.token).toBe(first.token);
  });

  test("a conversation goes on in order wherever its messages arrive", async () => {
    const replies: unknown[] = [];
    for (const [at, gateway] of [first, second, first, second, second].entries())
      replies.push((await gateway.chat(`message ${at}`, { session: "a" })).body.content);
    expect(replies).toEqual([0, 1, 2, 3, 4].map((at) => `you said: message ${at}`));
    for (const gateway of [first, second]) {
      const said = (await transcript(gateway, "a")).filter(({ role }) => role === "assistant");
      expect(said.map(({ text }) => text as unknown)).toEqual(replies);
    }
  });

  test("a turn is followed word by word at the gateway that does not run it, also by somebody who comes in the middle", async () => {
    await first.chat("make this its home", { session: "b" });
    const gate = holdUp("watched");
    const socket = await openSocket(second, null);
    await socket.request("subscribe", { events: ["turn.delta", "turn.ended"] });
    const answer = post(second, { text: "wait watched", session: "b", stream: true });
    const events: string[] = [];
    const reading = (async () => {
      for await (const { event, data } of streamed(await answer))
        events.push(event === "delta" ? String(data["text"]) : event);
    })();
    await eventually(
      "its first word",
      () => events,
      (seen) => seen.includes("Well"),
    );
    const key = encodeURIComponent(keyOf("b"));
    const view = (await (await second.fetch(`/api/sessions/${key}`)).json()) as { live: { text: string } | null };
    expect(view.live?.text).toBe("Well");
    gate.resolve();
    await reading;
    expect(events.filter((event) => !["accepted", "started"].includes(event))).toEqual([
      "Well",
      ", here it is",
      "done",
    ]);
    const seen = () => socket.events.map(({ event }) => event).slice(-3); // the end of the turn before may have come late
    const whole = ["turn.delta", "turn.delta", "turn.ended"];
    await eventually("all of it over the socket", seen, (last) => Bun.deepEquals(last, whole));
    socket.close();
  });

  test("a turn is stopped from the gateway that does not run it", async () => {
    await first.chat("make this its home", { session: "c" });
    holdUp("stopped");
    const answer = first.chat("wait stopped", { session: "c" });
    const key = encodeURIComponent(keyOf("c"));
    await eventually(
      "the turn to be seen at the other gateway",
      async () => (await (await second.fetch(`/api/sessions/${key}`)).json()) as { live: { text: string } | null },
      ({ live }) => live?.text === "Well",
    );
    const stopped = await second.fetch(`/api/sessions/${key}/abort`, {
      method: "POST",
      headers: JSON_BODY,
      body: "{}",
    });
    expect(await stopped.json()).toMatchObject({ aborted: true });
    expect((await answer).body.content).toContain("Well");
  });

  test("an approval that one gateway asks for is seen and given at the other, and the tool runs once", async () => {
    await first.chat("make this its home", { session: "d" });
    const answer = first.chat("note: milk", { session: "d" });
    const open = async () =>
      ((await (await second.fetch("/api/approvals")).json()) as { items: PendingApproval[] }).items;
    const [question] = await eventually("the question at the other gateway", open, ({ length }) => length > 0);
    const decide = (gateway: GatewayProcess) =>
      gateway.fetch(`/api/approvals/${question?.id}`, {
        method: "POST",
        headers: JSON_BODY,
        body: JSON.stringify({ decision: "once" }),
      });
    expect((await decide(second)).status).toBe(200);
    expect((await answer).body.tool_calls).toMatchObject([{ tool: "save_note", status: "success" }]);
    expect((await decide(first)).status).toBe(404);
    expect(await open()).toEqual([]);
  });

  test("a key that is revoked at one gateway is refused at every other one before that is acknowledged", async () => {
    const body = JSON.stringify({ name: "a program", scopes: ["read"] });
    const made = await first.fetch("/api/keys", { method: "POST", headers: JSON_BODY, body });
    const { key, secret } = (await made.json()) as { key: ApiKey; secret: string };
    const headers = { authorization: `Bearer ${secret}` };
    const asks = async () => (await fetch(`${second.url}/api/sessions`, { headers })).status;
    expect(await asks()).toBe(200);
    expect((await first.fetch(`/api/keys/${key.id}`, { method: "DELETE" })).status).toBe(200);
    expect(await asks()).toBe(401);
  });

  test.each([
    ["/api/chat", (text: string) => ({ text, session: "keyed" })],
    ["/v1/chat/completions", (text: string) => ({ model: "pi-gateway", messages: [{ role: "user", content: text }] })],
    ["/v1/responses", (text: string) => ({ model: "pi-gateway", input: text })],
  ])(
    "a request to %s with an Idempotency-Key is answered once, also when it comes again at the other gateway, during and after its turn",
    async (path, bodyOf) => {
      const name = path.replaceAll(/\W/g, "");
      const gate = holdUp(name);
      const headers = { ...JSON_BODY, "idempotency-key": name };
      const body = JSON.stringify(bodyOf(`wait ${name}`));
      const send = async (gateway: GatewayProcess, text = body) =>
        (await gateway.fetch(path, { method: "POST", headers, body: text })).text();
      const isAsked = () => provider.requests.filter((request) => asked(request) === `wait ${name}`).length;
      const answer = send(first);
      await eventually("the model to be asked", isAsked, (count) => count > 0);
      const during = [send(second), send(second)];
      gate.resolve();
      const told = await Promise.all([answer, ...during, send(second), send(first)]);
      expect(told[0]).toContain("Well, here it is");
      expect(new Set(told).size).toBe(1);
      expect(isAsked()).toBe(1);
      expect(await send(second, JSON.stringify(bodyOf("something else")))).toContain("key_reused");
    },
  );

  test("a tool call with an id that one gateway has run is not run by the other one, which tells its result", async () => {
    const call = async (gateway: GatewayProcess) => {
      const body = JSON.stringify({ tool: "add_task", params: { title: "once" }, callId: "same-call" });
      return (await gateway.fetch("/api/tools/call", { method: "POST", headers: JSON_BODY, body })).json();
    };
    const [here, there] = await Promise.all([call(first), call(second)]);
    expect(here).toMatchObject({ ok: true });
    expect([there, await call(second)]).toEqual([here, here]);
    const { items } = (await (await first.fetch("/api/tool-calls?tool=add_task")).json()) as { items: unknown[] };
    expect(items).toHaveLength(1);
  });

  test("a sign-in link of one gateway signs a browser in at the other one, once and for both, and signing it out closes its socket there", async () => {
    const { code } = (await (await first.fetch("/api/sign-in-links", { method: "POST" })).json()) as { code: string };
    const signIn = () =>
      fetch(`${second.url}/api/sign-in`, { method: "POST", headers: JSON_BODY, body: JSON.stringify({ code }) });
    const [signedIn, again] = [await signIn(), await signIn()];
    expect([signedIn.status, again.status]).toEqual([204, 401]);
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const looks = async ({ url: at }: GatewayProcess) =>
      (await fetch(`${at}/api/sign-ins`, { headers: { cookie, "sec-fetch-site": "same-origin" } })).status;
    expect([await looks(first), await looks(second)]).toEqual([200, 200]);
    const socket = await openSocket(second, null, { cookie, origin: second.url });
    const { items } = (await (await first.fetch("/api/sign-ins")).json()) as { items: readonly { id: string }[] };
    const ended = await first.fetch(`/api/sign-ins/${items[0]?.id}`, { method: "DELETE" });
    expect([ended.status, items.length]).toEqual([200, 1]);
    expect((await socket.closed).reason).toBe("Signed out.");
    expect([await looks(first), await looks(second)]).toEqual([401, 401]);
  });

  /** The last one: nobody has the old token from then on. */
  test("a token that is replaced at one gateway is refused at every other one before that is acknowledged, and by one that was away", async () => {
    await using home = await tempHome();
    const away = { home: home.path, config: configOf(SECRET) };
    await (await startGatewayProcess(away)).stop();
    const socket = await openSocket(second, null);
    const status = async ({ url: at }: GatewayProcess, token: string) =>
      (await fetch(`${at}/api/sign-ins`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect((await first.fetch("/api/token/rotate", { method: "POST" })).status).toBe(200);
    expect([await status(first, first.token), await status(second, second.token)]).toEqual([401, 401]);
    expect((await socket.closed).reason).toContain("Sign in again");
    await using back = await startGatewayProcess(away);
    for (const gateway of [first, second, back])
      expect([await status(gateway, back.token), await status(gateway, first.token)]).toEqual([200, 401]);
    await using sql = new Bun.SQL(url, { max: 1 });
    const rows = await sql`select value from channel_facts`;
    expect([rows.length, JSON.stringify(rows).includes(back.token)]).toEqual([1, false]);
  });
});
