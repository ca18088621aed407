/** What approvals have in common on every platform: shown once where their turn works, decided by an owner there, closed when nobody answers. */
import { describe, expect, test } from "bun:test";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { Principal, Role } from "../../contracts/ids.ts";
import type { ApprovalWish, PendingApproval } from "../../contracts/tools/approval.ts";
import { orAborted } from "../../kit/deferred.ts";
import { createEvents } from "../../observe/index.ts";
import { hangEachCall, type PlayCall } from "../../testing/channels/hanging-calls.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { keptPerRound } from "../../testing/memory-growth.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { waitForEnd } from "../../testing/wait-for.ts";
import { POST_AGAIN_MS, startApprovalMessages } from "./approval-messages.ts";

const SILENT = new Promise<never>(() => undefined);
const HERE: ChatAddress = { channel: "parlour", account: "main", chat: "1" };
const approval = (n: number, origin = HERE) => ({ id: `ask_${n}`, tool: "bash", origin }) as unknown as PendingApproval;

/** Far more than any approval of a test makes. */
const MAX_CALLS = 1_500;

function world(post: (signal: AbortSignal) => Promise<string> = async () => "m1") {
  const clock = createFakeClock();
  const log = recordingLog();
  const events = createEvents({ log });
  const pending: PendingApproval[] = [];
  const calls: string[] = [];
  const decided: string[] = [];
  const state = { verdict: "done" as "done" | "unknown" | "not_allowed" };
  const stop = new AbortController();
  const strange = (signal: AbortSignal): string => (signal === stop.signal ? "" : " which nobody can give up");
  const approvals = {
    ask: () => SILENT,
    pending: () => pending,
    async decide(id: string, decision: ApprovalWish, by: Principal) {
      decided.push(`${id} ${String(decision)} ${by}`);
      return state.verdict;
    },
  };
  const messages = startApprovalMessages(
    { clock, log, events, approvals },
    {
      channel: "parlour",
      account: "main",
      async post({ id }, signal) {
        calls.push(`post ${id}`);
        return post(signal);
      },
      removeButtons: async (_to, messageId, signal) => void calls.push(`remove ${messageId}${strange(signal)}`),
      reply: async (_to, messageId, text, signal) => void calls.push(`reply ${messageId} ${text}${strange(signal)}`),
      retryAfterMs(error) {
        if (calls.length > MAX_CALLS) throw new Error("it is posted for ever");
        if (!(error instanceof Error)) return null;
        return error.message === "offline" ? POST_AGAIN_MS : error.message === "limited" ? 7_000 : null;
      },
    },
    stop.signal,
  );
  const ask = (n: number, origin = HERE): void => {
    pending.push(approval(n, origin));
    events.emit("approval", { ...approval(n, origin), decision: null });
  };
  const expire = (n: number, say?: string): void => {
    pending.length = 0;
    events.emit("approval", { ...approval(n), decision: "expired", by: null, say } as never);
  };
  const press = (n: number, how: { role?: Role; chat?: string; messageId?: string } = {}) => {
    const { role = "owner", chat = HERE.chat, messageId = "m1" } = how;
    const sender = { principal: "parlour:user:1" as Principal, name: "" };
    const by = { address: { ...HERE, chat }, scope: "dm", sender } as const;
    return messages.decide({ approval: `ask_${n}`, decision: "once", messageId, by, role });
  };
  return { clock, log, events, pending, calls, decided, state, stop, messages, ask, expire, press };
}

test("an approval that ends is over when its buttons are gone and its chat is told, or when its account closes", async () => {
  const work = async (play: PlayCall, signal: AbortSignal): Promise<void> => {
    const log = recordingLog();
    const events = createEvents({ log });
    const pending = [approval(1)];
    const approvals = { ask: () => SILENT, pending: () => pending, decide: async () => "done" as const };
    const messages = startApprovalMessages(
      { clock: createFakeClock(), log, events, approvals },
      {
        channel: "parlour",
        account: "main",
        post: (_approval, until) => play("post", until, () => "m1"),
        removeButtons: (_to, _messageId, until) => play("remove buttons", until, () => undefined),
        reply: (_to, _messageId, _text, until) => play("reply", until, () => undefined),
        retryAfterMs: () => null,
      },
      signal,
    );
    messages.open();
    events.emit("approval", { ...approval(1), decision: "expired", by: null, say: "Nobody answered." } as never);
    await messages.settled();
  };
  expect(await hangEachCall(work)).toEqual({ calls: ["post", "remove buttons", "reply"], wrong: [] });
});

describe("an approval in a chat", () => {
  test("is posted once: one that waits already when the account opens, and each new one", async () => {
    const at = world();
    at.ask(1); // before the account can send
    await at.clock.advance(0);
    expect(at.calls).toEqual([]);
    at.messages.open();
    at.ask(2);
    at.events.emit("approval", { ...approval(2), decision: null });
    at.messages.open();
    await at.clock.advance(10_000);
    expect(at.calls).toEqual(["post ask_1", "post ask_2"]);
  });

  test.each([
    ["another channel", { ...HERE, channel: "webchat" }],
    ["another account", { ...HERE, account: "second" }],
  ])("is not posted for a turn of %s", async (_where, origin) => {
    const at = world();
    at.messages.open();
    at.ask(1, origin);
    await at.clock.advance(10);
    expect([at.calls, await at.press(1), at.decided]).toEqual([[], "over", []]);
  });

  test("is posted again after the pause that the platform names, until it is there or over", async () => {
    let failures = 2;
    const at = world(async () => {
      if (failures-- > 0) throw new Error("offline");
      return "m1";
    });
    at.messages.open();
    at.ask(1);
    await at.clock.advance(10_000);
    expect(at.calls).toHaveLength(3);
    failures = Infinity;
    at.ask(2);
    await at.clock.advance(1);
    at.pending.length = 0; // decided elsewhere
    await at.clock.advance(10_000);
    expect([at.calls.slice(3), at.clock.pending()]).toEqual([["post ask_2"], 0]);
  });

  test("is posted again when the pause of its platform is over, and not before", async () => {
    let limited = true;
    const at = world(() => (limited ? Promise.reject(new Error("limited")) : Promise.resolve("m1")));
    at.messages.open();
    at.ask(1);
    await at.clock.advance(6_999);
    limited = false;
    expect(at.calls).toHaveLength(1);
    await at.clock.advance(1);
    expect([at.calls.length, at.clock.pending(), POST_AGAIN_MS]).toEqual([2, 0, 1_000]);
  });

  test("is remembered with a thousand others, and a press of an older one is over", async () => {
    const at = world();
    at.messages.open();
    for (let n = 1; n <= 1_001; n++) at.ask(n);
    await at.clock.advance(1);
    expect([await at.press(1), await at.press(2), await at.press(1_001)]).toEqual(["over", "decided", "decided"]);
  });

  test("that could not be shown is in the log, and nothing is said below it when its time is over", async () => {
    const at = world(() => Promise.reject(new Error("refused")));
    at.messages.open();
    at.ask(1);
    await at.clock.advance(1);
    expect(at.log.lines.map(({ words }) => words)).toEqual(["approval not shown"]);
    at.expire(1, "nobody answered");
    await at.clock.advance(1);
    expect(at.calls).toEqual(["post ask_1"]);
  });

  test("that is decided elsewhere, or ends without words, says nothing in its chat", async () => {
    const at = world();
    at.messages.open();
    at.ask(1);
    at.ask(2);
    await at.clock.advance(1);
    at.events.emit("approval", { ...approval(1), decision: "once", by: null, say: "allowed" } as never);
    at.expire(2);
    await at.clock.advance(1);
    expect(at.calls).toEqual(["post ask_1", "post ask_2"]);
  });

  test("is not posted again by an account that closes, which leaves no timer and no word in the log", async () => {
    const at = world((signal) => orAborted(SILENT, signal));
    at.messages.open();
    at.ask(1);
    await at.clock.advance(1);
    at.stop.abort(new Error("closing"));
    await waitForEnd("the end of the posts", at.messages.settled());
    at.ask(2);
    await waitForEnd("the end of the posts", at.messages.settled());
    expect([at.calls, at.log.lines, at.clock.pending()]).toEqual([["post ask_1"], [], 0]);
  });

  test("is not posted again when it may be shown or would be refused again, and a press of it counts", async () => {
    const at = world(() => Promise.reject(new Error("no answer")));
    at.messages.open();
    at.ask(1);
    at.messages.open();
    await at.clock.advance(10_000);
    expect([at.calls, await at.press(1, { messageId: "whatever" })]).toEqual([["post ask_1"], "decided"]);
  });

  test("that nobody answered loses its buttons, and its chat is told once", async () => {
    const posting = Promise.withResolvers<string>();
    const at = world(() => posting.promise);
    at.messages.open();
    at.ask(1);
    at.expire(1, "Nobody answered.");
    posting.resolve("m7");
    await at.clock.advance(10);
    at.expire(1, "Nobody answered.");
    await at.clock.advance(10);
    expect(at.calls).toEqual(["post ask_1", "remove m7", "reply m7 Nobody answered."]);
    expect(await at.press(1, { messageId: "m7" })).toBe("over");
  });

  test.each([
    ["an owner", {}, "decided", 1],
    ["a member", { role: "member" }, "not_allowed", 0],
    ["an owner in another chat", { chat: "2" }, "over", 0],
    ["an owner below another message", { messageId: "m2" }, "over", 0],
  ] as const)("pressed by %s is %p", async (_who, how, outcome, decisions) => {
    const at = world();
    at.messages.open();
    at.ask(1);
    await at.clock.advance(10);
    expect([await at.press(1, how), at.decided.length]).toEqual([outcome, decisions]);
  });

  test.each([
    ["unknown", "over"],
    ["not_allowed", "not_allowed"],
  ] as const)("whose decision is %s to the gateway is %p to the person", async (verdict, outcome) => {
    const at = world();
    at.messages.open();
    at.ask(1);
    await at.clock.advance(10);
    at.state.verdict = verdict;
    expect(await at.press(1)).toBe(outcome);
  });

  test("is given up at once when the channel closes", async () => {
    const at = world((signal) => orAborted(SILENT, signal));
    at.messages.open();
    at.ask(1);
    await at.clock.advance(10);
    at.messages[Symbol.dispose]();
    at.ask(2);
    at.stop.abort(new Error("closing"));
    await waitForEnd("the stop", at.messages.settled());
    await at.clock.advance(10_000);
    expect([at.calls, at.clock.pending()]).toEqual([["post ask_1"], 0]);
  });

  test("leaves nothing behind once its chat was told that nobody answered", async () => {
    const at = world();
    at.messages.open();
    const kept = await keptPerRound(async () => {
      at.ask(1);
      await at.clock.advance(10);
      at.expire(1, "Nobody answered.");
      await at.clock.advance(10);
      at.calls.length = 0;
    });
    expect(kept).toEqual({});
  });
});
