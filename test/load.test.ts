/** Load in its small form, with the real gateway and real pi: order, fairness between direct messages and groups, polite refusal. `npm run bench` has the whole of it. */
import { heapStats } from "bun:jsc";
import { expect, setDefaultTimeout, test } from "bun:test";
import { measureFlood } from "../scripts/bench/dm-flood.ts";
import { measureHanging } from "../scripts/bench/hanging-channels.ts";
import { measureLoad } from "../scripts/bench/load.ts";
import { measureOverload } from "../scripts/bench/overload.ts";
import { measurePrincipals } from "../scripts/bench/principals.ts";
import { benchConfig } from "../scripts/bench/parts/bench-config.ts";
import { measureSockets } from "../scripts/bench/sockets.ts";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type InProcess, startInProcess } from "../src/testing/whole/in-process.ts";

setDefaultTimeout(120_000);

/** Signals that are still in memory after `turns` more turns; every turn makes some. */
async function signalsAfter(gateway: InProcess, turns: number): Promise<number> {
  for (let at = 0; at < turns; at++) await gateway.ask({ text: `turn ${at}`, chat: "one", scope: "dm" });
  Bun.gc(true);
  return heapStats().objectTypeCounts["AbortSignal"] ?? 0;
}

test("turns leave nothing behind in memory, however many one process serves", async () => {
  await using provider = await startFakeProvider(() => says("ok"));
  await using gateway = await startInProcess(benchConfig(provider.baseUrl), process.env);
  const few = await signalsAfter(gateway, 20);
  const many = await signalsAfter(gateway, 40);
  expect(many - few).toBeLessThan(20);
});

test("ten sessions of one person, three messages each through two processes, are all answered in order", async () => {
  const size = { sessions: 10, messages: 3, pool: 2, burst: 3, readMemoryAt: [10, 30], rest: false } as const;
  const { answered, outOfOrder, rssMb } = await measureLoad(size);
  expect({ answered, outOfOrder }).toEqual({ answered: 30, outOfOrder: 0 });
  expect(Math.max(...rssMb)).toBeLessThan(200);
});

test("more people than processes are all answered, each with their own words", async () => {
  const { answered, wrong } = await measurePrincipals({ people: 3, messages: 1, pool: 2 }, 0);
  expect({ answered, wrong }).toEqual({ answered: 3, wrong: 0 });
});

test("a direct message does not stand in line behind a flood of group messages", async () => {
  const size = { pool: 2, asks: 3, groups: 14, waiting: 14, provider: { thinkMs: 150 } };
  const { answeredFirst, groupTurns } = await measureFlood(size);
  expect(groupTurns).toBeGreaterThan(0);
  // 14 messages wait all the time; before the next in line both processes end what they do, and one goes on beside it
  expect(answeredFirst.p50).toBeLessThan(8);
});

test("the web console is answered while every reply to Telegram hangs and Discord's connection breaks again and again", async () => {
  const { slowestMs, hung, reconnects } = await measureHanging({ asks: 6, turns: 1, chats: 40 });
  expect(hung).toBeGreaterThanOrEqual(32); // all the places of its account
  expect(reconnects).toBeGreaterThan(0);
  expect(slowestMs).toBeLessThan(15_000); // a call to Telegram hangs for thirty seconds; whoever waits for one waits that long
});

test("a hundred times more than fits is refused with a time to come back, over HTTP and WebSocket, and memory stays bounded", async () => {
  const { http, ws, rssPeakMb } = await measureOverload({ requests: 1_000, room: 10, uploads: 0 });
  expect([10, 11]).toContain(http.accepted); // ten wait, and one runs as soon as it was taken
  expect(http).toMatchObject({ politely: 1_000 - http.accepted, otherwise: {} });
  expect(ws).toMatchObject({ politely: 1_000 - ws.accepted, otherwise: {} });
  expect(http.accepted + ws.accepted).toBe(11);
  expect(rssPeakMb).toBeLessThan(200);
});

test("an event reaches hundreds of idle pages, and each of them once", async () => {
  const { opened, failed } = await measureSockets(400);
  expect({ opened, failed }).toEqual({ opened: 400, failed: 0 });
});
