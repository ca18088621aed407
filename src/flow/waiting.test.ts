/** What a chat sees of messages that were too many, waited too long or were withdrawn. */
import { describe, expect, test } from "bun:test";
import type { Receipt } from "../contracts/channel.ts";
import { OPERATOR, type InboxId } from "../contracts/ids.ts";
import { deferred } from "../kit/deferred.ts";
import { type FakeAgent, NO_USAGE } from "../testing/fake-pool.ts";
import { flow, SESSION } from "../testing/worlds/flow-world.ts";
import { expiredEnd } from "./ending/turn-ending.ts";

const idOf = (receipt: Receipt): InboxId => (receipt.kind === "queued" ? receipt.id : ("" as InboxId));

/** Holds the first prompt until the test lets it go on; echoes every other. */
function heldEcho() {
  const goOn = deferred<void>();
  const agent: FakeAgent = async function* ({ input }) {
    yield { type: "text", delta: "…" };
    if (input.text === "first") await goOn.promise;
    yield { type: "done", text: `re: ${input.text}`, usage: NO_USAGE, model: "m" };
  };
  return { agent, goOn };
}

describe("messages that are too many", () => {
  test("are refused with a sentence where the channel can", async () => {
    const { agent, goOn } = heldEcho();
    await using fx = await flow(agent, { maxPerSession: 1 });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    await fx.ask("second");
    expect(await fx.ask("third")).toMatchObject({ kind: "refused", because: "session_full", retryAfterMs: 2_000 });
    goOn.resolve();
  });

  test("are told to the model in short with the next turn where it cannot: who, what, and how much was left out", async () => {
    const { agent, goOn } = heldEcho();
    const workKind = ({ message }: { message: { text: string } }) => (message.text === "/status" ? "command" : "talk");
    await using fx = await flow(agent, { maxPerSession: 1, maxOverflow: 3, canRefuse: false, workKind });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    const media = { mediaId: "media_1" as never, name: "a.png", mimeType: "image/png", bytes: 1 };
    const said = [fx.ask("second"), fx.ask("third"), fx.ask("fourth"), fx.ask("  fifth\n\nline "), fx.ask("/status")];
    said.push(fx.ask("y".repeat(300), { attachments: [media] }));
    expect((await Promise.all(said)).map(({ kind }) => kind)).toEqual(Array.from({ length: 6 }, () => "queued"));
    const last = fx.next("message", ({ item }) => item.text.startsWith("re: second"));
    goOn.resolve();
    expect((await last).item.text).toBe(
      [
        "re: second",
        "",
        "(5 more messages came while too many were waiting, shown shortened, oldest first:",
        "- 2 earlier ones are not shown",
        "- You: fifth line",
        "- You: [a command, not carried out]",
        `- You: ${"y".repeat(280)} [20 more characters; 1 attached, not shown])`,
      ].join("\n"),
    );
    expect(await fx.store.inbox.unfinished()).toEqual([]);
    const { items } = await fx.store.sessions.transcript(SESSION, { limit: 50 });
    expect(items.filter(({ role, turnId }) => role === "user" && turnId !== null).length).toBe(7);
  });
});

describe("a message that waited too long", () => {
  test("ends with a notice in its chat, and no agent is asked", async () => {
    const { agent, goOn } = heldEcho();
    await using fx = await flow(agent, { ttlMs: 60_000, timeoutMs: 3_600_000 });
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    await speaking;
    const late = idOf(await fx.ask("late"));
    await fx.clock.advance(120_000);
    const notice = fx.next("message", ({ item }) => item.kind === "notice");
    goOn.resolve();
    expect((await notice).item).toMatchObject({
      text: "This message waited 2 minutes and was not answered. Send it again if it still matters.",
      outcome: "failed",
    });
    expect(await fx.store.turns.resultOf(late)).toMatchObject({ outcome: "failed", errorCode: "message_expired" });
    expect(fx.pool.prompted).toHaveLength(1);
  });

  test.each([
    [1, 0, 59_000, "This message waited 1 minute and was not answered. Send it again if it still matters."],
    [2, 3, 7_200_000, "These 5 messages waited 2 hours and were not answered. Send them again if they still matter."],
    [1, 0, 200_000_000, "This message waited 2 days and was not answered. Send it again if it still matters."],
  ])("is told how long: %d shown, %d counted, %d ms", (shown, hidden, ms, say) => {
    const entries = Array.from({ length: shown }, () => ({}) as never);
    expect(expiredEnd({ entries, hidden }, ms).reply.map(({ message }) => message.text)).toEqual([say]);
  });
});

describe("a message that is withdrawn", () => {
  test("is shown as such beside the running turn, and whoever watches knows whose end it was", async () => {
    const { agent, goOn } = heldEcho();
    await using fx = await flow(agent);
    const speaking = fx.next("turn.delta");
    await fx.ask("first");
    const { turnId: running } = await speaking;
    const second = idOf(await fx.ask("second"));
    const [joined, ended] = [fx.next("turn.joined"), fx.next("turn.ended")];
    const notice = fx.next("message", ({ item }) => item.kind === "notice");
    const done = await fx.waitingMessages.cancel(second, OPERATOR);
    const turnId = done.kind === "cancelled" ? done.turnId : null;
    expect([await joined, await ended]).toMatchObject([
      { turnId, inboxIds: [second] },
      { turnId, inboxIds: [second], outcome: "aborted" },
    ]);
    expect((await notice).item).toMatchObject({
      text: "Withdrawn before it was answered.",
      outcome: "aborted",
      turnId,
    });
    expect(fx.live.snapshot(SESSION)?.turnId).toBe(running);
    expect((await fx.waitingMessages.cancel(second, OPERATOR)).kind).toBe("not_waiting");
    const reply = fx.next("message", ({ item }) => item.text === "re: first");
    goOn.resolve();
    await reply;
    expect(fx.pool.prompted).toHaveLength(1);
  });
});
