/** What arrives during a turn and is steered into it: part of that turn when the agent heard it, the next turn's when not. */
import { describe, expect, test } from "bun:test";
import type { InboxId } from "../contracts/ids.ts";
import type { Receipt } from "../contracts/channel.ts";
import type { Store } from "../contracts/store.ts";
import { type Deferred, deferred } from "../kit/deferred.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { type FakeAgent, NO_USAGE } from "../testing/fake-pool.ts";
import { inbound } from "../testing/messages.ts";
import { flow, SESSION } from "../testing/worlds/flow-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { waitFor } from "../testing/wait-for.ts";
import { startSteering, type SteeringDeps } from "./steering.ts";

const DIED = {
  type: "failed",
  code: "agent_exited",
  detail: "",
  again: true,
  text: "",
  usage: NO_USAGE,
  model: "m",
} as const;
const done = (text: string) => ({ type: "done", text, usage: NO_USAGE, model: "m" }) as const;
const idOf = (receipt: Receipt): InboxId => (receipt.kind === "queued" ? receipt.id : ("" as InboxId));

/** Answers each prompt; the first one listens to what `hears` says, then waits for `goOn`. */
function listener(hears: number, ...ends: readonly (typeof DIED | "done")[]) {
  const goOn: Deferred<void> = deferred();
  const heard: string[] = [];
  let prompts = 0;
  const agent: FakeAgent = async function* ({ input, hear }) {
    const mine = prompts++;
    yield { type: "text", delta: "…" };
    const told = [input.text];
    for (let n = 0; mine === 0 && n < hears; n++) told.push((await hear()).text);
    heard.push(...told.slice(1));
    if (mine === 0) await goOn.promise;
    const end = ends[mine] ?? "done";
    yield end === "done" ? done(`re: ${told.join(" + ")}`) : end;
  };
  return { agent, goOn, heard };
}

describe("a message for a session that steers", () => {
  test("joins the running turn when the agent has heard it, and is answered with it", async () => {
    const { agent, goOn } = listener(1);
    await using fx = await flow(agent, { mode: "steer" });
    const speaking = fx.next("turn.delta");
    const first = idOf(await fx.ask("first"));
    const { turnId } = await speaking;
    const joined = fx.next("turn.joined");
    const ended = fx.next("turn.ended");
    const reply = fx.replied();
    const second = idOf(await fx.ask("second"));
    expect(await joined).toEqual({ sessionKey: SESSION, turnId, inboxIds: [second] });
    expect(fx.live.snapshot(SESSION)?.inboxIds).toEqual([first, second]);
    expect(fx.queue.stats()).toEqual({ waiting: 0, running: 1 });
    const turns = async () =>
      (await fx.store.sessions.transcript(SESSION, { limit: 10 })).items.map((item) => item.turnId);
    await waitFor("the turn of the steered message on the disk", turns, (seen) => seen[1] !== null);
    expect(await turns()).toEqual([turnId, turnId]);
    goOn.resolve();
    expect((await reply).item.text).toBe("re: first + second");
    expect((await ended).inboxIds).toEqual([first, second]);
    expect([await fx.store.inbox.unfinished(), fx.pool.prompted.length]).toEqual([[], 1]);
    expect((await fx.store.turns.resultOf(second))?.turnId).toBe(turnId);
  });

  test("is the next turn's when the turn ends before the agent heard it, and is answered once", async () => {
    const { agent, goOn } = listener(0);
    await using fx = await flow(agent, { mode: "steer" });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    for (const text of ["second", "third"]) await fx.ask(text);
    const last = fx.next("message", ({ item }) => item.text.startsWith("re: second"));
    goOn.resolve();
    expect((await last).item.text).toBe("re: second\n\nthird");
    expect(fx.seen.filter((line) => line.startsWith("assistant"))).toEqual([
      "assistant re: first",
      "assistant re: second\n\nthird",
    ]);
    expect(await fx.store.inbox.unfinished()).toEqual([]);
  });

  test("is tried again together with the turn when the process dies after it was heard", async () => {
    const { agent, goOn } = listener(1, DIED);
    await using fx = await flow(agent, { mode: "steer" });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    const joined = fx.next("turn.joined");
    await fx.ask("second");
    await joined;
    const reply = fx.replied();
    goOn.resolve();
    expect((await reply).item.text).toBe("re: first\n\nsecond");
    expect([fx.pool.prompted.length, await fx.store.inbox.unfinished()]).toEqual([2, []]);
  });

  test("waits in its lane when the process dies before it was heard, and the next attempt may hear it", async () => {
    const heard: string[] = [];
    const goOn = deferred<void>();
    const agent: FakeAgent = async function* ({ input, hear }) {
      yield { type: "text", delta: "…" };
      await goOn.promise;
      if (heard.push(input.text) === 1) return yield DIED;
      heard.push((await hear()).text);
      yield done("answered");
    };
    await using fx = await flow(agent, { mode: "steer" });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    await fx.ask("second");
    const reply = fx.replied();
    goOn.resolve();
    await reply;
    expect([heard, await fx.store.inbox.unfinished()]).toEqual([["first", "first", "second"], []]);
  });

  test("is in the turn or in front of the next one after a crash, whenever it comes", async () => {
    const { agent, heard } = listener(1);
    const before = await flow(agent, { mode: "steer", graceMs: 0 });
    const speaking = before.next("turn.delta");
    const first = idOf(await before.ask("first"));
    const { turnId } = await speaking;
    const joined = before.next("turn.joined");
    const second = idOf(await before.ask("second"));
    await joined;
    const third = idOf(await before.ask("third")); // told to the agent, which never takes it in
    const rows = await (await before.world.reopen()).inbox.unfinished();
    expect([heard, rows.map(({ id, turn }) => [id, turn?.turnId ?? null])]).toEqual([
      ["second"],
      [
        [first, turnId],
        [second, turnId],
        [third, null],
      ],
    ]);
    const next = listener(0);
    next.goOn.resolve();
    await using after = await flow(next.agent, { mode: "followup", on: before.world });
    const [one, two] = [after.replied(), after.next("message", ({ item }) => item.text === "re: third")];
    expect([(await one).item.text, (await two).item.text]).toEqual(["re: first\n\nsecond", "re: third"]);
    await before.world[Symbol.asyncDispose]();
  });

  test("ends with the turn even when the disk would not note that it joined", async () => {
    const { agent, goOn } = listener(1);
    const forgetful = (real: Store): Store => ({
      ...real,
      turns: { ...real.turns, join: () => Promise.reject(new Error("disk full")) },
    });
    await using fx = await flow(agent, { mode: "steer", store: forgetful });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    const joined = fx.next("turn.joined");
    await fx.ask("second");
    await joined;
    const reply = fx.replied();
    goOn.resolve();
    await reply;
    expect([await fx.store.inbox.unfinished(), fx.pool.prompted.length]).toEqual([[], 1]);
  });

  test("is noted with what joined before it and could not be: what was said later is never the turn's without it", async () => {
    const { agent, goOn } = listener(2);
    const noted = deferred<void>();
    let failures = 1;
    const stumbling = (real: Store): Store => ({
      ...real,
      turns: {
        ...real.turns,
        async join(more) {
          if (failures-- > 0) throw new Error("disk full");
          const kept = await real.turns.join(more);
          noted.resolve();
          return kept;
        },
      },
    });
    await using fx = await flow(agent, { mode: "steer", store: stumbling });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    const { turnId } = await speaking;
    for (const text of ["second", "third"]) {
      const joined = fx.next("turn.joined");
      await fx.ask(text);
      await joined;
    }
    await noted.promise;
    const rows = await fx.store.inbox.unfinished();
    expect(rows.map(({ turn }) => turn?.turnId)).toEqual([turnId, turnId, turnId]);
    goOn.resolve();
    await fx.replied();
  });

  test("takes what came meanwhile along, as one, while the agent has not heard the one before", async () => {
    const gate = deferred<void>();
    const heard: string[] = [];
    const agent: FakeAgent = async function* ({ hear }) {
      yield { type: "text", delta: "…" };
      await gate.promise;
      for (let n = 0; n < 2; n++) heard.push((await hear()).text);
      yield done("ok");
    };
    await using fx = await flow(agent, { mode: "steer" });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    for (const text of ["second", "third", "fourth"]) await fx.ask(text);
    const reply = fx.replied();
    gate.resolve();
    await reply;
    expect(heard).toEqual(["second", "third\n\nfourth"]);
  });
});

describe("a message that its sender wants in the running answer", () => {
  test.each(["collect", "followup", "interrupt"] as const)("joins it in a session with the mode %s", async (mode) => {
    const { agent, goOn } = listener(1);
    await using fx = await flow(agent, { mode });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    const joined = fx.next("turn.joined");
    await fx.ask("second", { steer: true });
    await joined;
    const reply = fx.replied();
    goOn.resolve();
    expect((await reply).item.text).toBe("re: first + second");
  });

  test("does not overtake a command, and waits its turn behind it", async () => {
    const { agent, goOn, heard } = listener(0);
    const kind = ({ message }: { message: { text: string } }) => (message.text === "/status" ? "command" : "talk");
    await using fx = await flow(agent, { mode: "steer", workKind: kind });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    await fx.ask("/status");
    await fx.ask("mine", { steer: true });
    const last = fx.next("message", ({ item }) => item.text === "re: mine");
    goOn.resolve();
    await last;
    expect([heard, fx.seen.filter((line) => line.startsWith("assistant"))]).toEqual([
      [],
      ["assistant re: first", "assistant re: /status", "assistant re: mine"],
    ]);
  });

  test("in an idle session is an ordinary message", async () => {
    const { agent, goOn } = listener(0);
    goOn.resolve();
    await using fx = await flow(agent, { mode: "collect" });
    const reply = fx.replied();
    await fx.ask("first", { steer: true });
    expect((await reply).item.text).toBe("re: first");
    expect((await fx.store.turns.list({}, { limit: 5 })).items.map(({ turn }) => turn.outcome)).toEqual(["done"]);
  });
});

test("the end of a turn waits until what the agent has taken is stored with it", async () => {
  const stored = deferred<void>();
  const joining = deferred<void>();
  const offers = [[{ id: "two" as InboxId, message: inbound("two") }]];
  const batch = {
    sessionKey: SESSION,
    agentId: "default",
    role: "owner",
    entries: [{ id: "one" as InboxId, message: inbound("one") }],
    offered: async () => offers.shift() ?? [],
    join: () => (joining.resolve(), stored.promise),
    decline: () => undefined,
  } as unknown as Parameters<typeof startSteering>[1]["batch"];
  const lease = { steer: async () => "taken" } as unknown as Parameters<typeof startSteering>[1]["lease"];
  const rights = { now: async () => ({ kind: "held", role: "owner" }) };
  const prompt = { ids: createSeqIds(), commands: { plain: ({ text }: { text: string }) => text } };
  const deps = { log: recordingLog(), rights, prompt } as unknown as SteeringDeps;
  const steering = startSteering(deps, { lease, batch, joined: () => undefined }, new AbortController().signal);
  await joining.promise;
  let isOver = false;
  const over = steering.over().then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  stored.resolve();
  await over;
});
