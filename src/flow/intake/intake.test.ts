/** Who has access, and what everybody else causes: nothing. From the intake to the store, with the real decisions. */
import { describe, expect, test } from "bun:test";
import type { ChannelAccessSettings } from "../../contracts/channels/access.ts";
import type { Arrival, ArrivedReaction } from "../../contracts/channels/platform.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { Principal, Role, TurnId } from "../../contracts/ids.ts";
import type { RouteFacts } from "../../contracts/routing.ts";
import { createEvents } from "../../observe/index.ts";
import { createQueue } from "../../queue/index.ts";
import { channelPolicy, createRouter, openPairing, openRoleGrants } from "../../routing/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { end, row, sessionKey, turn } from "../../testing/contracts/store/store-world.ts";
import { inbound } from "../../testing/messages.ts";
import { realStore } from "../../testing/real-store.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { routingConfig } from "../../testing/routing-config.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import type { GroupTalk } from "./group-talk.ts";
import { createMessageIntake, MAX_TOLD, TOLD_AGAIN_MS } from "./intake.ts";
import { quietReceiver } from "../../testing/worlds/quiet-receiver.ts";

const NEVER = new AbortController().signal;
const OLGA = "operator" as Principal;

async function world(settings: ChannelAccessSettings, stopping = NEVER, groupTalk?: Pick<GroupTalk, "note">) {
  const clock = createFakeClock();
  const real = await realStore(clock);
  const log = recordingLog();
  const ids = createSeqIds();
  const events = createEvents({ log });
  const { store } = real;
  const grants = await openRoleGrants(store.roleGrants);
  const roles = { owners: [], members: ["telegram:user:5"] };
  const changes = { changed: () => undefined, spread: async () => undefined };
  const pairing = await openPairing({ clock, ids, log, ...changes, store: store.pairings, grants, roles: () => roles });
  const policyOf = (channel: string, account: string) => channelPolicy({ telegram: settings }, channel, account);
  const config = () => ({ ...routingConfig(), roles });
  const router = createRouter(config, { policyOf, isPaired: pairing.isPaired }, grants.current);
  const queue = createQueue({ clock, ids, log, store, workKind: () => "talk" }, () => ({
    maxPerSession: 50,
    maxTotal: 50,
    maxOverflow: 10,
    ttlMs: Infinity,
    mode: "followup",
    collectMs: 0,
    channels: {},
  }));
  const receiver = quietReceiver({ log, events, queue, router }, undefined, stopping);
  const hinted: RouteFacts[] = [];
  const door = createMessageIntake({
    clock,
    log,
    router,
    receiver,
    pairing,
    inbox: store.inbox,
    reactions: { events, messages: store.messages, reactions: store.outbox },
    groupTalk: groupTalk ?? { note: () => undefined },
    reactionWakes: { note: () => undefined },
    preparer: {
      async prepare(facts) {
        hinted.push(facts);
        return { prepares: "nothing", because: router.decide(facts).kind };
      },
    },
    stopping,
  });
  return { clock, store, log, door, pairing, hinted, [Symbol.asyncDispose]: () => real[Symbol.asyncDispose]() };
}

type World = Awaited<ReturnType<typeof world>>;

function arrival(id: string, more: Partial<Arrival> = {}): Arrival {
  return {
    address: { channel: "telegram", account: "main", chat: id },
    scope: "dm",
    mentioned: false,
    kind: "message",
    sender: { principal: `telegram:user:${id}` as Principal, name: "Eve" },
    ...more,
  };
}

const group: Partial<Arrival> = {
  scope: "group",
  mentioned: true,
  address: { channel: "telegram", account: "main", chat: "-100" },
};

const messageOf = ({ address, scope, sender, mentioned }: Arrival): InboundMessage =>
  inbound("let me in", { address, scope, sender, mentioned });

async function storedOf({ store }: World): Promise<number> {
  return (await store.inbox.unfinished()).length;
}

async function pair(w: World, id: string, role: Role = "member"): Promise<void> {
  const looked = await w.door.look(arrival(id));
  const code = looked.kind === "stay" ? (/[A-Z2-9]{8}$/.exec(looked.say ?? "")?.[0] ?? "") : "";
  expect(await w.pairing.approve({ code, role }, OLGA)).toMatchObject({ kind: "approved" });
}

const OPEN_GROUPS: ChannelAccessSettings = { dmPolicy: "pairing", groupPolicy: "allowlist", groups: { "-100": {} } };

describe("whoever is not let in causes nothing", () => {
  const kinds = ["message", "edit", "action"] as const;
  const actors: readonly (readonly [string, Arrival])[] = [
    ["a stranger in a group", arrival("9", group)],
    ["a paired person in a group that is not open to them", arrival("2", group)],
    [
      "somebody with the name of a member",
      arrival("9", { ...group, sender: { principal: "telegram:user:9" as Principal, name: "telegram:user:5" } }),
    ],
    ["a name instead of an id", arrival("x", { sender: { principal: "Eve" as Principal, name: "Eve" } })],
    [
      "a group instead of a person",
      arrival("-100", { sender: { principal: "telegram:group:-100" as Principal, name: "G" } }),
    ],
    [
      "the id of a member on another platform",
      arrival("5", { ...group, sender: { principal: "discord:user:5" as Principal, name: "Eve" } }),
    ],
    ["an id that begins like a member's", arrival("55", group)],
  ];
  for (const [who, one] of actors) {
    test.each(kinds)(`${who}, by %s`, async (kind) => {
      await using w = await world(OPEN_GROUPS);
      await pair(w, "1", "owner");
      await pair(w, "2");
      const asked = { ...one, kind };
      expect(await w.door.look(asked)).toEqual({ kind: "stay", say: null });
      expect((await w.door.receive(messageOf(asked), NEVER)).kind).toBe("refused");
      expect(await storedOf(w)).toBe(0);
      expect(w.pairing.list()).toHaveLength(2);
    });
  }

  test.each(["edit", "action"] as const)("a stranger who only presses and changes gets no code: %s", async (kind) => {
    await using w = await world(OPEN_GROUPS);
    expect(await w.door.look(arrival("9", { kind }))).toEqual({ kind: "stay", say: null });
    expect(w.pairing.list()).toEqual([]);
  });
});

describe("the door", () => {
  test("lets in whom a code was approved for, from the next message on", async () => {
    await using w = await world({ dmPolicy: "pairing" });
    await pair(w, "1", "owner");
    expect(await w.door.look(arrival("1"))).toEqual({ kind: "come", role: "owner" });
    await pair(w, "2");
    expect(await w.door.look(arrival("2", { kind: "action" }))).toEqual({ kind: "come", role: "member" });
    expect((await w.door.receive(messageOf(arrival("2")), NEVER)).kind).toBe("queued");
    expect(await storedOf(w)).toBe(1);
  });

  test("lets a member speak in a listed group when mentioned, and in no other", async () => {
    await using w = await world(OPEN_GROUPS);
    expect(await w.door.look(arrival("5", group))).toEqual({ kind: "come", role: "member" });
    expect(await w.door.look(arrival("5", { ...group, mentioned: false }))).toEqual({ kind: "stay", say: null });
    const elsewhere = { channel: "telegram", account: "main", chat: "-200" };
    expect(await w.door.look(arrival("5", { ...group, address: elsewhere }))).toEqual({ kind: "stay", say: null });
  });

  test("tells somebody who is not on the list once an hour, and not more people than it can remember", async () => {
    await using w = await world({ dmPolicy: "allowlist" });
    const say = async (id: string) => {
      const looked = await w.door.look(arrival(id));
      return looked.kind === "stay" ? looked.say : looked;
    };
    expect(await say("9")).toBe("This gateway does not know you.");
    expect(await say("9")).toBeNull();
    await w.clock.advance(TOLD_AGAIN_MS);
    expect(await say("9")).toBe("This gateway does not know you.");
    for (let id = 100; id < 100 + MAX_TOLD - 1; id++) await say(String(id));
    expect(await say("99999")).toBeNull();
    await w.clock.advance(TOLD_AGAIN_MS);
    expect(await say("99999")).toBe("This gateway does not know you.");
  });

  test("tells somebody who is not on the list at each of its bots", async () => {
    await using w = await world({ dmPolicy: "allowlist" });
    const at = async (account: string) => {
      const asked = arrival("9");
      const looked = await w.door.look({ ...asked, address: { ...asked.address, account } });
      return looked.kind === "stay" ? looked.say : looked;
    };
    const say = "This gateway does not know you.";
    expect([await at("main"), await at("second"), await at("main"), await at("second")]).toEqual([
      say,
      say,
      null,
      null,
    ]);
  });

  test("says nothing at all where direct messages are off, and takes everybody where it is open to all", async () => {
    await using off = await world({ dmPolicy: "disabled" });
    expect(await off.door.look(arrival("5"))).toEqual({ kind: "stay", say: null });
    await using open = await world({ dmPolicy: "open", allowFrom: ["*"] });
    expect(await open.door.look(arrival("9"))).toEqual({ kind: "come", role: "guest" });
    await using half = await world({ dmPolicy: "open" });
    expect((await half.door.look(arrival("9"))).kind).toBe("stay");
  });

  test("does not say `received` while the gateway stops: the platform brings it again", async () => {
    await using w = await world({ dmPolicy: "pairing" }, AbortSignal.abort(new Error("stopping")));
    await expect(w.door.receive(messageOf(arrival("5")), NEVER)).rejects.toMatchObject({ code: "stopping" });
    expect(await storedOf(w)).toBe(0);
  });
});

describe("the settings of a channel", () => {
  test("are read for its account, its groups and its guilds", () => {
    const telegram: ChannelAccessSettings = {
      dmPolicy: "allowlist",
      allowFrom: ["1", "telegram:user:2", "*"],
      groups: { "-1": { allowFrom: ["3"], role: "guest" } },
      guilds: { g1: { requireMention: false }, g2: { channels: ["c1"] } },
      accounts: { second: { dmPolicy: "disabled" } },
    };
    const policy = channelPolicy({ telegram }, "telegram", "main");
    expect(policy).toMatchObject({ dm: "allowlist", group: "allowlist", requireMention: true });
    expect(policy.allowFrom).toEqual(["telegram:user:1", "telegram:user:2", "*"]);
    expect(policy.groupContext.messages).toBe(0);
    expect(policy.groups).toEqual({
      "-1": { allowFrom: ["telegram:user:3"], role: "guest" },
      g1: { requireMention: false },
      c1: {},
    });
    expect(channelPolicy({ telegram }, "telegram", "second").dm).toBe("disabled");
    expect(channelPolicy({ telegram }, "telegram", "__proto__").dm).toBe("allowlist");
    expect(channelPolicy({ telegram }, "constructor", "main")).toMatchObject({ dm: "allowlist", allowFrom: [] });
  });

  test("of a larger place hold for its chats", async () => {
    await using w = await world({ dmPolicy: "pairing", guilds: { g1: {} } });
    const inGuild = { ...group, address: { channel: "telegram", account: "main", chat: "c9" } };
    expect((await w.door.look(arrival("5", { ...inGuild, place: "g1" }))).kind).toBe("come");
    expect((await w.door.look(arrival("5", { ...inGuild, place: "g2" }))).kind).toBe("stay");
    expect((await w.door.look(arrival("5", inGuild))).kind).toBe("stay");
  });
});

describe("a message in a group without a mention", () => {
  const OPEN: ChannelAccessSettings = { dmPolicy: "pairing", groupPolicy: "allowlist", groups: { "-100": {} } };

  test("stays outside and is context only when its sender may speak there", async () => {
    const noted: string[] = [];
    await using w = await world(OPEN, NEVER, { note: ({ said }) => void noted.push(said?.text ?? "") });
    const silent = { ...group, mentioned: false };
    const say = (id: string, text: string, more: Partial<Arrival> = {}) =>
      w.door.look(arrival(id, { ...silent, said: { eventId: text, text, at: 1 }, ...more }));
    expect(await say("5", "of a member")).toEqual({ kind: "stay", say: null });
    await say("9", "of a stranger");
    await say("5", "elsewhere", { address: { channel: "telegram", account: "main", chat: "-200" } });
    await say("5", "to us", { mentioned: true });
    await say("9", "in private", { scope: "dm" });
    expect(noted).toEqual(["of a member"]);
  });
});

describe("a reaction", () => {
  const react = (w: World, id: string, more: Partial<ArrivedReaction> = {}) => {
    const { address, scope, sender } = arrival(id);
    return w.door.react({ address, scope, sender, messageId: "21", how: "set", emoji: ["👍"], ...more });
  };
  const told = async (w: World) =>
    (await w.store.outbox.tell(sessionKey("a"), "t9" as TurnId)).map(({ by }) => by.principal);

  test("of somebody who may write is kept with our message, and of anybody else, or to anything else, nothing is", async () => {
    await using w = await world({ dmPolicy: "allowlist", allowFrom: ["telegram:user:5"] });
    const to = arrival("5").address;
    await w.store.inbox.accept(row("in1", "a", { address: to, messageIds: ["20"] }));
    await w.store.turns.begin(turn("t1", "a", ["in1"]));
    await w.store.turns.finish(end("t1", { to }));
    await w.store.outbox.settle("t1:0", { state: "sent", because: null, providerId: "21" }, 1);
    const stranger = { principal: "telegram:user:6" as Principal, name: "Eve" };
    await react(w, "5", { sender: stranger });
    await react(w, "5", { messageId: "20" });
    await react(w, "5", { messageId: "22" });
    await react(w, "6");
    expect(await told(w)).toEqual([]);
    await react(w, "5");
    expect(await told(w)).toEqual(["telegram:user:5" as Principal]);
  });
});

describe("an edit", () => {
  const edited = (eventId: string, fingerprint: string): Arrival =>
    arrival("5", { kind: "edit", edited: { eventId, fingerprint } });
  const store = (w: World, eventId: string, fingerprint: string) => {
    const { address, scope, sender, mentioned } = arrival("5");
    return w.door.receive(inbound("words", { address, scope, sender, mentioned, eventId, fingerprint }), NEVER);
  };

  test("comes in when it changes the newest stored version of a message, and otherwise causes nothing", async () => {
    await using w = await world({ dmPolicy: "allowlist", allowFrom: ["telegram:user:5"] });
    const kind = async (eventId: string, fingerprint: string) => (await w.door.look(edited(eventId, fingerprint))).kind;
    expect(await kind("5/7", "one")).toBe("stay"); // never stored
    await store(w, "5/7", "one");
    await store(w, "5/71", "other");
    expect([await kind("5/7", "one"), await kind("5/7", "two")]).toEqual(["stay", "come"]);
    await store(w, "5/7#900", "two");
    expect([await kind("5/7", "two"), await kind("5/7", "one")]).toEqual(["stay", "come"]);
    expect(await kind("5/71", "other")).toBe("stay");
    expect(await w.door.look(edited("5/8", "one"))).toEqual({ kind: "stay", say: null });
  });
});

test("typing is decided like words that mention nobody, and nothing of it is stored", async () => {
  await using one = await world({ dmPolicy: "pairing" });
  const { address, sender } = arrival("5");
  await one.door.typing({ address, sender, scope: "dm" });
  await one.door.typing({ address: { ...address, chat: "-7" }, sender, scope: "group", place: "p" });
  expect(one.hinted).toEqual([
    { address, sender, scope: "dm", mentioned: true },
    { address: { ...address, chat: "-7" }, sender, scope: "group", place: "p", mentioned: false },
  ]);
  expect(await one.store.inbox.unfinished()).toEqual([]);
});
