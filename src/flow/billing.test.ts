/** What a turn costs and when it may begin, with agents that follow a script: every kind of end counts once, in books and memory alike. */
import { describe, expect, test } from "bun:test";
import { openBudget } from "../budget/index.ts";
import type { AgentEvent, AgentLease } from "../contracts/agent.ts";
import type { Budget } from "../contracts/budget.ts";
import type { InboundMessage } from "../contracts/chat.ts";
import type { AgentId, InboxId, SessionKey } from "../contracts/ids.ts";
import { dies, type FakeAgent, waits } from "../testing/fake-pool.ts";
import { entry, inbound } from "../testing/messages.ts";
import { flow, type FlowOptions, SESSION } from "../testing/worlds/flow-world.ts";
import { originOf } from "./billing.ts";

const COST = { inputTokens: 100, cachedTokens: 30, outputTokens: 10, costUsd: 0.5 };
const EVER = { from: "2000-01-01", to: "2100-01-01" };

interface Wanted extends FlowOptions {
  readonly rules?: object;
  /** What the first lease finds of an attempt that was interrupted. */
  readonly lost?: AgentLease["lost"];
}

/** A flow whose books are open. */
async function world(agent: FakeAgent, { rules = {}, lost, ...options }: Wanted = {}) {
  let budget: Budget | null = null;
  const told: string[] = [];
  const fx = await flow(agent, {
    ...options,
    async parts({ store, clock, log, pool }) {
      const tell = async (_id: string, text: string): Promise<void> => void told.push(text);
      const asked = { unattendedShare: 0.8, agents: {}, principals: {}, origins: {}, ...rules };
      budget = await openBudget({ clock, log, store: store.usage, tell }, { timezone: "UTC", rules: () => asked });
      let left = lost;
      const lease: typeof pool.lease = async (...args) => {
        const made = await pool.lease(...args);
        const found = left;
        left = undefined;
        return found ? { ...made, lost: found } : made;
      };
      return { budget, pool: { ...pool, lease } };
    },
  });
  /** What the usage ledger says, and that memory says the same. */
  const books = async (by: "origin" | "model" | "principal" | "agent" = "origin") => {
    const { items, total } = await fx.store.usage.report({ ...EVER, by }, { limit: 50 });
    expect(budget?.used().today).toEqual(total);
    return Object.fromEntries(items.map(({ key, turns, costUsd }) => [key, [turns, costUsd]]));
  };
  const talk = async (text: string, about: Partial<InboundMessage> = {}) => {
    const ended = fx.next("turn.ended");
    await fx.ask(text, about);
    return ended;
  };
  return Object.assign(fx, { books, talk, told });
}

const ends = (event: Partial<AgentEvent> & { type: "done" | "failed" | "aborted" }): FakeAgent =>
  async function* () {
    yield {
      text: "well",
      usage: COST,
      model: "fake/one",
      code: "provider_down",
      detail: "",
      again: false,
      ...event,
    } as AgentEvent;
  };

describe("a turn is paid for once", () => {
  test("when it is answered, with its model, and in the row of its turn", async () => {
    await using fx = await world(ends({ type: "done" }));
    const { usage } = await fx.talk("hello");
    expect(usage).toEqual(COST);
    expect([await fx.books(), await fx.books("model"), await fx.books("principal")]).toEqual([
      { chat: [1, 0.5] },
      { "fake/one": [1, 0.5] },
      { operator: [1, 0.5] },
    ]);
    const { total } = await fx.store.usage.report({ ...EVER, by: "day" }, { limit: 1 });
    expect(total).toMatchObject({ inputTokens: 100, cachedTokens: 30, outputTokens: 10 });
  });

  test("when it fails", async () => {
    await using fx = await world(ends({ type: "failed" }));
    expect((await fx.talk("hello")).outcome).toBe("failed");
    expect(await fx.books()).toEqual({ chat: [1, 0.5] });
  });

  test("when it is stopped", async () => {
    const agent: FakeAgent = async function* (prompted, signal) {
      for await (const event of waits(prompted, signal))
        yield event.type === "aborted" ? { ...event, usage: COST } : event;
    };
    await using fx = await world(agent);
    const speaking = fx.next("turn.delta");
    const ended = fx.next("turn.ended");
    await fx.ask("a story");
    await speaking;
    fx.live.abort(SESSION);
    expect((await ended).outcome).toBe("aborted");
    expect(await fx.books()).toEqual({ chat: [1, 0.5] });
  });

  test("when nothing of it is shown", async () => {
    await using fx = await world(ends({ type: "done", text: "HEARTBEAT_OK" }));
    const ended = fx.next("turn.ended");
    await fx.queue.accept(own("heartbeat"));
    expect((await ended).outcome).toBe("done");
    expect(await fx.books()).toEqual({ heartbeat: [1, 0.5] });
  });

  test("when its process died and it was tried again: the attempt that was cut off is in the usage ledger at once, by its own model", async () => {
    const lost = { inputTokens: 7, outputTokens: 3, costUsd: 0.25, model: "fake/old" };
    await using fx = await world(ends({ type: "done" }), { lost });
    const { usage, turnId } = await fx.talk("hello");
    expect(usage).toMatchObject({ inputTokens: 107, outputTokens: 13, costUsd: 0.75 }); // what its chat is shown
    expect(await fx.books("model")).toEqual({ "fake/one": [1, 0.5], "fake/old": [1, 0.25] });
    expect((await fx.store.turns.get(turnId))?.turn.usage.costUsd).toBe(0.75);
  });

  test("and what a turn has cost that never came to an end is in the usage ledger as well", async () => {
    const lost = { inputTokens: 7, outputTokens: 3, costUsd: 0.25 };
    await using fx = await world(waits, { lost });
    const speaking = fx.next("turn.delta");
    await fx.ask("a story");
    await speaking;
    expect((await fx.store.usage.report({ ...EVER, by: "model" }, { limit: 5 })).total.costUsd).toBe(0.25);
    fx.live.abort(SESSION);
  });

  test("not at all when no model was asked", async () => {
    await using fx = await world(dies);
    await fx.talk("hello");
    expect(await fx.books()).toEqual({});
  });
});

const own = (origin: "cron" | "heartbeat" | "webhook") => {
  const place = entry("1", "check the list");
  return {
    ...place,
    message: inbound("check the list", { address: { ...place.message.address, channel: "cron" }, origin }),
  };
};

describe("a budget that is used up", () => {
  const cheap = { dailyUsd: 1 };

  test("lets the turn end that used it up, refuses the next with one sentence, and asks no agent", async () => {
    await using fx = await world(ends({ type: "done", usage: { ...COST, costUsd: 3 } }), { rules: cheap });
    expect((await fx.talk("hello")).outcome).toBe("done");
    const notice = fx.next("message", ({ item }) => item.kind === "notice");
    expect((await fx.talk("again")).outcome).toBe("failed");
    expect((await notice).item.text).toBe(
      "The daily budget of this gateway is used up; it is free again at midnight (UTC).",
    );
    expect(fx.pool.prompted).toHaveLength(1);
    expect(await fx.books()).toEqual({ chat: [1, 3] });
    expect(fx.told).toHaveLength(1);
  });

  test.each(["cron", "heartbeat", "webhook"] as const)(
    "stops a turn of %s first, without a word in the chat, and with the reason in its row",
    async (origin) => {
      await using fx = await world(ends({ type: "done", usage: { ...COST, costUsd: 0.8 } }), { rules: cheap });
      await fx.talk("hello");
      const ended = fx.next("turn.ended");
      await fx.queue.accept(own(origin));
      const { turnId, outcome, inboxIds } = await ended;
      expect(outcome).toBe("failed");
      expect((await fx.store.turns.resultOf(inboxIds[0] as InboxId))?.content).toBe("");
      expect((await fx.store.turns.get(turnId))?.turn.errorCode).toBe("budget_spent");
      expect((await fx.talk("I may still talk")).outcome).toBe("done");
    },
  );

  test("does not reject what it allowed before and is tried again", async () => {
    let tries = 0;
    const agent: FakeAgent = (prompted, signal) =>
      ++tries === 1 ? dies(prompted, signal) : ends({ type: "done" })(prompted, signal);
    const lost = { inputTokens: 1, outputTokens: 1, costUsd: 5 }; // the first attempt finds an expensive past
    await using fx = await world(agent, { rules: cheap, lost });
    expect((await fx.talk("hello")).outcome).toBe("done");
    expect(tries).toBe(2);
  });

  test("for one agent or person leaves others alone", async () => {
    const rules = { principals: { "telegram:user:1": { dailyUsd: 0 } }, agents: { helper: { dailyUsd: 0 } } };
    await using fx = await world(ends({ type: "done" }), { rules });
    expect((await fx.talk("hello")).outcome).toBe("done");
    const ended = fx.next("turn.ended");
    const place = entry("9", "hello");
    const sessionKey = "agent:helper:webchat:dm:9" as SessionKey;
    await fx.queue.accept({ ...place, agentId: "helper" as AgentId, sessionKey });
    expect((await ended).outcome).toBe("failed");
  });
});

test("where a turn has its beginning", () => {
  const api = { channel: "api", account: "default", chat: "x" };
  expect([
    originOf(inbound("x")),
    originOf(inbound("x", { scope: "group" })),
    originOf(inbound("x", { address: api })),
    originOf(inbound("x", { origin: "cron", scope: "group" })),
  ]).toEqual(["chat", "group", "api", "cron"]);
});
