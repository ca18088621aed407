/** Looking at a gateway that works: the waterfall of a real turn, and the numbers that follow it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { MetricsSnapshot } from "../src/contracts/metrics.ts";
import type { Span } from "../src/contracts/queue.ts";
import type { TurnResult, TurnTrace } from "../src/contracts/store/turns.ts";
import type { Listed } from "../src/contracts/paging.ts";
import { tempHome, type TempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { agentReady, eventually, keyOf, post, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** Spans are in tenths of a millisecond. */
const ROUNDING_MS = 0.25;
/** What is stored as a date has whole milliseconds, what is measured has fractions. */
const TWO_CLOCKS_MS = 2;
/** The caller may have the answer a moment before the gateway notes when it went out. */
const NOTED_LATER_MS = 200;
/** Between the stages lie microseconds; on a busy machine somebody else's time. */
const MAX_UNEXPLAINED_MS = 500;

type Detail = TurnTrace & Pick<TurnResult, "toolCalls">;

let folder: TempHome;
let gateway: GatewayProcess;
let turnId = "";
let tookMs = 0;

beforeAll(async () => {
  folder = await tempHome();
  gateway = await startGatewayProcess({ home: folder.path });
  await agentReady(gateway);
  const startedAt = performance.now();
  const response = await post(gateway, { text: "status", session: "looked-at" });
  tookMs = performance.now() - startedAt;
  turnId = ((await response.json()) as { turnId: string }).turnId;
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

async function read<T>(path: string): Promise<T> {
  return (await (await gateway.fetch(path)).json()) as T;
}

/** The reply is marked as sent shortly after it was sent. */
function delivered(): Promise<Detail> {
  return eventually(
    "the reply is delivered",
    () => read<Detail>(`/api/turns/${turnId}`),
    ({ deliveredAt }) => deliveredAt !== null,
  );
}

test("a turn shows where its time went, from the queue to the delivery, and no stretch outlasts the whole", async () => {
  const { turn, spans, toolCalls, deliveredAt } = await delivered();
  expect(turn).toMatchObject({ outcome: "done", attempt: 1, model: "gwdemo/demo", errorCode: null });
  expect(spans.map(({ name }) => name)).toEqual([
    "queued",
    "lease",
    "first_token",
    "generate",
    "tool:session_status",
    "delivery",
  ]);
  expect(toolCalls).toMatchObject([{ tool: "session_status", status: "success" }]);

  const [queued, lease, firstToken, generate, tool, delivery] = spans;
  const endOf = (span: Span | undefined) => (span ? span.startMs + span.ms : Number.NaN);
  const stages = [queued, lease, firstToken, generate];
  for (const [at, stage] of stages.entries())
    expect(stage?.startMs).toBeGreaterThanOrEqual(at === 0 ? 0 : endOf(stages[at - 1]) - ROUNDING_MS);
  expect(tool?.startMs).toBeGreaterThanOrEqual(generate?.startMs ?? Number.NaN);
  expect(endOf(tool)).toBeLessThanOrEqual(endOf(generate) + ROUNDING_MS);
  expect(delivery?.startMs).toBeGreaterThanOrEqual(endOf(generate) - TWO_CLOCKS_MS);
  const unexplained = (delivery?.startMs ?? Number.NaN) - stages.reduce((sum, stage) => sum + (stage?.ms ?? 0), 0);
  expect(unexplained).toBeLessThan(MAX_UNEXPLAINED_MS);
  expect(firstToken?.ms).toBeGreaterThan(0);
  expect(endOf(delivery)).toBe((deliveredAt ?? 0) - turn.acceptedAt);
  for (const { ms } of spans.slice(0, -1)) {
    expect(ms).toBeGreaterThanOrEqual(0);
    expect(ms).toBeLessThanOrEqual(tookMs + 1);
  }
});

test("turns are listed with their waterfalls, and can be asked for by session and outcome", async () => {
  await delivered();
  const ids = async (query: string) =>
    (await read<Listed<TurnTrace>>(`/api/turns${query}`)).items.map(({ turn }) => String(turn.turnId));
  expect(await ids("?session=looked-at")).toEqual([turnId]);
  expect(await ids(`?session=${encodeURIComponent(keyOf("looked-at"))}&outcome=done`)).toEqual([turnId]);
  expect(await ids("?outcome=failed")).toEqual([]);
  const [listed] = (await read<Listed<TurnTrace>>("/api/turns?limit=1")).items;
  const { toolCalls: _toolCalls, ...alone } = await delivered();
  expect(listed).toEqual(alone);
});

test("the numbers count the turn, its tool and the process that answered it", async () => {
  const metrics = await read<MetricsSnapshot>("/api/metrics");
  expect(metrics.turns).toEqual({ done: 1, failed: 0, aborted: 0 });
  expect(metrics.messages).toEqual({ received: 1, sent: 1 });
  expect(metrics.tools).toMatchObject([{ tool: "session_status", success: 1, error: 0, latency: { count: 1 } }]);
  expect(metrics.pool.spawned).toBeGreaterThanOrEqual(1);
  expect(metrics.rssBytes).toBeGreaterThan(10_000_000);
  const { delegation, ...ofTheTurn } = metrics.latency;
  for (const { count } of Object.values(ofTheTurn)) expect(count).toBe(1);
  expect([delegation.count, metrics.delegations]).toEqual([0, { done: 0, failed: 0, refused: 0 }]);
  const { queued, lease, firstToken, turn, answer } = metrics.latency;
  expect(answer.p50).toBeGreaterThanOrEqual((turn.p50 ?? Number.NaN) - 1); // the turn's own time is in whole milliseconds
  expect(answer.p50).toBeLessThanOrEqual(tookMs + NOTED_LATER_MS);
  expect((queued.p50 ?? 0) + (lease.p50 ?? 0) + (firstToken.p50 ?? 0)).toBeLessThanOrEqual(answer.p50 ?? 0);
});

test("Prometheus can read every line, and finds the turn", async () => {
  const response = await gateway.fetch("/metrics");
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const lines = (await response.text()).trimEnd().split("\n");
  const sample = /^[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (\d+(\.\d+)?(e[+-]?\d+)?)$/;
  const odd = lines.filter(
    (line) => line !== "" && !/^# (HELP|TYPE) pi_gateway_\w+ \S/.test(line) && !sample.test(line),
  );
  expect(odd).toEqual([]);
  expect(lines).toContain('pi_gateway_turns_total{outcome="done"} 1');
  expect(lines).toContain('pi_gateway_tool_calls_total{tool="session_status",status="success"} 1');
  expect(lines).toContain('pi_gateway_latency_seconds_count{stage="answer"} 1');
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(401);
});
