/** How an owner hears of replies that were given up. */
import { expect, test } from "bun:test";
import type { OutboxRow } from "../contracts/delivery.ts";
import { type GivenUpPart, tellOwnerOfUndelivered } from "./undelivered.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { createOwnerNotices } from "./owner-notices.ts";

const DEN = "agent:default:webchat:dm:den" as SessionKey;
const HOUR_MS = 3_600_000;

async function ownersDen() {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const woken = { times: 0 };
  const to = { channel: "webchat", account: "default", chat: "den" };
  const chat = { sessionKey: DEN, agentId: "default" as AgentId, to, scope: "dm" } as const;
  const ownerNotices = createOwnerNotices({
    clock,
    sessionChatStore: real.store.sessionChats,
    sessionChats: { ofOwner: async () => chat },
    principal: "operator" as Principal,
    wakeOutbox: () => void woken.times++,
  });
  const tell = tellOwnerOfUndelivered({ clock, ownerNotices });
  const said = async () => (await real.store.sessions.transcript(DEN, { limit: 20 })).items.map(({ text }) => text);
  return { clock, real, tell, said, woken };
}

const givenUp = (chat: string, turnId = "turn_1"): GivenUpPart => ({
  part: { turnId: turnId as TurnId, to: { channel: "telegram", account: "default", chat } } as OutboxRow,
  state: "dead",
  because: "403 blocked",
});

test("an owner is told in their own chat which chat did not get a reply, and why", async () => {
  const { real, tell, said, woken } = await ownersDen();
  await using _store = real;
  await tell(givenUp("7"));
  expect(await said()).toEqual([
    "A reply to telegram 7 could not be delivered: 403 blocked. The Inbox of the web console and pi-gw outbox --state dead list such replies, and send them again.",
  ]);
  expect(woken.times).toBe(1);
});

test("an owner is told of one chat once an hour, and of every chat", async () => {
  const { clock, real, tell, said } = await ownersDen();
  await using _store = real;
  for (let times = 0; times < 3; times++) await tell(givenUp("7"));
  await tell(givenUp("8"));
  expect(await said()).toHaveLength(2);
  await clock.advance(HOUR_MS - (clock.now() % HOUR_MS) - 1); // the last moment of this hour
  await tell(givenUp("7"));
  expect(await said()).toHaveLength(2);
  await clock.advance(1);
  await tell(givenUp("7"));
  expect(await said()).toHaveLength(3);
});

test("an owner is not told that what they were told did not arrive", async () => {
  const { real, tell, said } = await ownersDen();
  await using _store = real;
  await tell(givenUp("den", "undelivered-0011-0"));
  expect(await said()).toEqual([]);
});

test("an owner is told of each bot that a chat takes nothing from", async () => {
  const { real, tell, said } = await ownersDen();
  await using _store = real;
  const { part, ...rest } = givenUp("7");
  for (const change of [{}, { account: "second" }, { channel: "discord" }])
    await tell({ ...rest, part: { ...part, to: { ...part.to, ...change } } });
  expect(await said()).toHaveLength(3);
});

test("an owner is told of a reply in doubt that it may not have arrived", async () => {
  const { real, tell, said } = await ownersDen();
  await using _store = real;
  await tell({ ...givenUp("7"), state: "ambiguous" });
  expect(await said()).toEqual([expect.stringContaining("may not have arrived")]);
});
