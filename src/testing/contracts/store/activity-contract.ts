/** What every store promises about the timeline of everything that happened. Takes a way to open one and knows nothing else about it. */
import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../../contracts/errors.ts";
import type { TurnId } from "../../../contracts/ids.ts";
import type { ActivityFilter } from "../../../contracts/store/activity.ts";
import type { Store } from "../../../contracts/store.ts";
import { job } from "../../automation/job-fixture.ts";
import { fire } from "../automation/job-contract.ts";
import { end, intent, type OpenStoreWorld, OPERATOR, row, turn } from "./store-world.ts";

const SPANS = [
  { name: "queued", startMs: 0, ms: 12 },
  { name: "model:demo/large", startMs: 600, ms: 90, note: "failed 500, 0 tokens in, 0 out" },
  { name: "model:demo/large", startMs: 800, ms: 120.5, note: "answered 200, 10 tokens in, 5 out" },
];

/** One turn with a tool call, two model calls and a reply, and a run of a job that came later. */
async function fill({ inbox, turns, toolCalls, outbox, jobs }: Store): Promise<void> {
  await inbox.accept(row("in1", "a", { text: "Water the <b>plants</b>\nplease" }));
  await turns.begin(turn("t1", "a", ["in1"]));
  await toolCalls.intend(intent("c1", "t1", true));
  await toolCalls.settle("c1", { status: "error", output: "no such plant\nat all", ms: 4 });
  await turns.finish(end("t1", { spans: SPANS }));
  await outbox.markSent("t1:0", 3_050);
  await jobs.add(job());
  await jobs.fire([fire(job())]);
}

const shown = async ({ activity }: Store, filter: ActivityFilter = {}): Promise<readonly string[]> =>
  (await activity.list(filter, { limit: 20 })).items.map(({ kind, id }) => `${kind} ${id}`);

export function activityContract(name: string, open: OpenStoreWorld): void {
  describe(name, () => {
    test("shows turns, tool calls, model calls, runs of jobs and deliveries in one list, newest first", async () => {
      await using world = await open();
      await fill(world.store);
      expect(await shown(world.store)).toEqual([
        "job run-water-600000",
        "delivery t1:0",
        "tool c1",
        "turn t1",
        "model t1#2",
        "model t1#1",
      ]);
      const { items } = await world.store.activity.list({}, { limit: 20 });
      const of = (id: string) => items.find((item) => item.id === id);
      const there = { sessionKey: "agent:default:webchat:dm:a", agentId: "default", channel: "webchat" };
      expect(of("t1")).toEqual({
        id: "t1",
        kind: "turn",
        at: 2_000,
        ms: 1_000,
        outcome: "ok",
        name: "Water the <b>plants</b>",
        note: "demo",
        turnId: "t1" as TurnId,
        ...there,
        person: OPERATOR,
        usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 },
      } as never);
      expect(of("t1#2")).toMatchObject({ at: 1_800, ms: 120.5, outcome: "ok", name: "demo/large", turnId: "t1" });
      expect(of("c1")).toMatchObject({ at: 2_500, ms: 4, outcome: "failed", name: "echo", note: "no such plant" });
      expect(of("t1:0")).toMatchObject({ at: 3_000, ms: 50, outcome: "ok", channel: "webchat", turnId: "t1" });
      expect(of("run-water-600000")).toMatchObject({ outcome: "running", name: "water", sessionKey: null });
    });

    test("says why a turn failed as a sentence, and not as a code", async () => {
      await using world = await open();
      const { inbox, turns, activity } = world.store;
      await inbox.accept(row("in1", "a"));
      await turns.begin(turn("t1", "a", ["in1"]));
      await turns.finish(
        end("t1", { outcome: "failed", error: { code: "agent_unsafe_retry", detail: "a tool had started" } }),
      );
      const { items } = await activity.list({ kind: "turn" }, { limit: 20 });
      expect(items.map(({ note }) => note)).toEqual([ERRORS.agent_unsafe_retry.say]);
    });

    test("finds by kind, agent, person, channel, outcome and text", async () => {
      await using world = await open();
      await fill(world.store);
      const cases: readonly (readonly [ActivityFilter, readonly string[]])[] = [
        [{ kind: "tool" }, ["tool c1"]],
        [{ kind: "model", outcome: "failed" }, ["model t1#1"]],
        [{ outcome: "failed" }, ["tool c1", "model t1#1"]],
        [{ outcome: "stopped" }, []],
        [{ agent: "other" }, []],
        [{ agent: "default", kind: "delivery" }, ["delivery t1:0"]],
        [{ person: OPERATOR, kind: "turn" }, ["turn t1"]],
        [{ person: "telegram:user:1" }, []],
        [{ channel: "webchat", kind: "tool" }, ["tool c1"]],
        [{ channel: "irc" }, []],
        [{ text: "PLANTS" }, ["turn t1"]],
        [{ text: "answer of t1" }, ["delivery t1:0"]],
        [{ text: "water", kind: "job" }, ["job run-water-600000"]],
        [{ text: "100%" }, []],
      ];
      for (const [filter, found] of cases) expect([filter, await shown(world.store, filter)]).toEqual([filter, found]);
    });

    test("goes on page after page, and shows each entry once", async () => {
      await using world = await open();
      await fill(world.store);
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await world.store.activity.list({}, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        pages.push(page.items.map(({ id }) => id));
        cursor = page.next;
      } while (cursor !== undefined);
      expect(pages).toEqual([["run-water-600000", "t1:0"], ["c1", "t1#2", "t1#1"], ["t1"]]);
      await expect(world.store.activity.list({}, { limit: 3, cursor: "x" })).rejects.toMatchObject({
        code: "bad_request",
      });
    });
  });
}
