/** A waiting message that is cancelled or rewritten: told to watchers in order, delivered, and told to nobody when it was too late. */
import { expect, test } from "bun:test";
import type { Events } from "../contracts/events.ts";
import type { InboxId, Principal } from "../contracts/ids.ts";
import type { Outbox } from "../contracts/delivery.ts";
import type { Queue } from "../contracts/queue.ts";
import { inbound } from "../testing/messages.ts";
import { SESSION } from "../testing/worlds/flow-world.ts";
import { createWaitingMessages } from "./waiting-messages.ts";

const QUOTED = { how: "reply", author: { id: null, name: "Eve" }, text: "what was said" } as const;
const ID = "msg_1" as InboxId;
const BY = "operator" as Principal as unknown as Parameters<Queue["cancel"]>[1];

function world(result: object) {
  const steps: unknown[] = [];
  const answer = (what: string) => async () => (steps.push(what), result);
  const waitingMessages = createWaitingMessages({
    events: { emit: (name: string, data: object) => void steps.push([name, data]) } as unknown as Events,
    queue: { cancel: answer("cancelled in the store"), rewrite: answer("rewritten in the store") } as unknown as Queue,
    outbox: { wake: () => void steps.push("outbox woken") } as unknown as Outbox,
  });
  return { steps, waitingMessages };
}

test("a message that is cancelled is a turn that ended at once: watchers see it join and end, and its notice is delivered", async () => {
  const { steps, waitingMessages } = world({ kind: "cancelled", sessionKey: SESSION, turnId: "turn_1" });
  expect((await waitingMessages.cancel(ID, BY)).kind).toBe("cancelled");
  const about = { sessionKey: SESSION, turnId: "turn_1", inboxIds: [ID] };
  expect(steps).toEqual([
    "cancelled in the store",
    ["turn.joined", about],
    ["turn.ended", expect.objectContaining({ ...about, outcome: "aborted", ms: 0 })],
    "outbox woken",
  ]);
});

test("a message that is rewritten is shown with its new words, its quoted text and the time of the change", async () => {
  const message = { ...inbound("before"), receivedAt: 5, attachments: [], quoted: [QUOTED] };
  const { steps, waitingMessages } = world({ kind: "rewritten", sessionKey: SESSION, message, at: 9 });
  expect((await waitingMessages.rewrite(ID, BY, "after")).kind).toBe("rewritten");
  expect(steps).toEqual([
    "rewritten in the store",
    [
      "message",
      {
        sessionKey: SESSION,
        item: expect.objectContaining({
          id: ID,
          inboxId: ID,
          text: expect.stringMatching(/Eve[^]*what was said[^]*after/),
          at: 5,
          editedAt: 9,
        }),
      },
    ],
  ]);
});

test.each(["too_late", "not_found"])("a message for which it is %s is told to nobody", async (kind) => {
  const one = world({ kind });
  expect((await one.waitingMessages.cancel(ID, BY)).kind as string).toBe(kind);
  expect((await one.waitingMessages.rewrite(ID, BY, "after")).kind as string).toBe(kind);
  expect(one.steps).toEqual(["cancelled in the store", "rewritten in the store"]);
});
