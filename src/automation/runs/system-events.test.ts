/** What is put into a conversation by itself: kept before anybody is woken, for a day, and woken for once. */
import { expect, test } from "bun:test";
import type { InternalMessage } from "../../contracts/automation/internal-message.ts";
import type { Receipt } from "../../contracts/channel.ts";
import type { AgentId, InboxId, Principal, SessionKey } from "../../contracts/ids.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { realStore } from "../../testing/real-store.ts";
import { createSystemEvents } from "./system-events.ts";

const DAY = 86_400_000;
const sessionKey = "agent:default:webchat:dm:1" as SessionKey;
const NEWS = { id: "e1", sessionKey, source: "job tea", kind: "news", text: "The tea is ready." } as const;
const wake = { principal: "operator" as Principal, role: "owner" } as const;

async function world() {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const put: { readonly entry: InternalMessage; readonly waiting: number }[] = [];
  const state: { receipt: Receipt } = { receipt: { kind: "queued", id: "in_1" as InboxId, sessionKey, position: 0 } };
  const to = { channel: "webchat", account: "default", chat: "1" };
  const waiting = (): Promise<number> => real.store.systemEvents.waiting(sessionKey, clock.now());
  const events = createSystemEvents({
    clock,
    store: real.store.systemEvents,
    stopping: new AbortController().signal,
    sessionChats: { at: async (key) => ({ sessionKey: key, agentId: "default" as AgentId, to, scope: "dm" }) },
    receiver: {
      async put(entry) {
        put.push({ entry, waiting: await waiting() });
        return state.receipt;
      },
    },
  });
  return { clock, events, put, state, waiting, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

test("an event waits for a day and no longer", async () => {
  await using w = await world();
  await w.events.put(NEWS, {});
  await w.clock.advance(DAY - 1);
  expect(await w.waiting()).toBe(1);
  await w.clock.advance(1);
  expect([await w.waiting(), w.put.length]).toEqual([0, 0]);
});

test("a conversation is woken when the event is kept, under an id that another try would have too", async () => {
  await using w = await world();
  await w.events.put(NEWS, { wake });
  await w.events.put(NEWS, { wake });
  expect(w.put.map(({ waiting }) => waiting)).toEqual([1, 1]);
  expect(new Set(w.put.map(({ entry }) => entry.message.eventId))).toEqual(new Set(["wake:e1"]));
  expect(w.put[0]?.entry).toMatchObject({ role: "owner", message: { origin: "cron", sender: { name: "job tea" } } });
});

test("an event stays when nobody can be woken for it now, and its sender hears that", async () => {
  await using w = await world();
  w.state.receipt = { kind: "refused", because: "session_full", say: "" };
  await expect(w.events.put(NEWS, { wake })).rejects.toThrow("session_full");
  expect(await w.waiting()).toBe(1);
});
