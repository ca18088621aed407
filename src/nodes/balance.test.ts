/** Three gateways on one Postgres database, of which one has everything that waits: it gives some away, and every session keeps its order. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { GatewayError } from "../contracts/errors.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { NodeLeaseStore } from "../contracts/store/node-leases.ts";
import type { Store } from "../contracts/store.ts";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { createQueue } from "../queue/index.ts";
import { entry } from "../testing/messages.ts";
import { testPostgres } from "../testing/postgres/database.ts";
import { createPostgresWorlds } from "../testing/postgres/store-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { waitFor } from "../testing/wait-for.ts";
import { DONE, keyOf, ROOMY } from "../testing/worlds/queue-world.ts";
import { startBalance } from "./balance.ts";
import { createOtherNodes } from "./other-nodes.ts";
import { createSessionHomes } from "./session-homes.ts";
import { createSharedQueue } from "./shared-queue.ts";

setDefaultTimeout(120_000);

const SESSIONS = Array.from({ length: 9 }, (_, n) => `s${n}`);
const TEXTS = ["one", "two"];
/** Each write waits for its commit, and machines that run tests are busy. */
const PATIENT = { withinMs: 45_000 };
const clock = systemClock;

/** A gateway without channels and agents. `lost`: what it hears of asking for a session, after the other one has done what was asked. */
function gateway(store: Store, lost: (ask: OtherNodes["ask"]) => OtherNodes["ask"] = (ask) => ask) {
  const log = recordingLog();
  const me = store.instanceId;
  const others = createOtherNodes({ clock, log, ids: systemIds, letters: store.letters });
  const nodes = { ...others, ask: lost(others.ask) };
  const lanes = createQueue({ clock, ids: systemIds, log, store, workKind: () => "talk" }, () => ROOMY);
  const renumbered: (number | null)[] = [];
  const renumber: NodeLeaseStore["renumber"] = async (...asked) => {
    const number = await store.nodeLeases.renumber(...asked);
    renumbered.push(number);
    return number;
  };
  const leases: NodeLeaseStore = { ...store.nodeLeases, renumber };
  const homes = createSessionHomes({ clock, log, me, leases, isBusy: lanes.isBusy });
  const queue = createSharedQueue(lanes, { clock, ids: systemIds, nodes: others, homes, inbox: store.inbox, me });
  const stop = new AbortController();
  const answered: string[] = [];
  const answerAll = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const batch = await queue.take(stop.signal);
      await batch.finish(DONE);
      for (const { message } of batch.entries) answered.push(`${batch.sessionKey} ${message.text}`);
    }
  };
  let answering: Promise<void> = Promise.resolve();
  return {
    queue,
    renumbered,
    others,
    answered,
    say: (session: string, text: string) => queue.accept(entry(session, text)),
    recover: () => queue.recover(),
    balance: () => startBalance({ clock, log, nodes, homes, leases, queue: lanes, isDraining: () => false }),
    answer: () => void (answering = answerAll().catch(() => undefined)), // its end is the signal's
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("over"));
      await answering;
      await homes[Symbol.asyncDispose]();
    },
  };
}

const inOrder = (answered: readonly string[], session: string) =>
  answered.filter((one) => one.startsWith(`${keyOf(session)} `)).map((one) => one.split(" ").at(-1));

describe.skipIf((await testPostgres()) === null)("waiting sessions", () => {
  const worlds = createPostgresWorlds();
  afterAll(() => worlds[Symbol.asyncDispose]());

  test("sessions that wait at one of three gateways are answered by all of them, each in its order, and a message that comes meanwhile is last", async () => {
    await using world = await worlds.open();
    await using a = gateway(world.store);
    await using b = gateway(await world.openSecond());
    await using c = gateway(await world.openSecond());
    const all = [a, b, c];
    for (const one of all) await one.recover();
    await waitFor("all to know each other", () => all.every(({ others }) => others.list().length === 2));
    for (const text of TEXTS) for (const session of SESSIONS) await a.say(session, text);
    expect(a.queue.stats().waiting).toBe(SESSIONS.length * TEXTS.length);

    const balances = all.map((one) => one.balance());
    await waitFor(
      "sessions at all gateways",
      () => all.every(({ queue }) => queue.stats().waiting > 0),
      Boolean,
      PATIENT,
    );
    await Promise.all(SESSIONS.map((session, n) => all[n % all.length]?.say(session, "last")));
    for (const one of all) one.answer();
    const answered = () => all.flatMap((one) => one.answered);
    await waitFor("every answer", () => answered().length >= SESSIONS.length * (TEXTS.length + 1), Boolean, PATIENT);
    for (const balance of balances) await balance[Symbol.asyncDispose]();
    for (const session of SESSIONS) expect(inOrder(answered(), session)).toEqual([...TEXTS, "last"]);
    expect(all.every((one) => one.answered.length > 0)).toBe(true);
    expect(await world.store.inbox.unfinished()).toEqual([]);
  });

  test("a session whose taker does not answer is either here or there, whether it was taken or not", async () => {
    await using world = await worlds.open();
    const second = await world.openSecond();
    let takes = 0;
    const lost = (ask: OtherNodes["ask"]): OtherNodes["ask"] =>
      (async (node, question, body) => {
        if (question !== "queue.take") return ask(node, question, body);
        if (takes++ % 2 === 0) await ask(node, question, body); // it was taken, and the answer is lost
        throw new GatewayError("node_silent", "no answer");
      }) as OtherNodes["ask"];
    await using a = gateway(world.store, lost);
    await using b = gateway(second);
    for (const one of [a, b]) await one.recover();
    await waitFor("both to know each other", () => [a, b].every(({ others }) => others.list().length === 1));
    for (const text of TEXTS) for (const session of SESSIONS) await a.say(session, text);
    const balances = [a.balance(), b.balance()];
    await waitFor("two sessions that were asked for", () => takes >= 2, Boolean, PATIENT);
    const waiting = () => a.queue.stats().waiting + b.queue.stats().waiting;
    await waitFor("nothing under way", () => waiting() === SESSIONS.length * TEXTS.length, Boolean, PATIENT);
    for (const one of [a, b]) one.answer();
    const answered = () => [...a.answered, ...b.answered];
    await waitFor("every answer", () => answered().length >= SESSIONS.length * TEXTS.length, Boolean, PATIENT);
    for (const balance of balances) await balance[Symbol.asyncDispose]();
    for (const session of SESSIONS) expect(inOrder(answered(), session)).toEqual([...TEXTS]);
    expect(b.answered.length).toBeGreaterThan(0);
    // taken there, and kept here under another number
    expect(new Set(a.renumbered.map((number) => number === null))).toEqual(new Set([true, false]));
  });
});
