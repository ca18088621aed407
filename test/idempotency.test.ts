/** The Idempotency-Key over real processes: one key is one message, before and after a crash. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type ChatBody, type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, post, problemOf, streamed, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const CUT = "are you there";

let provider: FakeProvider;
let home: TempHome;
let gateway: GatewayProcess;

/** Says what it is asked to; what is cut off by the kill, at the second time only. */
beforeAll(async () => {
  let cuts = 0;
  provider = await startFakeProvider((request) => {
    const words = asked(request);
    if (words !== CUT) return says(...words.replace("echo: ", "").split(/(?= )/));
    return ++cuts === 1 ? { kind: "hang" } : says("at last");
  });
  home = await tempHome();
  gateway = await startGatewayProcess({ home: home.path, config: endpoint(provider) });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

async function keyed(where: GatewayProcess, key: string, body: unknown): Promise<ChatBody> {
  const response = await post(where, body, { "idempotency-key": key });
  expect(response.status).toBe(200);
  return (await response.json()) as ChatBody;
}

describe("an Idempotency-Key", () => {
  test("sent twice is one message and one turn, with the same answer", async () => {
    const first = await keyed(gateway, "twice", { text: "echo: once", session: "twice" });
    const second = await keyed(gateway, "twice", { text: "echo: once", session: "twice" });
    expect(second).toEqual(first);
    expect((await transcript(gateway, "twice")).map(({ text }) => text)).toEqual(["echo: once", "once"]);
  });

  test("sent by twenty at the same time is one turn, and all twenty get its answer", async () => {
    const body = { text: "echo: together", session: "together" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => keyed(gateway, "together", body)));
    expect(new Set(answers.map(({ turnId }) => turnId)).size).toBe(1);
    expect(new Set(answers.map(({ content }) => content))).toEqual(new Set(["together"]));
    expect(await transcript(gateway, "together")).toHaveLength(2);
  });

  test("with other content is refused, and nothing is stored", async () => {
    await keyed(gateway, "reused", { text: "echo: this", session: "reused" });
    for (const body of [
      { text: "echo: that", session: "reused" },
      { text: "echo: this", session: "reused-elsewhere" },
    ]) {
      const refused = await post(gateway, body, { "idempotency-key": "reused" });
      expect(await problemOf(refused)).toEqual({
        status: 422,
        code: "key_reused",
        message: "This Idempotency-Key was used before for a different request.",
      });
    }
    expect(await transcript(gateway, "reused")).toHaveLength(2);
    expect(await transcript(gateway, "reused-elsewhere")).toEqual([]);
  });

  test("of a stream that broke off gives the whole answer to a second request", async () => {
    const body = { text: "echo: a few words to stream", session: "again", stream: true };
    const leaving = new AbortController();
    const first = await gateway.fetch("/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "again" },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    expect((await streamed(first).next()).value?.event).toBe("accepted");
    leaving.abort();
    const events = await Array.fromAsync(streamed(await post(gateway, body, { "idempotency-key": "again" })));
    expect(events.at(-1)).toMatchObject({ event: "done", data: { content: "a few words to stream" } });
    expect(await transcript(gateway, "again")).toHaveLength(2);
  });

  test("that is not printable is refused in a sentence", async () => {
    const refused = await post(gateway, { text: "echo: x" }, { "idempotency-key": "two words" });
    expect(await problemOf(refused)).toMatchObject({ status: 422, message: expect.stringContaining("printable") });
  });
});

describe("after a kill -9 of the gateway, the same key", () => {
  const kept = { text: "echo: remembered", session: "kept" };
  const cut = { text: CUT, session: "cut" };
  let before: ChatBody;

  beforeAll(async () => {
    before = await keyed(gateway, "kept", kept);
    const already = provider.requests.length;
    const lost = post(gateway, cut, { "idempotency-key": "cut" }).catch(() => null); // the connection dies with the gateway
    await provider.arrived(already + 1);
    await gateway.kill();
    await lost;
    gateway = await startGatewayProcess({ home: home.path });
  });

  test("gives the answer that was given before, and still refuses other content", async () => {
    expect(await keyed(gateway, "kept", kept)).toEqual(before);
    const other = await post(gateway, { ...kept, text: "echo: other" }, { "idempotency-key": "kept" });
    expect(other.status).toBe(422);
    expect(await transcript(gateway, "kept")).toHaveLength(2);
  });

  test("waits for the turn that was interrupted, which is answered once", async () => {
    expect((await keyed(gateway, "cut", cut)).content).toBe("at last");
    expect((await transcript(gateway, "cut")).map(({ text }) => text)).toEqual([CUT, "at last"]);
    expect(provider.requests.filter((request) => asked(request) === CUT)).toHaveLength(2);
  });
});
