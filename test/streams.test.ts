/** Following a gateway and stopping it: numbered events over reconnects and restarts, clean stops, nothing left running. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { WireEvent } from "../src/contracts/wire.ts";
import { deferred } from "../src/kit/deferred.ts";
import { type FakeReply, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
  agentPids,
  agentReady,
  endpoint,
  eventually,
  keyOf,
  openSocket,
  post,
  problemOf,
  type RawSocket,
  runs,
  SMALL_POOL,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const AGENTS_GONE_MS = 5_000;
const EIGHT_WORDS = "echo: one two three four five six seven eight";

const replied = (events: readonly WireEvent[]): boolean =>
  events.some((one) => one.event === "message" && one.data.item.role === "assistant");
const seqs = (socket: RawSocket): readonly number[] => socket.events.map(({ seq }) => seq);

describe("the event socket", () => {
  test("numbers what happens; a client that comes back gets exactly what it missed, and a second one sees the same", async () => {
    await using gateway = await startGatewayProcess({ config: { agent: { pool: SMALL_POOL } } });
    const steady = await openSocket(gateway);
    const leaver = await openSocket(gateway);
    await steady.request("chat.send", { session: keyOf("seen"), text: EIGHT_WORDS, clientId: "a" });
    await leaver.until((events) => events.some(({ event }) => event === "turn.started"));
    leaver.close();
    await leaver.closed;
    const lastSeen = leaver.events.at(-1)?.seq ?? 0;
    await steady.until(replied);

    const returned = await openSocket(gateway, lastSeen);
    const all = steady.events.filter(({ seq }) => seq > lastSeen);
    expect(returned.events).toEqual(all);
    expect([...leaver.events, ...returned.events]).toEqual([...steady.events]);
    expect(seqs(steady)).toEqual([...new Set(seqs(steady))].toSorted((a, b) => a - b));

    const kinds = steady.events.map(({ event }) => event).filter((name, at, every) => name !== every[at - 1]);
    expect(kinds).toEqual(["message", "turn.started", "turn.delta", "turn.ended", "message"]);

    await returned.request("chat.send", { session: keyOf("seen"), text: "echo: more", clientId: "b" });
    await returned.until((events) => events.filter(({ event }) => event === "turn.ended").length === 2);
    await steady.until((events) => events.length >= leaver.events.length + returned.events.length);
    expect(steady.events.slice(leaver.events.length, leaver.events.length + returned.events.length)).toEqual([
      ...returned.events,
    ]);
    steady.close();
    returned.close();
  });

  test("says resync after a restart, because the missed events are gone; the numbers go on growing", async () => {
    await using home = await tempHome();
    await using first = await startGatewayProcess({ home: home.path, config: { agent: { pool: SMALL_POOL } } });
    const before = await openSocket(first);
    await before.request("chat.send", { session: keyOf("restart"), text: "echo: before", clientId: "a" });
    await before.until(replied);
    const lastSeen = before.events.at(-1)?.seq ?? 0;
    await first.kill();
    expect((await before.closed).code).toBe(1006);

    await using second = await startGatewayProcess({ home: home.path });
    const after = await openSocket(second, lastSeen);
    expect(after.events.map(({ event }) => event)).toEqual(["resync"]);
    expect(after.events[0]?.seq).toBeGreaterThan(lastSeen);
    const view = (await after.request("sessions.get", { session: keyOf("restart") })) as { items: { text: string }[] };
    expect(view.items.map(({ text }) => text)).toEqual(["echo: before", "before"]);
    await after.request("chat.send", { session: keyOf("restart"), text: "echo: after", clientId: "b" });
    await after.until(replied);
    expect(seqs(after)).toEqual(seqs(after).toSorted((a, b) => a - b));
    after.close();
  });
});

/** A gateway whose model is in the middle of an answer. */
async function inTheMiddle(answers: (index: number) => FakeReply, more: Record<string, unknown> = {}) {
  const provider = await startFakeProvider((_request, index) => answers(index));
  const home = await tempHome();
  const gateway = await startGatewayProcess({ home: home.path, config: { ...endpoint(provider), ...more } });
  await agentReady(gateway);
  const answer = gateway.chat("take your time", { session: "middle" }).catch(() => null); // a kill cuts it off
  await provider.arrived(1);
  return {
    gateway,
    home: home.path,
    answer,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

async function noAgentsLeft(pids: readonly number[]): Promise<void> {
  expect(pids.length).toBeGreaterThan(0);
  await eventually(
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
  await eventually(send, (said) => said.startsWith("stopping: "));
  socket.close();
  return problemOf(await post(gateway, { text: "too late", session: "late" }));
}

describe("a stop", () => {
  test("lets the running turn finish and answers it, refuses new messages, ends with 0 and leaves no process", async () => {
    const gate = deferred<void>();
    await using scene = await inTheMiddle(() => says("began, ", gate.promise, "ended"));
    const { gateway } = scene;
    const agents = agentPids(scene.home);
    expect(agents.filter(runs)).toEqual([...agents]);
    process.kill(gateway.pid, "SIGTERM");
    expect(await refusesNow(gateway)).toMatchObject({ status: 503, code: "stopping" });
    gate.resolve();
    expect((await scene.answer)?.body.content).toBe("began, ended");
    expect(await gateway.exited).toBe(0);
    expect(agents.filter(runs)).toEqual([]);
    expect(agentPids(scene.home)).toEqual([]);
    expect(existsSync(join(scene.home, "gateway.json"))).toBe(false);
  });

  test("that is asked for several times at once, as a process group does, is one clean stop", async () => {
    const gate = deferred<void>();
    await using scene = await inTheMiddle(() => says("began, ", gate.promise, "ended"));
    for (const signal of ["SIGTERM", "SIGTERM", "SIGINT"] as const) process.kill(scene.gateway.pid, signal);
    await refusesNow(scene.gateway);
    gate.resolve();
    expect((await scene.answer)?.body.content).toBe("began, ended");
    expect(await scene.gateway.exited).toBe(0);
  });

  test("does not wait for ever: what outlives gateway.stopGraceMs is taken up by the next start and answered once", async () => {
    const answers = (index: number): FakeReply => (index === 0 ? { kind: "hang" } : says("taken up"));
    await using scene = await inTheMiddle(answers, { gateway: { stopGraceMs: 200 } });
    const agents = agentPids(scene.home);
    expect(await scene.gateway.stop()).toBe(0);
    expect(agents.filter(runs)).toEqual([]);
    await using next = await startGatewayProcess({ home: scene.home });
    const items = await eventually(
      () => transcript(next, "middle"),
      (seen) => seen.length > 1,
    );
    expect(items.map(({ text }) => text)).toEqual(["take your time", "taken up"]);
  });
});

describe("a kill -9 of the gateway", () => {
  test("in the middle of a turn takes its agents with it within seconds", async () => {
    await using scene = await inTheMiddle(() => ({ kind: "hang" }));
    const agents = agentPids(scene.home);
    await scene.gateway.kill();
    await noAgentsLeft(agents);
  });

  test("at rest takes its agents with it within seconds", async () => {
    await using gateway = await startGatewayProcess({ config: { agent: { pool: SMALL_POOL } } });
    await agentReady(gateway);
    const agents = agentPids(gateway.home);
    await gateway.kill();
    await noAgentsLeft(agents);
  });
});
