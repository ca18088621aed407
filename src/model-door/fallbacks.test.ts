/** Models that fail before their first word, with real pi: the next one answers, nothing is done twice, and the person is told once. */
import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "../contracts/agent.ts";
import { deferred } from "../kit/deferred.ts";
import { waitFor } from "../testing/wait-for.ts";
import type { ModelCall } from "../contracts/model-door.ts";
import { type AgentFixture, agentFixture, okResult, replyOf, toolSpec } from "../testing/agent-fixture.ts";
import {
  modelsOn,
  type ModelApi,
  startWireProvider,
  type WireProvider,
  type WireReply,
} from "../testing/model-wires.ts";

const LIMIT_MS = 60_000;
/** A model that says nothing is given up after this. */
const SILENT_MS = 700;
const SWITCH_MS = 5_000;

interface Scene extends AsyncDisposable {
  readonly fx: AgentFixture;
  readonly wires: WireProvider;
  asked(provider: string): number;
}

/** `first` fails as told, `second` and `third` answer. A request to use a tool is answered with a call of it. */
async function scene(
  reply: (count: number) => WireReply,
  { apis = ["openai-completions", "anthropic-messages"] as readonly [ModelApi, ModelApi], third = false } = {},
): Promise<Scene> {
  const asked = (provider: string): number => wires.requests.filter((request) => request.provider === provider).length;
  const wires: WireProvider = await startWireProvider(({ provider, body, hasToolResult }) => {
    const wantsTool = body.includes("use the tool") && !hasToolResult;
    if (provider === "first" && wantsTool) return { kind: "tool", name: "count_up", input: {} };
    if (provider === "first") return reply(asked("first"));
    if (provider === "second" && third) return { kind: "status", status: 500, message: "second is down" };
    return { kind: "text", pieces: [`${provider} `, "answers"] };
  });
  const models = modelsOn(wires, { first: apis[0], second: apis[1], third: "openai-responses" });
  const fallbacks = third ? ["second/m", "third/m"] : ["second/m"];
  const settings = { model: "first/m", fallbacks, fallbackAfterMs: SILENT_MS, pool: { max: 1 } };
  const fx = await agentFixture(settings, models);
  fx.gate.offer([toolSpec("count_up")]);
  fx.gate.answer = async () => okResult("counted");
  return {
    fx,
    wires,
    asked,
    async [Symbol.asyncDispose]() {
      await fx[Symbol.asyncDispose]();
      await wires[Symbol.asyncDispose]();
    },
  };
}

const FAULTS: readonly (readonly [string, WireReply, RegExp])[] = [
  ["a refused key", { kind: "status", status: 401, message: "no such key" }, /^401 no such key/],
  [
    "a limit with a time to wait",
    { kind: "status", status: 429, message: "slow down", headers: { "retry-after": "30" } },
    /^429 slow down/,
  ],
  ["an error of the provider", { kind: "status", status: 500, message: "oh no" }, /^500 oh no/],
  ["silence", { kind: "hang" }, /^no word within 0.7 s/],
  [
    "an answer cut off before its first word",
    { kind: "cut", pieces: [] },
    /^connection lost, it broke off \(ECONNRESET\)$/,
  ],
  ["signs of life without a word", { kind: "trickle" }, /^no word within 0.7 s/],
  ["a page instead of an answer", { kind: "page" }, /text\/html instead of a model's answer/],
];

const failedIn = (events: readonly AgentEvent[]) => {
  const last = events.at(-1);
  return last?.type === "done" ? last.failed : undefined;
};

describe.each(FAULTS)("%s", (_name, fault, because) => {
  test(
    "makes the next model answer within five seconds, with the tools run once and the reason told once",
    async () => {
      await using world = await scene(() => fault);
      const { fx, asked, wires } = world;
      const events = await fx.turn("use the tool");
      expect(replyOf(events)).toBe("second answers");
      expect(events.at(-1)).toMatchObject({ model: "second/m" });
      expect(failedIn(events)).toEqual({ model: "first/m", because: expect.stringMatching(because) });
      expect(fx.gate.calls.length).toBe(1);
      expect([asked("first"), asked("second")]).toEqual([2, 1]);
      const [, failing, next] = wires.requests;
      expect((next?.at ?? Infinity) - (failing?.at ?? 0)).toBeLessThan(SILENT_MS + SWITCH_MS);
      expect(next?.body).toContain("counted"); // the second model knows what the tool said

      const later = await fx.turn("and now?");
      expect(replyOf(later)).toBe("second answers");
      expect([asked("first"), failedIn(later)]).toEqual([2, undefined]); // it is left alone for a while
    },
    LIMIT_MS,
  );
});

test(
  "a model that is asked again after its cooldown answers again",
  async () => {
    const limited: WireReply = { kind: "status", status: 429, message: "slow down", headers: { "retry-after": "1" } };
    await using world = await scene((count) => (count === 1 ? limited : { kind: "text", pieces: ["first is back"] }));
    expect(replyOf(await world.fx.turn("hello"))).toBe("second answers");
    const until = performance.now() + 1_100; // the time that the provider has named
    await waitFor("the cooldown to be over", () => performance.now() > until);
    expect(replyOf(await world.fx.turn("hello again"))).toBe("first is back");
  },
  LIMIT_MS,
);

test(
  "every model of the list is asked in its order, whatever APIs they speak",
  async () => {
    await using world = await scene(() => ({ kind: "status", status: 503, message: "down" }), {
      apis: ["google-generative-ai", "openai-completions"],
      third: true,
    });
    const events = await world.fx.turn("use the tool");
    expect(replyOf(events)).toBe("third answers");
    const calls = world.fx.happened.flatMap(({ event, data }) => (event === "model.call" ? [data as ModelCall] : []));
    expect(calls.map(({ model, outcome, status }) => [model, outcome, status])).toEqual([
      ["first/m", "answered", 200],
      ["first/m", "failed", 503],
      ["second/m", "failed", 500],
      ["third/m", "answered", 200],
    ]);
  },
  LIMIT_MS,
);

test(
  "a request that the provider does not accept is not tried with another model",
  async () => {
    await using world = await scene(() => ({ kind: "status", status: 400, message: "maximum context length is 8192" }));
    const events = await world.fx.turn("hello");
    expect(events.at(-1)).toMatchObject({ type: "failed", detail: expect.stringContaining("8192") });
    expect(world.asked("second")).toBe(0);
  },
  LIMIT_MS,
);

test(
  "an answer that breaks off after its first word is not continued by another model",
  async () => {
    let heard = deferred<void>();
    await using world = await scene(() => ({ kind: "cut", pieces: ["half a ", heard.promise] }));
    await using lease = await world.fx.lease();
    let last: AgentEvent | undefined;
    for await (const event of lease.prompt({ text: "hello", images: [] }, AbortSignal.timeout(LIMIT_MS))) {
      last = event;
      if (event.type !== "text") continue;
      const before = heard;
      heard = deferred<void>(); // for the next time: pi asks the same model again
      before.resolve();
    }
    expect(world.asked("second")).toBe(0);
    expect(last).toMatchObject({ type: "failed", code: "provider_cut" });
  },
  LIMIT_MS,
);

test(
  "a turn that is stopped while a model is silent asks no other",
  async () => {
    await using world = await scene(() => ({ kind: "hang" }));
    const stop = new AbortController();
    await using lease = await world.fx.lease();
    const turn = Array.fromAsync(lease.prompt({ text: "hello", images: [] }, stop.signal));
    await waitFor("the first model to be asked", () => world.asked("first") === 1);
    stop.abort(new Error("stopped"));
    expect((await turn).at(-1)).toMatchObject({ type: "aborted" });
    expect(world.asked("second")).toBe(0);
  },
  LIMIT_MS,
);
