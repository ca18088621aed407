/** Following a gateway and stopping it: numbered events over reconnects and restarts, clean stops, nothing left running. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WireEvent } from "../src/contracts/wire.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeProvider, type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
  agentPids,
  asked,
  endpoint,
  eventually,
  keyOf,
  openSocket,
  post,
  problemOf,
  type RawSocket,
  runs,
  statusOf,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const AGENTS_GONE_MS = 5_000;

let provider: FakeProvider;
let home: TempHome;
/** The one of these tests that runs now; most of them end it. */
let gateway: GatewayProcess | null = null;
const replies = new Map<string, () => FakeReply>();

beforeAll(async () => {
  provider = await startFakeProvider((request) => replies.get(asked(request))?.() ?? says("one ", "two ", "three"));
  home = await tempHome();
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const configFile = (): string => join(home.path, "pi-gateway.jsonc");

/** A gateway that runs with this configuration: the one before, or the next in the same state directory. */
async function running(more: Record<string, unknown> = {}): Promise<GatewayProcess> {
  const base = endpoint(provider);
  const config = { ...base, agent: { ...base.agent, pool: { min: 0, max: 1 } }, ...more };
  const same = existsSync(configFile()) && readFileSync(configFile(), "utf8") === JSON.stringify(config);
  if (gateway && !same) await ended(() => gateway?.stop());
  gateway ??= await startGatewayProcess({ home: home.path, config });
  return gateway;
}

/** Ends the gateway that runs, one way or another. */
async function ended<T>(end: () => T): Promise<Awaited<T>> {
  const how = await end();
  await gateway?.exited;
  gateway = null;
  return how;
}

const replied = (events: readonly WireEvent[]): boolean =>
  events.some((one) => one.event === "message" && one.data.item.role === "assistant");
const seqs = (socket: RawSocket): readonly number[] => socket.events.map(({ seq }) => seq);

describe("the event socket", () => {
  test("numbers what happens; a client that comes back gets exactly what it missed, and a second one sees the same", async () => {
    const here = await running();
    const more = deferred<void>();
    replies.set("count", () => says("one ", more.promise, "two ", "three ", "four"));
    const steady = await openSocket(here);
    const leaver = await openSocket(here);
    await steady.request("chat.send", { session: keyOf("seen"), text: "count", clientId: "seen-a" });
    await leaver.until("the start of the turn", (events) => events.some(({ event }) => event === "turn.started"));
    leaver.close();
    await leaver.closed;
    more.resolve();
    const lastSeen = leaver.events.at(-1)?.seq ?? 0;
    await steady.until("the reply", replied);

    const returned = await openSocket(here, lastSeen);
    const all = steady.events.filter(({ seq }) => seq > lastSeen);
    expect(returned.events).toEqual(all);
    expect([...leaver.events, ...returned.events]).toEqual([...steady.events]);
    expect(seqs(steady)).toEqual([...new Set(seqs(steady))].toSorted((a, b) => a - b));

    const kinds = steady.events.map(({ event }) => event).filter((name, at, every) => name !== every[at - 1]);
    expect(kinds).toEqual(["message", "turn.started", "turn.delta", "turn.ended", "message"]);

    await returned.request("chat.send", { session: keyOf("seen"), text: "more", clientId: "seen-b" });
    await returned.until(
      "the ends of both turns",
      (events) => events.filter(({ event }) => event === "turn.ended").length === 2,
    );
    await steady.until(
      "every event of the others",
      (events) => events.length >= leaver.events.length + returned.events.length,
    );
    expect(steady.events.slice(leaver.events.length, leaver.events.length + returned.events.length)).toEqual([
      ...returned.events,
    ]);
    steady.close();
    returned.close();
  });

  test("says resync after a kill -9, because the missed events are gone, and the numbers go on growing; agents at rest are gone within seconds", async () => {
    const first = await running();
    const before = await openSocket(first);
    await before.request("chat.send", { session: keyOf("restart"), text: "before", clientId: "restart-a" });
    await before.until("the reply", replied);
    const lastSeen = before.events.at(-1)?.seq ?? 0;
    await eventually(
      "an idle agent",
      () => statusOf(first),
      ({ pool }) => pool.idle > 0 && pool.busy === 0,
    );
    const agents = agentPids(home.path);
    await ended(() => first.kill());
    expect((await before.closed).code).toBe(1006);
    await noAgentsLeft(agents);

    const after = await openSocket(await running(), lastSeen);
    expect(after.events.map(({ event }) => event)).toEqual(["resync"]);
    expect(after.events[0]?.seq).toBeGreaterThan(lastSeen);
    const view = (await after.request("sessions.get", { session: keyOf("restart") })) as { items: { text: string }[] };
    expect(view.items.map(({ text }) => text)).toEqual(["before", "one two three"]);
    await after.request("chat.send", { session: keyOf("restart"), text: "after", clientId: "restart-b" });
    await after.until("the reply", replied);
    expect(seqs(after)).toEqual(seqs(after).toSorted((a, b) => a - b));
    after.close();
  });
});

/** A gateway whose model is in the middle of an answer to this word, which names the session as well. */
async function inTheMiddle(word: string, reply: () => FakeReply, more: Record<string, unknown> = {}) {
  replies.set(word, reply);
  const here = await running(more);
  const before = provider.requests.length;
  const answer = here.chat(word, { session: word }).catch(() => null); // a kill cuts it off
  await eventually(
    "the model is asked",
    () => provider.requests.slice(before).map(asked),
    (words) => words.includes(word),
  );
  return { here, answer, agents: agentPids(home.path) };
}

function hangsOnce(later: string): () => FakeReply {
  let asks = 0;
  return () => (++asks === 1 ? { kind: "hang" } : says(later));
}

async function noAgentsLeft(pids: readonly number[]): Promise<void> {
  expect(pids.length).toBeGreaterThan(0);
  await eventually(
    "the agents of the killed gateway have ended",
    () => pids.filter(runs),
    (left) => left.length === 0,
    AGENTS_GONE_MS,
  );
}

/** Resolves when the stop has begun. Asked over the socket, which says at once what became of a message and does not wait for its answer. */
async function refusesNow(gateway: GatewayProcess): Promise<{ status: number; code: string; message: string }> {
  const socket = await openSocket(gateway, null);
  let asked = 0;
  const send = () => {
    const message = { session: keyOf("late"), text: "too late", clientId: `late-${++asked}` };
    return socket.request("chat.send", message).then(
      () => "taken",
      (error: Error) => error.message,
    );
  };
  await eventually("messages are rejected during the stop", send, (said) => said.startsWith("stopping: "));
  socket.close();
  return problemOf(await post(gateway, { text: "too late", session: "late" }));
}

describe("a stop", () => {
  test("that is asked for several times at once, as a process group does, lets the running turn finish and answers it, refuses new messages, ends with 0 and leaves no process", async () => {
    const gate = deferred<void>();
    const { here, answer, agents } = await inTheMiddle("finish", () => says("began, ", gate.promise, "ended"));
    expect(agents.length).toBeGreaterThan(0);
    expect(agents.filter(runs)).toEqual([...agents]);
    for (const signal of ["SIGTERM", "SIGTERM", "SIGINT"] as const) process.kill(here.pid, signal);
    expect(await refusesNow(here)).toMatchObject({ status: 503, code: "stopping" });
    gate.resolve();
    expect((await answer)?.body.content).toBe("began, ended");
    expect(await ended(() => here.exited)).toBe(0);
    expect(agents.filter(runs)).toEqual([]);
    expect(agentPids(home.path)).toEqual([]);
    expect(existsSync(join(home.path, "gateway.json"))).toBe(false);
  });

  test("does not wait for ever: what outlives gateway.stopGraceMs is taken up by the next start and answered once", async () => {
    const impatient = { gateway: { stopGraceMs: 200 } };
    const { here, agents } = await inTheMiddle("slowly", hangsOnce("taken up"), impatient);
    expect(await ended(() => here.stop())).toBe(0);
    expect(agents.length).toBeGreaterThan(0);
    expect(agents.filter(runs)).toEqual([]);
    const next = await running(impatient);
    const items = await eventually(
      "the interrupted turn has its notice",
      () => transcript(next, "slowly"),
      (seen) => seen.length > 1,
    );
    expect(items.map(({ text }) => text)).toEqual(["slowly", "taken up"]);
  });
});

test("a kill -9 of the gateway in the middle of a turn takes its agents with it within seconds", async () => {
  const { here, agents } = await inTheMiddle("wait", hangsOnce("at last"), { gateway: { stopGraceMs: 200 } });
  await ended(() => here.kill());
  await noAgentsLeft(agents);
});
