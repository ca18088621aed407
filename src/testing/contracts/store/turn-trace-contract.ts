/** What every store promises to those who look at turns. Takes a way to open one and knows nothing else about it. */
import { describe, expect, test } from "bun:test";
import type { TurnId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import { end, intent, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

const SPANS = [
  { name: "queued", startMs: 0, ms: 12.5 },
  { name: "lease", startMs: 12.5, ms: 1 },
];

export function turnTraceContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(`${name}, looked at turn by turn`, () => {
    test("keeps the waterfall of a turn over a restart, and adds the delivery once every part is sent", async () => {
      await using world = await open();
      await begin(world.store, "t1", "a");
      await world.store.toolCalls.intend(intent("c1", "t1", true));
      await world.store.toolCalls.settle("c1", { status: "success", output: "said", ms: 4 });
      await world.store.turns.finish(end("t1", { spans: SPANS, reply: [part(0), part(1)] }));
      await world.store.outbox.markSent("t1:0", 3_050);
      expect(await world.store.turns.get("t1" as TurnId)).toMatchObject({ spans: SPANS, deliveredAt: null });

      await world.store.outbox.markSent("t1:1", 3_080);
      const store = await world.reopen();
      expect(await store.turns.get("t1" as TurnId)).toEqual({
        turn: {
          turnId: "t1" as TurnId,
          sessionKey: sessionKey("a"),
          agentId: "default" as never,
          outcome: "done",
          attempt: 1,
          model: "demo",
          errorCode: null,
          usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 },
          acceptedAt: 1_000,
          begunAt: 2_000,
          endedAt: 3_000,
        },
        spans: [...SPANS, { name: "delivery", startMs: 2_000, ms: 80 }],
        toolCalls: [{ tool: "echo", input: { text: "c1" }, status: "success", ms: 4 }],
        deliveredAt: 3_080,
      });
    });

    test("shows a turn that runs or ended without measurements as one without a waterfall", async () => {
      await using world = await open();
      await begin(world.store, "t1", "a");
      const seen = async () => world.store.turns.get("t1" as TurnId);
      expect(await seen()).toMatchObject({ turn: { outcome: null, endedAt: null, model: null }, spans: [] });
      await world.store.turns.finish(end("t1"));
      expect(await seen()).toMatchObject({ turn: { outcome: "done" }, spans: [], deliveredAt: null });
      expect(await world.store.turns.get("t2" as TurnId)).toBeNull();
    });

    test("tells what turns have cost that have ended, and nothing of others", async () => {
      await using world = await open();
      for (const id of ["t1", "t2"]) await begin(world.store, id, id);
      await world.store.turns.finish(end("t1"));
      expect(await world.store.turns.costsOf(["t1", "t2", "t3", "t1"] as TurnId[])).toEqual({
        t1: { ms: 1_000, usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 } },
      });
    });

    test("writes no waterfall for an attempt that is no longer current", async () => {
      await using world = await open();
      await begin(world.store, "t1", "a");
      expect(await world.store.turns.finish(end("t1", { attempt: 7, spans: SPANS }))).toBeNull();
      expect(await world.store.turns.get("t1" as TurnId)).toMatchObject({ spans: [] });
    });

    test("lists turns newest first, page after page, each once", async () => {
      await using world = await open();
      for (let n = 0; n < 7; n++) await begin(world.store, `t${n}`, `s${n}`);
      const pages: (readonly string[])[] = [];
      let cursor: string | undefined;
      do {
        const page = await world.store.turns.list({}, { limit: 3, ...(cursor === undefined ? {} : { cursor }) });
        pages.push(page.items.map((item) => item.turn.turnId));
        cursor = page.next;
      } while (cursor !== undefined);
      expect(pages).toEqual([["t6", "t5", "t4"], ["t3", "t2", "t1"], ["t0"]]);
      await expect(world.store.turns.list({}, { limit: 3, cursor: "x" })).rejects.toMatchObject({
        code: "bad_request",
      });
    });

    test("lists the turns of one session, or of one outcome, or both", async () => {
      await using world = await open();
      const { store } = world;
      for (const [id, session, outcome] of [
        ["t1", "a", "done"],
        ["t2", "b", "failed"],
        ["t3", "a", "failed"],
        ["t4", "a", "aborted"],
      ] as const) {
        await begin(store, id, session);
        await store.turns.finish(end(id, { outcome }));
      }
      await begin(store, "t5", "a");
      const found = async (filter: Parameters<Store["turns"]["list"]>[0]) =>
        (await store.turns.list(filter, { limit: 10 })).items.map(({ turn: { turnId } }) => String(turnId));
      expect(await found({})).toEqual(["t5", "t4", "t3", "t2", "t1"]);
      expect(await found({ sessionKey: sessionKey("a") })).toEqual(["t5", "t4", "t3", "t1"]);
      expect(await found({ outcome: "failed" })).toEqual(["t3", "t2"]);
      expect(await found({ outcome: "failed", sessionKey: sessionKey("b") })).toEqual(["t2"]);
      expect(await found({ outcome: "done", sessionKey: sessionKey("b") })).toEqual([]);
    });
  });
}

const part = (number: number) => ({ part: number, message: { text: `part ${number}`, kind: "reply" as const } });

async function begin(store: Store, turnId: string, session: string): Promise<void> {
  await store.inbox.accept(row(`in-${turnId}`, session));
  await store.turns.begin(turn(turnId, session, [`in-${turnId}`]));
}
