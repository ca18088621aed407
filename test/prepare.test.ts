/** Hints that somebody may write soon, in a whole gateway with real pi: the next turn finds its session open, and nobody else's process is touched. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { AgentProcess } from "../src/contracts/agent.ts";
import type { MetricsSnapshot } from "../src/contracts/metrics.ts";
import type { Listed } from "../src/contracts/paging.ts";
import type { Span } from "../src/contracts/queue.ts";
import type { TurnTrace } from "../src/contracts/store/turns.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome, type TempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { saveSettings } from "../src/testing/whole/save-settings.ts";
import { endpoint, eventually, keyOf, openSocket, post, statusOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

let home: TempHome;
let provider: FakeProvider;
let gateway: GatewayProcess;

/** Other settings make other processes: what was said before them is open in none. */
beforeAll(async () => {
  home = await tempHome();
  provider = await startFakeProvider(() => says("ok"));
  const { agent, models } = endpoint(provider);
  const withMax = (max: number) => ({ agent: { ...agent, pool: { min: 1, max } }, models });
  gateway = await startGatewayProcess({ home: home.path, config: withMax(8) });
  for (const session of ["hinted", "plain", "early"]) await gateway.chat(`hello ${session}`, { session });
  await saveSettings(home.path, withMax(9));
  await eventually(
    "a spare of the new settings, and nothing else",
    async () => [
      (await statusOf(gateway)).pool.max,
      ...(await processes()).map(({ state, person }) => [state, person]),
    ],
    (seen) => JSON.stringify(seen) === JSON.stringify([9, ["idle", null]]),
  );
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

async function read<T>(path: string): Promise<T> {
  return (await (await gateway.fetch(path)).json()) as T;
}
const processes = async () => (await read<{ processes: readonly AgentProcess[] }>("/api/agents")).processes;
const counted = async () => {
  const { prepared, preparedUsed } = (await read<MetricsSnapshot>("/api/metrics")).pool;
  return { prepared, preparedUsed };
};

/** The wait of the newest turn for its process. */
async function leaseOf(session: string): Promise<Span | undefined> {
  const path = `/api/turns?session=${encodeURIComponent(keyOf(session))}`;
  const { items } = await eventually(
    "the end of the turn",
    () => read<Listed<TurnTrace>>(path),
    ({ items: [newest] }) => newest?.turn.outcome === "done",
  );
  return items[0]?.spans.find(({ name }) => name === "lease");
}

test("a message after a hint finds its session open, and one without a hint opens it", async () => {
  const page = await openSocket(gateway);
  const stored = await statusOf(gateway);
  expect(await page.request("sessions.prepare", { session: "hinted" })).toEqual({
    prepares: "process", // the only spare stays for whoever comes next
    because: "room_left",
  });
  expect(await page.request("sessions.prepare", { session: "hinted" })).toEqual({
    prepares: "nothing",
    because: "asked_a_moment_ago",
  });
  await eventually("a process of the operator's", processes, (all) => all.some(({ person }) => person === "operator"));
  expect((await processes()).some(({ person }) => person === null)).toBe(true);
  expect((await statusOf(gateway)).queue).toEqual(stored.queue);
  expect(await read<Listed<TurnTrace>>(`/api/turns?session=${encodeURIComponent(keyOf("hinted"))}`)).toMatchObject({
    items: [{ turn: { outcome: "done" } }],
  });
  await gateway.chat("and on", { session: "hinted" });
  expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("hello hinted");
  expect(await leaseOf("hinted")).toMatchObject({ note: "session was open" });
  expect(await counted()).toEqual({ prepared: 1, preparedUsed: 1 });
  await gateway.chat("and on", { session: "plain" });
  expect(await leaseOf("plain")).toMatchObject({ note: "session opened" });
  page.close();
});

test("a message that comes together with its hint is answered, with all that was said before", async () => {
  const page = await openSocket(gateway);
  const [hint, answer] = await Promise.all([
    page.request("sessions.prepare", { session: "early" }),
    gateway.chat("and on", { session: "early" }),
  ]);
  expect(hint).toMatchObject({ prepares: expect.any(String) });
  expect(answer.body.content).toBe("ok");
  expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("hello early");
  page.close();
});

test("a key prepares nothing in sessions of the operator, whose processes stay as they are", async () => {
  const made = await gateway.fetch("/api/keys", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "program", scopes: ["chat"] }),
  });
  const { secret } = (await made.json()) as { secret: string };
  const before = await counted();
  const mine = (await processes()).filter(({ person }) => person === "operator").map(({ pid }) => pid);
  const program = await openSocket({ url: gateway.url, token: secret });
  for (const session of ["hinted", "plain"])
    await expect(program.request("sessions.prepare", { session: keyOf(session) })).rejects.toThrow("forbidden");
  expect(await counted()).toEqual(before);
  await post(gateway, { text: "hello", session: "short" }, { authorization: `Bearer ${secret}` });
  expect(await program.request("sessions.prepare", { session: "short" })).toMatchObject({
    because: expect.stringMatching(/session_is_open|session_in_use|turn_under_way/),
  });
  const after = (await processes()).filter(({ person }) => person === "operator").map(({ pid }) => pid);
  expect(after).toEqual(mine);
  program.close();
});
