/** Steering more into a running prompt, with real pi processes and a provider on loopback: what the model receives proves what was taken. */
import { afterAll, describe, expect, test } from "bun:test";
import type { AgentEvent } from "../contracts/agent.ts";
import { deferred } from "../kit/deferred.ts";
import { collect, okResult, replyOf, toolSpec } from "../testing/agent-fixture.ts";
import { createAgentStage } from "../testing/agent-stage.ts";
import { type ProviderRequest, says } from "../testing/fake-provider.ts";

const LIMIT_MS = 30_000;
const never = new AbortController().signal;

/** One process for all: every test has a session of its own. */
const agents = createAgentStage({ model: "fake/fake-1" });
afterAll(() => agents[Symbol.asyncDispose]());

const usersIn = ({ messages }: ProviderRequest): string[] =>
  messages
    .filter(({ role }) => role === "user")
    .map(({ content }) =>
      JSON.stringify(content)
        .replaceAll(/[^a-z ]/g, "")
        .replace("typetexttext", ""),
    );
const input = (text: string) => ({ text, images: [] });

describe("more steered into a running prompt", () => {
  test(
    "is heard by the model with its next call after the running tool, once, and the answer ends the same prompt",
    async () => {
      const called = deferred<void>();
      const goOn = deferred<void>();
      const { fx, requests } = await agents.scene((_request, index) =>
        index === 0 ? { kind: "tools", calls: [{ name: "look", input: {} }] } : says("answer"),
      );
      fx.gate.tools = [toolSpec("look")];
      fx.gate.answer = async () => {
        called.resolve();
        await goOn.promise;
        return okResult("looked");
      };
      await using lease = await fx.lease();
      const events = collect(lease, "first");
      await called.promise;
      const steered = lease.steer?.(input("second"), never);
      goOn.resolve();
      expect([await steered, replyOf(await events)]).toEqual(["taken", "answer"]);
      expect(requests.map(usersIn)).toEqual([["first"], ["first", "second"]]);
    },
    LIMIT_MS,
  );

  test(
    "while the model writes its answer gets an answer of its own, and both are what the prompt says",
    async () => {
      const goOn = deferred<void>();
      const { fx, requests, arrived } = await agents.scene((_request, index) =>
        index === 0 ? says("one", goOn.promise) : says("two"),
      );
      await using lease = await fx.lease();
      const events = collect(lease, "first");
      await arrived(1);
      const steered = lease.steer?.(input("/second"), never); // never a command of pi's
      await lease.stats?.(never); // pi has read what was sent before
      goOn.resolve();
      expect([await steered, replyOf(await events)]).toEqual(["taken", "one\n\ntwo"]);
      expect(requests.map(usersIn)).toEqual([["first"], ["first", " second"]]);
    },
    LIMIT_MS,
  );

  test(
    "after its end is too late, and the next prompt of the process does not hear it",
    async () => {
      const { fx, requests } = await agents.scene(() => says("answer"));
      const first = await fx.lease();
      const steered: (Promise<string> | undefined)[] = [];
      for await (const event of first.prompt(input("first"), never))
        if (event.type === "done") steered.push(first.steer?.(input("late"), never));
      steered.push(first.steer?.(input("later"), never));
      expect(await Promise.all(steered)).toEqual(["too_late", "too_late"]);
      await first[Symbol.asyncDispose]();
      await using second = await fx.lease();
      expect(second.pid).toBe(first.pid);
      await collect(second, "next");
      expect(requests.map(usersIn)).toEqual([["first"], ["first", "next"]]);
    },
    LIMIT_MS,
  );

  test(
    "is too late when the prompt is stopped before the model heard it, and nothing of it stays in the process",
    async () => {
      const { fx, requests, arrived } = await agents.scene((_request, index) =>
        index === 0 ? { kind: "hang" } : says("answer"),
      );
      const stop = new AbortController();
      const first = await fx.lease();
      const events = collect(first, "first", stop.signal);
      await arrived(1);
      const steered = first.steer?.(input("second"), never);
      await Promise.resolve();
      stop.abort(new Error("enough"));
      expect([await steered, (await events).at(-1)?.type]).toEqual(["too_late", "aborted"]);
      await first[Symbol.asyncDispose]();
      await using next = await fx.lease();
      expect(next.pid).toBe(first.pid);
      await collect(next, "third");
      expect(requests.at(-1) && usersIn(requests.at(-1) as ProviderRequest)).toEqual(["first", "third"]);
    },
    LIMIT_MS,
  );

  test(
    "is too late when the process dies",
    async () => {
      const { fx, arrived } = await agents.scene(() => ({ kind: "hang" }));
      await using lease = await fx.lease();
      const events: Promise<readonly AgentEvent[]> = collect(lease, "first");
      await arrived(1);
      const steered = lease.steer?.(input("second"), never);
      process.kill(lease.pid, "SIGKILL");
      expect([await steered, (await events).at(-1)]).toMatchObject(["too_late", { type: "failed", again: true }]);
    },
    LIMIT_MS,
  );
});
