/** A provider that fails in a whole gateway with real pi: who answers, what people and the owner are told, and what the waterfall shows. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { startWireProvider, type WireProvider } from "../src/testing/model-wires.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { statusOf, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const KEY = "canary-of-the-first-provider-5523";
let wires: WireProvider;
let gateway: GatewayProcess;

beforeAll(async () => {
  wires = await startWireProvider(({ provider }) =>
    provider === "second"
      ? { kind: "text", pieces: ["the second ", "answers"] }
      : { kind: "status", status: 429, message: `too many calls with ${KEY}`, headers: { "retry-after": "600" } },
  );
  const models = [{ id: "m" }];
  gateway = await startGatewayProcess({
    config: {
      agent: { model: "first/m", fallbacks: ["second/m"], pool: { min: 0, max: 1 } },
      models: {
        keys: { first: [{ command: ["printenv", "FIRST_KEY"] }] },
        providers: {
          first: { baseUrl: wires.baseUrl("first", "openai-responses"), api: "openai-responses", models },
          second: { baseUrl: wires.baseUrl("second", "anthropic-messages"), api: "anthropic-messages", models },
        },
      },
    },
    env: { FIRST_KEY: KEY },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await wires?.[Symbol.asyncDispose]();
});

const TOLD = "second/m answered, because first/m failed: 429 too many calls with [redacted]";

test("a limited provider is replaced by the next model, and everybody concerned learns of it", async () => {
  const session = "fallback";
  const { content, turnId } = (await gateway.chat("hello", { session })).body;
  expect(content).toBe(`the second answers\n\n${TOLD}`);
  expect((await gateway.chat("hello again", { session })).body.content).toBe("the second answers"); // told once
  expect(wires.requests.map(({ provider }) => provider)).toEqual(["first", "second", "second"]);
  expect(wires.requests[0]?.key).toBe(KEY);
  const notices = (await transcript(gateway, session)).filter(({ kind }) => kind === "notice").map(({ text }) => text);
  expect(notices).toEqual([TOLD]);

  const { notices: shown } = await statusOf(gateway);
  expect(shown.join()).toContain("first/m is not asked for another");
  expect(shown.join()).not.toContain(KEY);

  const { spans } = (await (await gateway.fetch(`/api/turns/${turnId}`)).json()) as Trace;
  const calls = spans.filter(({ name }) => name.startsWith("model:")).map(({ name, note }) => `${name} ${note}`);
  expect(calls).toEqual([
    "model:first/m failed 429, 0 tokens in, 0 out",
    "model:second/m answered 200, 10 tokens in, 5 out",
  ]);
});

interface Trace {
  readonly spans: readonly { readonly name: string; readonly note?: string }[];
}
