/** Two whole gateways on one Postgres database, with real pi: a conversation has one home, and everybody is served by whichever gateway they reach. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ApiKey } from "../src/contracts/api-keys.ts";
import type { PendingApproval } from "../src/contracts/tools/approval.ts";
import { type Deferred, deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { createTestDatabase, testPostgres } from "../src/testing/postgres/database.ts";
import { STORE_TABLES } from "../src/testing/postgres/store-tables.ts";
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
});
