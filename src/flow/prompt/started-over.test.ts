/** A conversation whose agent has lost its memory: what the model is told, what the person is told, and how often. */
import { expect, test } from "bun:test";
import type { StartedOver } from "../../contracts/agent.ts";
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { TurnId } from "../../contracts/ids.ts";
import { systemIds } from "../../kit/ids.ts";
import { says } from "../../testing/fake-pool.ts";
import { flow, SESSION } from "../../testing/worlds/flow-world.ts";
import { createTurnContext } from "../index.ts";
import { conversationOf } from "./started-over.ts";

const LOST: StartedOver = { because: "has no header", kept: "/sessions/a.jsonl.damaged-1" };

test("a conversation whose session file was damaged goes on from the transcript, and the person and the log hear of it once", async () => {
  let lost: StartedOver | undefined;
  await using fx = await flow(says("Here I am."), {
    parts: async ({ store, clock, pool }) => ({
      history: store.sessions,
      ids: systemIds,
      context: createTurnContext({ clock, ids: systemIds }),
      pool: {
        ...pool,
        lease: async (request, signal) =>
          Object.assign(await pool.lease(request, signal), lost ? { startedOver: lost } : {}),
      },
    }),
  });
  const ask = async (text: string): Promise<void> => {
    const ended = fx.next("turn.recorded");
    await fx.ask(text);
    await ended;
  };
  await ask("my dog is called Rex");
  lost = LOST;
  await ask("what is my dog called?");
  lost = undefined;
  await ask("thanks");

  const prefaces = fx.pool.prompted.map(({ input }) => input.preface ?? "");
  expect(prefaces.map((one) => one.includes("earlier in this conversation"))).toEqual([false, true, false]);
  expect(prefaces[1]).toMatch(/untrusted-text[^>]*>\nperson: my dog is called Rex\n\nyou: Here I am\.\n<\//);
  expect(prefaces[1]).not.toContain("what is my dog called?");
  const { items } = await fx.store.sessions.transcript(SESSION, { limit: 20 });
  const notices = items.filter(({ kind }) => kind === "notice").map(({ text }) => text);
  expect(notices).toEqual([expect.stringContaining("own record of this conversation was damaged or lost")]);
  expect(fx.log.lines.filter(({ level }) => level === "error")).toMatchObject([
    {
      words: "the session file has no header; the conversation goes on from the transcript",
      fields: { kept: LOST.kept, sessionKey: SESSION },
    },
  ]);
});

test("the words of before are the newest that fit, oldest first, without tools, notices and what was deleted", () => {
  const item = (text: string, more: Partial<TranscriptItem> = {}): TranscriptItem => ({
    id: text,
    role: "user",
    text,
    at: 0,
    turnId: "t" as TurnId,
    ...more,
  });
  const items = [
    item("one"),
    item("ran", { role: "tool" }),
    item("two", { role: "assistant", kind: "reply" }),
    item("stopped", { role: "assistant", kind: "notice" }),
    item("gone", { deleted: true }),
    item(" "),
  ];
  expect(conversationOf(items)).toBe("person: one\n\nyou: two");
  const long = conversationOf(Array.from({ length: 9 }, (_, n) => item(`${n}${"x".repeat(9_000)}`)));
  expect([long.length < 17_000, long.split("\n\n").map((line) => line["person: ".length])]).toEqual([
    true,
    ["6", "7", "8"],
  ]);
  expect(long).toContain("… (shortened)");
});
