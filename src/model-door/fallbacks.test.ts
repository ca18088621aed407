/** Models that fail before their first word, with real pi: the next one answers, nothing is done twice, and the person is told once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AgentEvent } from "../contracts/agent.ts";
import { systemClock } from "../kit/clock.ts";
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
const RETRY_AFTER_S = 50;

const HOUR_MS = 3_600_000;

type Fault = (count: number) => WireReply;

interface StageOptions {
  readonly apis: readonly [first: ModelApi, second: ModelApi];
  readonly fallbacks: string[];
  /** Of `second`. */
  readonly answers: boolean;
}

/** One pool, and so one process of pi, for several tests. `first` fails as a scene says, `second` and `third` answer. */
interface Stage extends AsyncDisposable {
  /** Cooldowns of the scene before it are over. */
  scene(fault: Fault): Scene;
}

interface Scene {
  readonly fx: AgentFixture;
  /** Of this scene. */
  requests(): WireProvider["requests"];
  asked(provider: string): number;
  /** For the model door alone. */
  pass(ms: number): void;
}

async function openStage({ apis, fallbacks, answers }: StageOptions): Promise<Stage> {
  let scenes = 0;
  let laterMs = 0;
  let begun = 0;
  let fault: Fault = () => ({ kind: "text", pieces: ["first answers"] });
  const requests = () => wires.requests.slice(begun);
  const asked = (provider: string): number => requests().filter((request) => request.provider === provider).length;
  // A request to use a tool is answered with a call of it.
  const wires: WireProvider = await startWireProvider(({ provider, body, hasToolResult }) => {
    const wantsTool = body.includes("use the tool") && !hasToolResult;
    if (provider === "first" && wantsTool) return { kind: "tool", name: "count_up", input: {} };
    if (provider === "first") return fault(asked("first"));
    if (provider === "second" && !answers) return { kind: "status", status: 500, message: "second is down" };
    return { kind: "text", pieces: [`${provider} `, "answers"] };
  });
  const models = modelsOn(wires, { first: apis[0], second: apis[1], third: "openai-responses" });
  const modelDoorClock = { ...systemClock, elapsed: () => systemClock.elapsed() + laterMs };
  const settings = { model: "first/m", fallbacks, fallbackAfterMs: SILENT_MS, pool: { max: 1 }, modelDoorClock };
  const fx = await agentFixture(settings, models);
  return {
    scene(wanted) {
      const sessionFile = `session-${++scenes}.jsonl`;
      fault = wanted;
      laterMs += HOUR_MS;
      begun = wires.requests.length;
      fx.gate.reset();
      fx.gate.offer([toolSpec("count_up")]);
      fx.gate.answer = async () => okResult("counted");
      const own: AgentFixture = {
        ...fx,
        lease: (request) => fx.lease({ sessionFile, ...request }),
        turn: (text, request) => fx.turn(text, { sessionFile, ...request }),
      };
      return { fx: own, requests, asked, pass: (ms) => void (laterMs += ms) };
    },
    async [Symbol.asyncDispose]() {
      await fx[Symbol.asyncDispose]();
      await wires[Symbol.asyncDispose]();
    },
  };
}

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    apis: ["openai-completions", "anthropic-messages"],
    fallbacks: ["second/m"],
    answers: true,
  });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

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
      const { fx, asked, requests } = stage.scene(() => fault);
      const events = await fx.turn("use the tool");
      expect(replyOf(events)).toBe("second answers");
      expect(events.at(-1)).toMatchObject({ model: "second/m" });
      expect(failedIn(events)).toEqual({ model: "first/m", because: expect.stringMatching(because) });
      expect(fx.gate.calls.length).toBe(1);
      expect([asked("first"), asked("second")]).toEqual([2, 1]);
      const [, failing, next] = requests();
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
    const headers = { "retry-after": String(RETRY_AFTER_S) };
    const limited: WireReply = { kind: "status", status: 429, message: "slow down", headers };
    const back: WireReply = { kind: "text", pieces: ["first is back"] };
    const { fx, pass } = stage.scene((count) => (count === 1 ? limited : back));
    expect(replyOf(await fx.turn("hello"))).toBe("second answers");
    expect(replyOf(await fx.turn("hello again"))).toBe("second answers");
    pass(RETRY_AFTER_S * 1_000); // the time that the provider has named
    expect(replyOf(await fx.turn("and once more"))).toBe("first is back");
  },
  LIMIT_MS,
);

test(
  "every model of the list is asked in its order, whatever APIs they speak",
  async () => {
    await using three = await openStage({
      apis: ["google-generative-ai", "openai-completions"],
      fallbacks: ["second/m", "third/m"],
      answers: false,
    });
    const { fx } = three.scene(() => ({ kind: "status", status: 503, message: "down" }));
    const events = await fx.turn("use the tool");
    expect(replyOf(events)).toBe("third answers");
    const calls = fx.happened.flatMap(({ event, data }) => (event === "model.call" ? [data as ModelCall] : []));
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
    const world = stage.scene(() => ({ kind: "status", status: 400, message: "maximum context length is 8192" }));
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
    const world = stage.scene(() => ({ kind: "cut", pieces: ["half a ", heard.promise] }));
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
    const world = stage.scene(() => ({ kind: "hang" }));
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
