/** What every store promises about events that wait for a turn, and about where people are reached. */
import { describe, expect, test } from "bun:test";
import { MAX_EVENTS_PER_SESSION, type SystemEvent } from "../../../contracts/automation/system-event.ts";
import type { Principal, TurnId } from "../../../contracts/ids.ts";
import { AGENT, end, HERE, OPERATOR, row, sessionKey, type StoreWorld, turn } from "../store/store-world.ts";

type Open = () => Promise<StoreWorld>;
const KEY = sessionKey("a");
const turnId = (id: string) => id as TurnId;

function event(id: string, more: Partial<SystemEvent> = {}): SystemEvent {
  const words = { sessionKey: KEY, source: "job tea", kind: "news", text: `text of ${id}` } as const;
  return { id, ...words, createdAt: 1_000, expiresAt: 100_000, ...more };
}

const idsOf = ({ events }: { readonly events: readonly SystemEvent[] }) => events.map(({ id }) => id);

export function eventsAndSessionChatsContract(name: string, open: Open): void {
  describe(name, () => {
    eventPromises(open);
    boundPromises(open);
    placePromises(open);
    sayPromises(open);
    listPromises(open);
  });
}

function eventPromises(open: Open): void {
  test("an event is there once however often it is put in, and shown by one turn that ends well", async () => {
    await using world = await open();
    const { systemEvents, inbox, turns } = world.store;
    expect([await systemEvents.add(event("e1")), await systemEvents.add(event("e1"))]).toEqual([true, false]);
    await inbox.accept(row("in1", "a"));
    await turns.begin(turn("t1", "a", ["in1"]));
    expect(await systemEvents.claim(KEY, turnId("t1"), 2_000)).toEqual({ events: [event("e1")], hidden: 0 });
    expect(await systemEvents.waiting(KEY, 2_000)).toBe(0);
    await turns.finish(end("t1"));
    expect(idsOf(await systemEvents.claim(KEY, turnId("t2"), 2_000))).toEqual([]);
    expect(await systemEvents.add(event("e1"))).toBe(false);
  });

  test("another attempt of the same turn shows the same, after a crash too", async () => {
    await using world = await open();
    const { inbox, turns, systemEvents } = world.store;
    await systemEvents.add(event("e1"));
    await inbox.accept(row("in1", "a"));
    await turns.begin(turn("t1", "a", ["in1"]));
    await systemEvents.claim(KEY, turnId("t1"), 2_000);
    await systemEvents.add(event("e2"));
    const store = await world.reopen();
    await store.turns.begin(turn("t1", "a", ["in1"]));
    expect(idsOf(await store.systemEvents.claim(KEY, turnId("t1"), 2_000))).toEqual(["e1", "e2"]);
  });

  test.each(["failed", "aborted"] as const)("what a turn had that %s waits again", async (outcome) => {
    await using world = await open();
    const { inbox, turns, systemEvents } = world.store;
    await systemEvents.add(event("e1"));
    await inbox.accept(row("in1", "a"));
    await turns.begin(turn("t1", "a", ["in1"]));
    await systemEvents.claim(KEY, turnId("t1"), 2_000);
    await turns.finish(end("t1", { outcome }));
    expect(await systemEvents.waiting(KEY, 2_000)).toBe(1);
    expect(idsOf(await systemEvents.claim(KEY, turnId("t2"), 2_000))).toEqual(["e1"]);
  });

  test("an event that was said already waits for nobody, and is shown with the next turn all the same", async () => {
    await using world = await open();
    const { systemEvents } = world.store;
    await systemEvents.add({ ...event("e1"), kind: "said" });
    expect(await systemEvents.waiting(KEY, 2_000)).toBe(0);
    expect(idsOf(await systemEvents.claim(KEY, turnId("t1"), 2_000))).toEqual(["e1"]);
  });

  test("a turn knows from its beginning whether events wait for its session, however it begins", async () => {
    await using world = await open();
    const { inbox, turns, systemEvents } = world.store;
    const accept = async (id: string, session: string) => {
      const stored = await inbox.accept({ ...row(`in-${id}`, session), begins: { turnId: turnId(id), at: 2_000 } });
      return stored.kind === "stored" ? stored.begun?.hasNews : null;
    };
    expect(await accept("t0", "a")).toBe(false);
    await turns.finish(end("t0"));
    await systemEvents.add(event("e1"));
    expect([await accept("t1", "a"), await accept("t2", "b")]).toEqual([true, false]);
    await systemEvents.claim(KEY, turnId("t1"), 2_000);
    expect((await turns.begin(turn("t1", "a", ["in-t1"]))).hasNews).toBe(true); // another attempt shows it again
    await turns.finish(end("t1", { attempt: 2, outcome: "failed" }));
    await inbox.accept(row("in-t3", "a"));
    expect((await turns.begin(turn("t3", "a", ["in-t3"]))).hasNews).toBe(true);
  });

  test("an event of one session is not another's", async () => {
    await using world = await open();
    await world.store.systemEvents.add(event("e1"));
    expect(idsOf(await world.store.systemEvents.claim(sessionKey("b"), turnId("t1"), 2_000))).toEqual([]);
  });
}

function boundPromises(open: Open): void {
  test("an event that nobody was told in time is not told any more", async () => {
    await using world = await open();
    await world.store.systemEvents.add(event("e1"));
    expect(await world.store.systemEvents.waiting(KEY, 100_000)).toBe(0);
    expect(idsOf(await world.store.systemEvents.claim(KEY, turnId("t1"), 100_000))).toEqual([]);
  });

  test("when too many wait, the oldest are only counted", async () => {
    await using world = await open();
    const { systemEvents } = world.store;
    for (let n = 0; n < MAX_EVENTS_PER_SESSION + 3; n++) await systemEvents.add(event(`e${n}`));
    const claimed = await systemEvents.claim(KEY, turnId("t1"), 2_000);
    expect([claimed.events.length, claimed.hidden, claimed.events[0]?.id]).toEqual([MAX_EVENTS_PER_SESSION, 3, "e3"]);
  });
}

function placePromises(open: Open): void {
  test("the place of a session is where somebody spoke last, whatever began by itself since then", async () => {
    await using world = await open();
    const { inbox, turns, sessionChats } = world.store;
    expect(await sessionChats.of(KEY)).toBeNull();
    await inbox.accept(row("in1", "a", { address: { ...HERE, chat: "7" }, receivedAt: 5 }));
    await turns.begin(turn("t1", "a", ["in1"]));
    await turns.finish(end("t1"));
    await inbox.accept(row("in2", "a", { origin: "cron", address: { ...HERE, chat: "elsewhere" } }));
    const place = { sessionKey: KEY, agentId: AGENT, to: { ...HERE, chat: "7" }, scope: "dm", principal: OPERATOR };
    expect(await sessionChats.of(KEY)).toEqual({ ...place, heardAt: 5 } as never);
    await inbox.accept(row("in3", "a", { receivedAt: 9 }));
    expect(await sessionChats.of(KEY)).toMatchObject({ to: HERE, heardAt: 9 });
    expect(await sessionChats.speakerOf(turnId("t1"))).toEqual({ principal: OPERATOR, role: "owner", agentId: AGENT });
  });

  test("a person is reached where they were active last, never in a session of the gateway's own", async () => {
    await using world = await open();
    const { inbox, sessionChats } = world.store;
    await inbox.accept(row("in1", "old", { receivedAt: 10 }));
    await inbox.accept(row("in2", "new", { receivedAt: 20 }));
    await inbox.accept(row("in3", "run", { receivedAt: 30, origin: "cron", address: { ...HERE, channel: "cron" } }));
    await inbox.accept(row("in4", "group", { receivedAt: 40, scope: "group" }));
    await inbox.accept(
      row("in5", "hook", { receivedAt: 50, origin: "webhook", address: { ...HERE, channel: "hook" } }),
    );
    expect((await sessionChats.lastOf([OPERATOR]))?.sessionKey).toBe(sessionKey("new"));
    expect(await sessionChats.lastOf(["telegram:user:9" as Principal])).toBeNull();
  });

  test("a conversation stays its person's when something of the gateway wakes it for somebody else", async () => {
    await using world = await open();
    const { inbox, sessionChats } = world.store;
    const sender = { principal: "telegram:user:9" as Principal, name: "Ann" };
    await inbox.accept(row("in1", "ann", { sender }));
    await inbox.accept(row("in2", "ann", { origin: "webhook" }));
    expect((await sessionChats.lastOf([sender.principal]))?.sessionKey).toBe(sessionKey("ann"));
  });
}

function listPromises(open: Open): void {
  test("the session of a run is listed when it is asked for, and not among people's", async () => {
    await using world = await open();
    const { inbox, sessions } = world.store;
    await inbox.accept(row("in1", "talk"));
    await inbox.accept(row("in9", "hook", { origin: "webhook", address: { ...HERE, channel: "hook" } }));
    await inbox.accept(row("in2", "run", { origin: "cron", address: { ...HERE, channel: "cron" } }));
    const listed = async (filter: Parameters<typeof sessions.list>[0]) =>
      (await sessions.list(filter, { limit: 10 })).items.map(({ key }) => key);
    expect(await listed({})).toEqual([sessionKey("talk")]);
    expect(await listed({ channel: "cron" })).toEqual([sessionKey("run")]);
    expect(await listed({ search: "run" })).toEqual([sessionKey("run")]);
  });
}

function sayPromises(open: Open): void {
  test("words that nobody asked for are said once, can be read back, and wait in the outbox", async () => {
    await using world = await open();
    const { sessionChats, outbox, sessions } = world.store;
    const reply = [{ part: 0, message: { text: "the kettle boils", kind: "reply" } as const }];
    const words = {
      turnId: turnId("said-1"),
      sessionKey: KEY,
      agentId: AGENT,
      principal: OPERATOR,
      to: HERE,
      reply,
      at: 5,
    };
    expect([await sessionChats.say(words), await sessionChats.say(words)]).toEqual([true, false]);
    expect((await outbox.pending(10)).map(({ id, to }) => [id, to.chat])).toEqual([["said-1:0", "42"]]);
    const { items } = await sessions.transcript(KEY, { limit: 10 });
    expect(items.map(({ role, text }) => [role, text])).toEqual([["assistant", "the kettle boils"]]);
    expect((await sessions.get(KEY))?.messages).toBe(1);
  });

  test("a turn has posted once a tool has sent a message in it; its reply is no post, nor is what another turn sent", async () => {
    await using world = await open();
    const { inbox, turns, outbox, sessionChats } = world.store;
    for (const name of ["a", "b"]) {
      await inbox.accept(row(`in-${name}`, name));
      await turns.begin(turn(`t-${name}`, name, [`in-${name}`]));
    }
    const message = { text: "look", kind: "reply" } as const;
    await outbox.post({ turnId: turnId("t-a"), sessionKey: KEY, onceKey: "x", to: HERE, message, at: 5 });
    for (const name of ["a", "b"]) await turns.finish(end(`t-${name}`));
    const posted = ["t-a", "t-b", "nothing"].map((id) => sessionChats.hasPosted(turnId(id)));
    expect(await Promise.all(posted)).toEqual([true, false, false]);
  });

  test("words are said beside a running turn, and do not end it", async () => {
    await using world = await open();
    const { inbox, turns, sessionChats } = world.store;
    await inbox.accept(row("in1", "a"));
    await turns.begin(turn("t1", "a", ["in1"]));
    const reply = [{ part: 0, message: { text: "by the way", kind: "reply" } as const }];
    const about = { sessionKey: KEY, agentId: AGENT, principal: OPERATOR, to: HERE };
    expect(await sessionChats.say({ ...about, turnId: turnId("said-2"), reply, at: 5 })).toBe(true);
    expect(await turns.finish(end("t1"))).not.toBeNull();
  });
}
