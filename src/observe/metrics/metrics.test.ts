import { describe, expect, test } from "bun:test";
import type { ModelCall } from "../../contracts/model-door.ts";
import type { GatewayEvents } from "../../contracts/events.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createEvents, createMetrics } from "../index.ts";
import { MAX_TOOLS } from "./counts.ts";
import { createSeries, MAX_SAMPLES, WINDOW_MS } from "./series.ts";

const sessionKey = "agent:default:webchat:dm:secret-name" as SessionKey;
const turnId = "turn_1" as TurnId;
const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.5 };
const GAUGES = {
  uptimeMs: 61_000,
  pool: { starting: 0, idle: 1, busy: 2, waiting: 3, max: 4 },
  node: { id: "gateway_1", name: "host:1", version: "1.2.3" },
  queue: { waiting: 5, running: 2 },
  outbox: { pending: 6, dead: 0, ambiguous: 0 },
  sockets: 7,
  requests: 8,
  rssBytes: 9_000,
};

function world() {
  const clock = createFakeClock();
  const events = createEvents({ log: silentLog });
  const metrics = createMetrics({ clock, events });
  metrics.registerGauges(() => GAUGES);
  return { clock, events, metrics };
}

const measured = (attempt = 1): GatewayEvents["turn.measured"] => ({
  turnId,
  attempt,
  spans: [
    { name: "queued", startMs: 0, ms: 4 },
    { name: "lease", startMs: 4, ms: 6 },
    { name: "first_token", startMs: 10, ms: 90 },
    { name: "generate", startMs: 100, ms: 100 },
  ],
  sinceAcceptedMs: 203,
});
const ended = { sessionKey, turnId, inboxIds: [], outcome: "done", ms: 196, usage } as const;
const toolEnded = (tool: string, ms = 3) => ({ sessionKey, turnId, callId: "c", tool, status: "success", ms }) as const;
const callEnded = (tool: string) => ({ ...toolEnded(tool), background: false, params: {}, result: null, error: null });
const shown = (role: "user" | "assistant") =>
  ({ sessionKey, item: { id: "m", role, text: "what was said", at: 0, turnId } }) as const;

describe("quantiles", () => {
  test("are values that were measured, at their rank", () => {
    const series = createSeries();
    for (let ms = 100; ms >= 1; ms--) series.add(ms, 0);
    expect(series.quantiles(0)).toEqual({ count: 100, p50: 50, p95: 95, p99: 99 });
    expect(createSeries().quantiles(0)).toEqual({ count: 0, p50: null, p95: null, p99: null });
  });

  test("forget what is older than an hour", () => {
    const series = createSeries();
    series.add(1_000, 0);
    series.add(5, WINDOW_MS);
    expect(series.quantiles(WINDOW_MS)).toMatchObject({ count: 2, p99: 1_000 });
    expect(series.quantiles(WINDOW_MS + 1)).toMatchObject({ count: 1, p99: 5 });
  });

  test("keep the latest samples when there are too many, while the totals keep counting", () => {
    const series = createSeries();
    for (let n = 0; n < MAX_SAMPLES; n++) series.add(1, 0);
    for (let n = 0; n < MAX_SAMPLES; n++) series.add(700, 0);
    expect(series.quantiles(0)).toEqual({ count: MAX_SAMPLES, p50: 700, p95: 700, p99: 700 });
    const { count, upTo } = series.totals();
    expect([count, upTo[0], upTo.at(-1)]).toEqual([2 * MAX_SAMPLES, MAX_SAMPLES, 2 * MAX_SAMPLES]);
  });
});

function modelCall(outcome: ModelCall["outcome"], firstTokenMs: number | null): ModelCall {
  const { turnId, sessionKey, usage } = ended;
  const status = outcome === "answered" ? 200 : 500;
  return {
    turnId,
    sessionKey,
    provider: "p",
    model: "p/m",
    startedAt: 0,
    ms: 30,
    firstTokenMs,
    outcome,
    status,
    retries: 0,
    usage,
  };
}

describe("metrics", () => {
  test("follow a turn from its acceptance to the moment its reply is shown", async () => {
    const { clock, events, metrics } = world();
    events.emit("message", shown("user"));
    events.emit("turn.tool", { ...toolEnded("session_status"), status: "running" });
    events.emit("turn.tool", { ...toolEnded("session_status"), status: "pending" }); // waits for an approval
    events.emit("tool_execution_end", callEnded("session_status"));
    events.emit("turn.tool", toolEnded("session_status"));
    events.emit("turn.measured", measured());
    events.emit("turn.ended", ended);
    await clock.advance(20);
    events.emit("message", shown("assistant"));
    events.emit("message", shown("assistant")); // a second part: nobody waits for the first word twice
    events.emit("model.call", modelCall("answered", 25));
    events.emit("model.call", modelCall("failed", null));
    events.emit("delegation.ended", { outcome: "failed", ms: 40 });
    events.emit("delegation.ended", { outcome: "refused", ms: 0 });
    const once = (ms: number) => ({ count: 1, p50: ms, p95: ms, p99: ms });
    expect(metrics.snapshot()).toEqual({
      uptimeMs: 61_000,
      rssBytes: 9_000,
      connections: { sockets: 7, requests: 8 },
      pool: { ...GAUGES.pool, spawned: 0, exited: 0, died: 0, prepared: 0, preparedUsed: 0 },
      queue: GAUGES.queue,
      outbox: GAUGES.outbox,
      turns: { done: 1, failed: 0, aborted: 0 },
      delegations: { done: 0, failed: 1, refused: 1 },
      jobs: { ran: 0, failed: 0, skipped: 0, missed: 0 },
      messages: { received: 1, sent: 2 },
      usage,
      latency: {
        queued: once(4),
        lease: once(6),
        firstToken: once(90),
        turn: once(196),
        delivery: once(23),
        answer: once(223),
        delegation: once(40),
      },
      models: [{ provider: "p", answered: 1, failed: 1, refused: 0, stopped: 0, firstToken: once(25) }],
      tools: [{ tool: "session_status", success: 1, error: 0, blocked: 0, latency: once(3) }],
    });
  });

  test("do not take the wait of a later attempt for time in the queue", () => {
    const { events, metrics } = world();
    events.emit("turn.measured", measured(2));
    expect(metrics.snapshot().latency.queued.count).toBe(0);
    expect(metrics.snapshot().latency.lease.count).toBe(1);
  });

  test("tell processes that died from those that were asked to end", () => {
    const { events, metrics } = world();
    events.emit("agent.spawned", { pid: 1 });
    events.emit("agent.exited", { pid: 1, code: 0, expected: true });
    events.emit("agent.exited", { pid: 2, code: 1, expected: false });
    expect(metrics.snapshot().pool).toMatchObject({ spawned: 1, exited: 2, died: 1 });
  });

  test("count what was prepared for messages that may come, and how much of it was used", async () => {
    const { events, metrics } = world();
    for (const used of [false, false, true]) events.emit("agent.prepared", { used });
    expect(metrics.snapshot().pool).toMatchObject({ prepared: 2, preparedUsed: 1 });
    const { text } = await metrics.prometheus();
    expect(text).toContain("pi_gateway_agents_prepared_total 2");
    expect(text).toContain("pi_gateway_agents_prepared_used_total 1");
  });

  test("tell what became of the slots of jobs, those nobody was there for included, when they are over", async () => {
    const { events, metrics } = world();
    const run = { id: "run_1", jobId: "tea", slot: 0, manual: false, reason: null, attempt: 1, startedAt: 0, ms: 1 };
    for (const status of ["running", "ran", "waiting", "skipped", "missed", "missed", "failed"] as const)
      events.emit("cron.run", { run: { ...run, status, turnId: null, retryAt: null } });
    expect(metrics.snapshot().jobs).toEqual({ ran: 1, failed: 1, skipped: 1, missed: 2 });
    expect((await metrics.prometheus()).text).toContain('pi_gateway_job_runs_total{status="missed"} 2');
  });

  test("count a rejected call once, although people are shown that it is rejected and then that it has ended", () => {
    const { events, metrics } = world();
    const rejected = { ...callEnded("bash"), status: "blocked", ms: 0 } as const;
    events.emit("turn.tool", { ...toolEnded("bash"), status: "running" });
    events.emit("turn.tool", { ...toolEnded("bash"), status: "blocked" });
    events.emit("tool_execution_end", rejected);
    events.emit("turn.tool", { ...toolEnded("bash"), status: "blocked", output: "no" });
    expect(metrics.snapshot().tools).toMatchObject([
      { tool: "bash", success: 0, error: 0, blocked: 1, latency: { count: 0 } },
    ]);
  });

  test("name a limited number of tools and count the rest together", () => {
    const { events, metrics } = world();
    for (let n = 0; n < 500; n++) events.emit("tool_execution_end", callEnded(`invented_${n}`));
    events.emit("tool_execution_end", callEnded("invented_0"));
    const { tools } = metrics.snapshot();
    expect(tools).toHaveLength(MAX_TOOLS + 1);
    expect(tools[0]).toMatchObject({ tool: "invented_0", success: 2 });
    expect(tools.at(-1)).toMatchObject({ tool: "other", success: 500 - MAX_TOOLS });
  });
});

describe("the Prometheus text", () => {
  test("has every count, gauge and histogram, also of what happened before it was first asked for", async () => {
    const { events, metrics } = world();
    events.emit("turn.measured", measured());
    events.emit("turn.ended", ended);
    events.emit("tool_execution_end", callEnded('odd"name\n'));
    await metrics.prometheus();
    const { text, contentType } = await metrics.prometheus();
    expect(contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = text.split("\n");
    for (const line of [
      'pi_gateway_turns_total{outcome="done"} 1',
      'pi_gateway_tokens_total{kind="output"} 5',
      'pi_gateway_agents{state="busy"} 2',
      "pi_gateway_queue_waiting 5",
      "pi_gateway_uptime_seconds 61",
      'pi_gateway_node_info{node="gateway_1",name="host:1",version="1.2.3"} 1',
      "# TYPE pi_gateway_latency_seconds histogram",
      'pi_gateway_latency_seconds_bucket{stage="first_token",le="0.05"} 0',
      'pi_gateway_latency_seconds_bucket{stage="first_token",le="0.1"} 1',
      'pi_gateway_latency_seconds_bucket{stage="first_token",le="+Inf"} 1',
      'pi_gateway_latency_seconds_sum{stage="first_token"} 0.09',
      'pi_gateway_latency_seconds_count{stage="answer"} 0',
      'pi_gateway_tool_calls_total{tool="odd\\"name\\n",status="success"} 1',
    ])
      expect(lines).toContain(line);
  });

  test("names no conversation, no person and nothing that was said", async () => {
    const { events, metrics } = world();
    events.emit("message", shown("assistant"));
    events.emit("turn.measured", measured());
    events.emit("turn.ended", ended);
    const all = `${(await metrics.prometheus()).text}${JSON.stringify(metrics.snapshot())}`;
    for (const word of ["secret-name", "turn_1", "what was said"]) expect(all).not.toContain(word);
  });
});
