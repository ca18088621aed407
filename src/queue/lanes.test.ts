import { describe, expect, test } from "bun:test";
import type { AgentId, InboxId, SessionKey, TurnId } from "../contracts/ids.ts";
import { inbound } from "../testing/messages.ts";
import { createLanes, type Lanes, type Pace } from "./lanes.ts";
import type { Work } from "./work.ts";

const ONE_BY_ONE: Pace = { collect: false, collectMs: 0 };
const COLLECT: Pace = { collect: true, collectMs: 100 };

const work = (session: string, priority = 10, text = "hello"): Work => ({
  sessionKey: session as SessionKey,
  agentId: "default" as AgentId,
  role: "owner",
  priority,
  entries: [{ id: text as InboxId, message: inbound(text) }],
  turnId: null,
});
const turn = ({ turnId }: Work) => ({ turnId: turnId ?? ("new" as TurnId), stop: new AbortController() });
const take = (lanes: Lanes, now = 0, pace = ONE_BY_ONE): string | null => {
  const next = lanes.next(now, () => pace, turn);
  return next.kind === "work" ? next.work.sessionKey : null;
};
const taken = (lanes: Lanes, now: number): string[] | number | null => {
  const next = lanes.next(now, () => COLLECT, turn);
  if (next.kind === "work") return next.work.entries.map(({ message }) => message.text);
  return next.kind === "later" ? next.inMs : null;
};

describe("lanes", () => {
  test("run one piece of work per session at a time, in the order it came", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end", 0);
    lanes.add(work("a"), "end", 0);
    expect([take(lanes), take(lanes)]).toEqual(["a", null]);
    lanes.release("a" as SessionKey, 0, ONE_BY_ONE);
    expect(take(lanes)).toBe("a");
  });

  test("keep a command apart: it is joined with nothing, and taken by those who take commands", () => {
    const lanes = createLanes();
    lanes.add(work("a", 10, "one"), "end", 0);
    lanes.add({ ...work("a", 10, "/status"), alone: true }, "end", 0);
    lanes.add(work("a", 10, "two"), "end", 0);
    const commands = () => {
      const next = lanes.next(0, () => COLLECT, turn, { sort: "commands" });
      return next.kind === "work" ? next.work.entries.map(({ message }) => message.text) : null;
    };
    const release = () => lanes.release("a" as SessionKey, 0, { collect: false, collectMs: 0 });
    expect([commands(), taken(lanes, 0)]).toEqual([null, ["one"]]);
    release();
    expect([taken(lanes, 0), commands()]).toEqual([null, ["/status"]]);
    release();
    expect([commands(), taken(lanes, 0)]).toEqual([null, ["two"]]);
  });

  test("do not collect before a command", () => {
    const lanes = createLanes();
    lanes.add(work("a", 10, "one"), "end", 0);
    lanes.next(0, () => COLLECT, turn);
    lanes.add({ ...work("a", 10, "/status"), alone: true }, "end", 0);
    lanes.release("a" as SessionKey, 0, COLLECT);
    expect(lanes.next(0, () => COLLECT, turn, { sort: "commands" }).kind).toBe("work");
  });

  test("put what could not begin back behind a turn that had begun, because that one has to end first", () => {
    const lanes = createLanes();
    const waiting = work("a", 10, "waiting");
    lanes.add(waiting, "end", 0);
    expect(taken(lanes, 0)).toEqual(["waiting"]);
    lanes
      .expect([{ id: "begun" as InboxId, sessionKey: "a" as SessionKey }])
      .come([{ ...work("a", 10, "begun"), turnId: "t1" as TurnId }], 0);
    lanes.add(waiting, "head", 0);
    lanes.release("a" as SessionKey, 0, ONE_BY_ONE);
    expect(taken(lanes, 0)).toEqual(["begun"]);
  });

  test("forget a session for which nothing came after all", () => {
    const lanes = createLanes();
    const expected = lanes.expect([{ id: "one" as InboxId, sessionKey: "a" as SessionKey }]);
    lanes.add(work("a"), "end", 0);
    expect(take(lanes)).toBeNull();
    expected.come([], 0);
    expect(take(lanes)).toBe("a");
    lanes.release("a" as SessionKey, 0, ONE_BY_ONE);
    lanes.expect([{ id: "two" as InboxId, sessionKey: "b" as SessionKey }]).come([], 0);
    expect(lanes.stats().lanes).toBe(0);
  });

  test("serve the highest priority first", () => {
    const lanes = createLanes();
    for (const [name, priority] of [
      ["hook", 3],
      ["group", 5],
      ["dm", 10],
    ] as const)
      lanes.add(work(name, priority), "end", 0);
    expect([take(lanes), take(lanes), take(lanes)]).toEqual(["dm", "group", "hook"]);
  });

  test("take turns between sessions of equal priority, so that a busy one cannot starve a quiet one", () => {
    const lanes = createLanes();
    for (let n = 0; n < 3; n++) lanes.add(work("busy"), "end", 0);
    lanes.add(work("quiet"), "end", 0);
    expect(take(lanes)).toBe("busy");
    lanes.release("busy" as SessionKey, 0, ONE_BY_ONE);
    expect(take(lanes)).toBe("quiet");
  });

  test("lanes put a retry before everything else of its session, at once and unchanged", () => {
    const lanes = createLanes();
    lanes.add(work("a", 10, "one"), "end", 0);
    lanes.next(0, () => COLLECT, turn);
    lanes.add(work("a", 10, "two"), "end", 0);
    lanes.add({ ...work("a", 10, "one"), turnId: "again" as TurnId }, "head", 0);
    lanes.release("a" as SessionKey, 0, COLLECT);
    expect(taken(lanes, 0)).toEqual(["one"]);
  });

  test("remember nothing of ten thousand sessions that had work and have none", () => {
    const lanes = createLanes();
    const names = Array.from({ length: 10_000 }, (_, n) => `s${n}`);
    for (const name of names) lanes.add(work(name), "end", 0);
    expect(lanes.stats()).toMatchObject({ waiting: 10_000, lanes: 10_000 });
    for (const _ of names) lanes.release(take(lanes) as SessionKey, 0, COLLECT);
    expect(lanes.stats()).toEqual({ waiting: 0, overflow: 0, running: 0, lanes: 0 });
    expect(lanes.next(0, () => COLLECT, turn)).toEqual({ kind: "none" });
  });

  test("lanes that wait long enough go before lanes of higher priority", () => {
    const lanes = createLanes();
    lanes.add(work("hook", 3), "end", 0);
    lanes.add(work("dm", 10), "end", 69_999);
    expect(take(lanes, 69_999)).toBe("dm");
    lanes.add(work("another dm", 10), "end", 70_000);
    expect(take(lanes, 70_000)).toBe("hook");
  });

  test("forget a session as soon as it has no work", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end", 0);
    take(lanes);
    lanes.release("a" as SessionKey, 0, COLLECT);
    expect(lanes.stats()).toEqual({ waiting: 0, overflow: 0, running: 0, lanes: 0 });
  });
});

describe("a session that collects", () => {
  /** One turn ran until 1,000, and this came meanwhile. */
  const busyUntil1000 = (...texts: string[]) => {
    const lanes = createLanes();
    lanes.add(work("a"), "end", 0);
    take(lanes);
    for (const text of texts) lanes.add(work("a", 10, text), "end", 500);
    lanes.release("a" as SessionKey, 1_000, COLLECT);
    return lanes;
  };

  test("starts at once when it is idle", () => {
    const lanes = createLanes();
    lanes.add(work("a", 10, "hello"), "end", 0);
    expect(taken(lanes, 0)).toEqual(["hello"]);
  });

  test("waits after a busy turn until nothing more has come for a while, then takes everything", () => {
    const lanes = busyUntil1000("one");
    expect(taken(lanes, 1_000)).toBe(100);
    lanes.add(work("a", 10, "two"), "end", 1_060);
    expect(taken(lanes, 1_100)).toBe(60);
    expect(taken(lanes, 1_160)).toEqual(["one", "two"]);
  });

  test("does not wait for ever for somebody who does not stop talking", () => {
    const lanes = busyUntil1000("one");
    for (let at = 1_050; at < 1_500; at += 50) lanes.add(work("a", 10, `at ${at}`), "end", at);
    expect(taken(lanes, 1_499)).toBe(1);
    expect((taken(lanes, 1_500) as string[]).length).toBe(10);
  });

  test("does not hold up another session meanwhile", () => {
    const lanes = busyUntil1000("one");
    lanes.add(work("b", 10, "other"), "end", 1_010);
    expect(taken(lanes, 1_010)).toEqual(["other"]);
  });
});

describe("a message that is held while the store decides about it", () => {
  const heldOf = (lanes: Lanes, id: string) => {
    const held = lanes.hold(id as InboxId);
    if (!held) throw new Error(`${id} cannot be held`);
    return held;
  };
  const joined = (...texts: readonly string[]): Work => ({
    ...work("a"),
    entries: texts.map((text) => ({ id: text as InboxId, message: inbound(text) })),
  });

  test("keeps its place among those it was joined with, whoever is let go first", () => {
    const lanes = createLanes();
    lanes.add(joined("one", "two", "three"), "head", 0); // a turn that could not be begun
    const [two, three] = [heldOf(lanes, "two"), heldOf(lanes, "three")];
    expect(taken(lanes, 0)).toBeNull();
    two.letGo(0, inbound("two, changed"));
    expect(taken(lanes, 0)).toBeNull(); // nothing goes before it is decided
    three.letGo(0);
    expect(taken(lanes, 0)).toEqual(["one", "two, changed", "three"]);
  });

  test("a held message is held once, and leaves its lane without the messages it was joined with", () => {
    const lanes = createLanes();
    lanes.add(joined("one", "two"), "end", 0);
    lanes.add(work("a", 10, "three"), "end", 0);
    const one = heldOf(lanes, "one");
    expect([lanes.hold("one" as InboxId), lanes.stats().waiting]).toEqual([null, 3]);
    one.gone(0);
    expect([taken(lanes, 0), lanes.stats().waiting]).toEqual([["two", "three"], 0]);
  });
});

describe("a message that is held", () => {
  test.each<[string, Partial<Work>, "talk" | "commands"]>([
    ["talk", {}, "talk"],
    ["a command", { alone: true }, "commands"],
    ["a suspect", { crashes: 2 }, "talk"],
    ["expired talk", { expiresAt: -1 }, "commands"],
  ])("is not taken while it is %s, and leaves no lane when it is withdrawn", (_what, more, sort) => {
    const lanes = createLanes();
    const next = () => lanes.next(0, () => ONE_BY_ONE, turn, { sort }).kind;
    lanes.add({ ...work("a", 10, "one"), ...more }, "end", 0);
    const held = lanes.hold("one" as InboxId);
    expect(next()).toBe("none");
    held?.gone(0);
    expect([next(), lanes.stats()]).toEqual(["none", { waiting: 0, overflow: 0, running: 0, lanes: 0 }]);
  });

  test("a held message that was all a session collected leaves nothing to wait for when it is withdrawn", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end", 0);
    take(lanes);
    lanes.add(work("a", 10, "one"), "end", 0);
    lanes.release("a" as SessionKey, 0, COLLECT);
    expect(taken(lanes, 0)).toBe(100);
    lanes.hold("one" as InboxId)?.gone(0);
    expect([taken(lanes, 0), lanes.stats().lanes]).toEqual([null, 0]);
  });

  test("a held message is not offered to the running turn, and neither are those after it", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end", 0);
    take(lanes);
    for (const text of ["one", "two"]) lanes.add(work("a", 10, text), "end", 0);
    const offered = () => lanes.offer("a" as SessionKey, () => true).map(({ id }) => id);
    const held = lanes.hold("one" as InboxId);
    expect(offered()).toEqual([]);
    held?.letGo(0);
    expect(offered()).toEqual(["one", "two"] as InboxId[]);
  });

  test("a message can be held after a turn has declined it, and not while a turn decides about it", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end", 0);
    take(lanes);
    lanes.add(work("a", 10, "one"), "end", 0);
    lanes.offer("a" as SessionKey, () => true);
    expect(lanes.hold("one" as InboxId)).toBeNull();
    lanes.decline("a" as SessionKey);
    expect(lanes.hold("one" as InboxId)?.work.entries).toHaveLength(1);
  });
});

test("overflow of which every message is hidden is counted with the next overflow of its chat, and taken with it", () => {
  const lanes = createLanes();
  const overflow = (text: string): Work => {
    const [entry] = work("a", 10, text).entries;
    const shown = { cutChars: 0, attachments: 0, isCommand: false };
    return {
      ...work("a"),
      entries: entry ? [{ ...entry, overflow: shown }] : [],
      overflow: { hidden: 0, through: text as InboxId },
    };
  };
  lanes.addOverflow(overflow("first"), null, 0);
  lanes.add(work("a", 10, "accepted"), "end", 0);
  lanes.addOverflow(overflow("second"), "first" as InboxId, 0);
  expect(lanes.stats()).toMatchObject({ waiting: 1, overflow: 2 });
  const next = lanes.next(0, () => ONE_BY_ONE, turn);
  const joint = next.kind === "work" ? next.work : null;
  expect([joint?.entries.map(({ id }) => id), joint?.overflow?.hidden]).toEqual([
    ["accepted", "second"] as InboxId[],
    1,
  ]);
  lanes.release("a" as SessionKey, 0, ONE_BY_ONE);
  expect(lanes.stats()).toEqual({ waiting: 0, overflow: 0, running: 0, lanes: 0 });
});

test("a turn grows to two hundred messages, whether they come one by one or together, and the others wait", () => {
  for (const together of [1, 70, 300]) {
    const lanes = createLanes();
    lanes.add(work("a", 10, "first"), "end", 0);
    take(lanes);
    let grown: Work | null = null;
    for (let came = 0; came < 300; came += together) {
      for (let one = 0; one < together; one++) lanes.add(work("a", 10, `${came + one}`), "end", 0);
      const offered = lanes.offer("a" as SessionKey, () => true);
      grown = lanes.join(
        "a" as SessionKey,
        offered.map(({ id }) => id),
      );
    }
    expect([together, grown?.entries.length]).toEqual([together, 200]);
  }
});

test("a turn that is being stopped is offered nothing more", () => {
  const lanes = createLanes();
  lanes.add(work("a", 10, "one"), "end", 0);
  const next = lanes.next(0, () => ONE_BY_ONE, turn);
  lanes.add(work("a", 10, "two"), "end", 0);
  if (next.kind === "work") next.running.stop.abort("stopped");
  expect(lanes.offer("a" as SessionKey, () => true)).toEqual([]);
  lanes.release("a" as SessionKey, 0, ONE_BY_ONE);
  expect(taken(lanes, 0)).toEqual(["two"]);
});

test("messages that expire are each due at their own time, without a new message", () => {
  const lanes = createLanes();
  for (const [name, expiresAt] of [
    ["a", 10],
    ["b", 20],
  ] as const)
    lanes.add({ ...work(name), expiresAt }, "end", 0);
  const expired = (now: number): string | number | null => {
    const next = lanes.next(now, () => ONE_BY_ONE, turn, { sort: "commands" });
    if (next.kind === "later") return next.inMs;
    return next.kind === "work" ? next.work.sessionKey : null;
  };
  expect([expired(0), expired(10), expired(10), expired(20)]).toEqual([10, "a", 10, "b"]);
});
