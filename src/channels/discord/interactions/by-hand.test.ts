/** Commands, buttons and questions of Discord beside a gateway that a test plays by hand: limits, signals, replays, a stop. */
import { describe, expect, test } from "bun:test";
import { DiscordAPIError } from "@discordjs/rest";
import type { APIInteraction } from "discord-api-types/v10";
import type { AccountState } from "../../kit/index.ts";
import type { SessionKey, TurnId } from "../../../contracts/ids.ts";
import type { PendingApproval } from "../../../contracts/tools/approval.ts";
import { orAborted } from "../../../kit/deferred.ts";
import { createEvents } from "../../../observe/index.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { keptPerRound } from "../../../testing/memory-growth.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { waitForEnd } from "../../../testing/wait-for.ts";
import { createPlaces } from "../inbound/threads.ts";
import { snowflakeAt } from "../settings.ts";
import { buttonsFor } from "./buttons.ts";
import { createInteractions, type InteractionDeps } from "./interactions.ts";
import { createQuestionMessages } from "./question-messages.ts";
import { type QuestionDeps, startQuestions } from "./questions.ts";
import { createReplays } from "./replays.ts";

const NEVER = new AbortController().signal;
const SILENT = new Promise<never>(() => undefined);
const FRIEND = { id: "900000000000000002", username: "frida", global_name: "Frida" };

function facts(kept = new Map<string, string>()): AccountState & { readonly kept: Map<string, string> } {
  return {
    kept,
    get: async (key) => kept.get(key) ?? null,
    put: async (key, value) => void kept.set(key, value),
    forget: async (key) => void kept.delete(key),
    list: async () => [],
  };
}

function world(over: Partial<InteractionDeps> = {}) {
  const clock = createFakeClock();
  const log = recordingLog();
  const signals: AbortSignal[] = [];
  const said: string[] = [];
  const looked: unknown[] = [];
  const interactions = createInteractions({
    clock,
    log,
    places: createPlaces(),
    replays: createReplays({ clock, facts: facts() }),
    applicationId: () => "77",
    previews: { expect: () => undefined },
    door: {
      look: async (arrival: unknown) => (looked.push(arrival), { kind: "come", role: "owner" }),
      receive: async (message: { text: string }, signal: AbortSignal) => {
        signals.push(signal);
        said.push(message.text);
        return { kind: "queued", id: "in_1", sessionKey: "s", position: 0 };
      },
    } as unknown as InteractionDeps["door"],
    approvals: { decide: async () => "done" } as unknown as InteractionDeps["approvals"],
    questions: { answer: () => ({ kind: "taken", say: "" }) },
    ...over,
  });
  let number = 0;
  const used = (type: number, data: object): APIInteraction =>
    ({
      id: String(BigInt(snowflakeAt(clock.now())) + BigInt(++number)),
      type,
      application_id: "77",
      data,
      user: FRIEND,
      channel: { id: "1" },
    }) as unknown as APIInteraction;
  const command = (options: readonly object[] = []) => used(2, { type: 1, name: "ask", options });
  return { clock, interactions, signals, said, looked, used, command };
}

describe("discord interactions", () => {
  test("of kinds that are not known here are nobody's, and the door is not asked", async () => {
    const at = world();
    for (const type of [4, 5, 99])
      expect(await at.interactions.handle(at.used(type, {}), NEVER)).toEqual({ kind: "nothing" });
    expect(at.looked).toEqual([]);
  });

  test("that are commands are stored with the signal of their caller, with their words or without", async () => {
    const at = world();
    const { signal } = new AbortController();
    await at.interactions.handle(at.command(), signal);
    await at.interactions.handle(at.command([{ name: "text", type: 1 }]), signal);
    expect([at.said, at.signals.map((one) => one === signal)]).toEqual([
      ["/ask", "/ask"],
      [true, true],
    ]);
  });

  test("count once, and are asked to come again when too many come at a time", async () => {
    const at = world();
    const same = at.command();
    await at.interactions.handle(same, NEVER);
    expect(await at.interactions.handle(same, NEVER)).toEqual({ kind: "nothing" });
    const full = world({ replays: { take: async () => "full" } });
    expect(await full.interactions.handle(full.command(), NEVER)).toEqual({ kind: "busy" });
    expect([at.said.length, full.said.length]).toEqual([1, 0]);
  });

  test("that press a button of an approval are for owners, also when the gateway knows better who is one", async () => {
    const [row] = buttonsFor("ask_12345678") ?? [];
    const [button] = (row as unknown as { components: readonly { custom_id: string }[] }).components;
    const decide = async () => "not_allowed" as const;
    const at = world({ approvals: { decide } as unknown as InteractionDeps["approvals"] });
    const answer = await at.interactions.handle(at.used(3, { custom_id: button?.custom_id ?? "" }), NEVER);
    expect(answer).toEqual({ kind: "whisper", text: "Only an owner can decide that." });
  });
});

describe("discord replays", () => {
  test("are known after a restart, and forgotten when no request can be that old any more", async () => {
    const clock = createFakeClock();
    const kept = facts();
    const id = snowflakeAt(clock.now());
    expect(await createReplays({ clock, facts: kept }).take(id)).toBe("first");
    const replays = createReplays({ clock, facts: kept });
    expect(await replays.take(id)).toBe("again");
    await clock.advance(15 * 60_000 + 1);
    expect(await replays.take(id)).toBe("again"); // too old to be told from a repeat
    await replays.take(snowflakeAt(clock.now()));
    expect(kept.kept.get("interactions")).not.toContain(id);
  });

  test("are kept up to a number, at which the next one is asked to come again", async () => {
    const clock = createFakeClock();
    const first = BigInt(snowflakeAt(clock.now()));
    const ids = Array.from({ length: 999 }, (_, n) => String(first + BigInt(n)));
    const replays = createReplays({ clock, facts: facts(new Map([["interactions", JSON.stringify(ids)]])) });
    expect(await replays.take(String(first + 2_000n))).toBe("first");
    expect(await replays.take(String(first + 2_001n))).toBe("full");
  });

  test("are not counted when they could not be written down: the same one may come again", async () => {
    const clock = createFakeClock();
    const kept = facts();
    const { put } = kept;
    let isFull = true;
    kept.put = (...row) => (isFull ? Promise.reject(new Error("disk full")) : put(...row));
    const replays = createReplays({ clock, facts: kept });
    const id = snowflakeAt(clock.now());
    await expect(replays.take(id)).rejects.toThrow("disk full");
    isFull = false;
    expect(await replays.take(id)).toBe("first");
  });
});

test("discord questions of a turn are shown with the signal of who asks, and closed while the channel lives, whatever Discord says", async () => {
  const signals: AbortSignal[] = [];
  const channels = {
    createMessage: async (...given: [unknown, unknown, { signal: AbortSignal }]) => (
      signals.push(given[2].signal),
      { id: "m1" }
    ),
    editMessage: async (...given: [unknown, unknown, unknown, { signal: AbortSignal }]) => {
      signals.push(given[3].signal);
      throw new Error("gone");
    },
  };
  const life = new AbortController().signal;
  const asks = new AbortController().signal;
  const board = createQuestionMessages({ log: recordingLog(), api: { channels } as never }, life);
  const to = { channel: "discord", account: "default", chat: "1" };
  const shown = await board.show({ id: "question-1", to, text: "Really?", labels: ["yes"] } as never, asks);
  await shown.close({ answered: true, words: "x".repeat(500) });
  expect(signals.map((one) => [one === asks, one === life])).toEqual([
    [true, false],
    [false, true],
  ]);
});

describe("discord approvals", () => {
  const sessionKey = "agent:default:discord:dm:1" as SessionKey;
  const question = (n: number) =>
    ({ id: `ask_${n}`, tool: "bash", shown: "{}", sessionKey }) as unknown as PendingApproval;

  function asking(create: (signal: AbortSignal) => Promise<unknown> = async () => ({ id: "m1" })) {
    const clock = createFakeClock();
    const log = recordingLog();
    const events = createEvents({ log });
    const pending: PendingApproval[] = [];
    const calls: string[] = [];
    const call =
      (name: string) =>
      (...given: readonly unknown[]) => {
        calls.push(name);
        return create((given.at(-1) as { signal: AbortSignal }).signal);
      };
    const channels = { createMessage: call("createMessage"), editMessage: call("editMessage") };
    const questions = startQuestions({
      clock,
      log,
      events,
      api: { channels } as unknown as QuestionDeps["api"],
      approvals: { pending: () => pending } as unknown as QuestionDeps["approvals"],
      channelOf: () => "1",
    });
    const started = (n: number): void =>
      events.emit("turn.started", { sessionKey, turnId: `turn_${n}` as TurnId, inboxIds: [], attempt: 1, waitedMs: 0 });
    const ended = (n: number): void =>
      events.emit("turn.ended", { sessionKey, turnId: `turn_${n}` as TurnId } as never);
    const close = () => waitForEnd("the stop", Promise.resolve(questions[Symbol.asyncDispose]()));
    return { clock, events, pending, calls, started, ended, close };
  }

  test("are shown once while a turn runs, and nobody looks for them when none does", async () => {
    const at = asking();
    at.started(1);
    at.pending.push(question(1));
    await at.clock.advance(5_000);
    expect(at.calls).toEqual(["createMessage"]);
    at.ended(1);
    await at.clock.advance(1_000);
    expect(at.clock.pending()).toBe(0);
    await at.close();
  });

  test.each(["looks for them", "shows one"])("are over at once when the channel closes while it %s", async (where) => {
    const at = asking(where === "shows one" ? (signal) => orAborted(SILENT, signal) : undefined);
    if (where === "shows one") at.pending.push(question(1));
    at.started(1);
    await at.clock.advance(10);
    await at.close();
    const calls = at.calls.length;
    at.pending.push(question(2));
    at.started(2);
    at.events.emit("approval", { ...question(2), decision: null } as never);
    await at.clock.advance(5_000);
    expect([at.calls.length, at.clock.pending()]).toEqual([calls, 0]);
  });

  test.each(["a turn that is running", "a turn from before a restart"])(
    "of %s that could not be shown are shown as soon as Discord is reached, once",
    async (which) => {
      let failures = 2;
      const at = asking(async () => {
        if (failures-- > 0) throw new Error("ECONNREFUSED");
        return { id: "m1" };
      });
      at.pending.push(question(1));
      if (which === "a turn that is running") at.started(1);
      else at.events.emit("approval", { ...question(1), decision: null } as never);
      await at.clock.advance(10_000);
      expect(at.calls).toEqual(["createMessage", "createMessage", "createMessage"]);
      await at.close();
    },
  );

  test("that Discord refuses are not sent again", async () => {
    const refusal = new DiscordAPIError({ code: 50013, message: "" }, 50013, 403, "POST", "", {});
    const at = asking(() => Promise.reject(refusal));
    at.pending.push(question(1));
    at.started(1);
    await at.clock.advance(5_000);
    expect(at.calls).toEqual(["createMessage"]);
    await at.close();
  });

  test("that nobody answered leave nothing behind once that is told", async () => {
    const at = asking();
    const kept = await keptPerRound(async (round) => {
      at.pending.push(question(1)); // the same one: how many are remembered has a limit of its own
      at.started(round);
      await at.clock.advance(10);
      at.events.emit("approval", { ...question(1), decision: "expired", say: "Nobody answered." } as never);
      at.pending.length = 0;
      at.ended(round);
      await at.clock.advance(1_000);
      at.calls.length = 0;
    });
    expect(kept).toEqual({});
    await at.close();
  });
});
