/** Spans for a collector: what is sent for a turn, in the form of OTLP, without a word of what was said; and a collector that is slow, full or gone. */
import { describe, expect, test } from "bun:test";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import { secret } from "../../kit/secret.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { advanceUntil } from "../../testing/wait-for.ts";
import { createEvents } from "../events.ts";
import { startExporter } from "./exporter.ts";
import { toolSpan } from "./genai-spans.ts";
import { startOtel } from "./otel.ts";

const SESSION = "agent:helper:telegram:dm:123456789" as SessionKey;
const TURN = "turn_1" as TurnId;
const USAGE = { inputTokens: 120, cachedTokens: 100, outputTokens: 7, costUsd: 0.0125 };
const SAID = "the harbour at night";

interface SpanJson {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number };
}

/** A collector on loopback that answers with the given codes, one after the other, and then with 200. */
function collector(...codes: readonly number[]) {
  const answers = [...codes];
  const bodies: string[] = [];
  const headers: Headers[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const code = answers.shift() ?? 200;
      const body = await request.text();
      headers.push(request.headers);
      if (code === 200) bodies.push(body);
      return Response.json({}, { status: code });
    },
  });
  const clock = createFakeClock();
  const log = recordingLog();
  const options = {
    url: `http://127.0.0.1:${server.port}/v1/traces`,
    headers: { "X-Key": secret("of-the-collector") },
    resource: { serviceName: "my-gateway", version: "1.2.3", instanceId: "gateway_1" },
  };
  const deps = { clock, log, resolve: async () => ["127.0.0.1"] };
  return {
    clock,
    log,
    headers,
    deps,
    options,
    spans: () => bodies.flatMap(spansIn),
    bodies: () => bodies,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

interface TracesJson {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: SpanJson["attributes"] };
    readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly SpanJson[] }[];
  }[];
}

/** Refuses whatever OTLP's JSON does not have. */
function spansIn(body: string): readonly SpanJson[] {
  const { resourceSpans, ...more } = JSON.parse(body) as TracesJson;
  expect(more).toEqual({});
  return resourceSpans.flatMap(({ resource, scopeSpans, ...others }) => {
    expect(others).toEqual({});
    checkAttributes(resource.attributes);
    return scopeSpans.flatMap(({ scope, spans }) => {
      expect(scope).toEqual({ name: "pi-gateway", version: "1.2.3" });
      for (const span of spans) checkSpan(span);
      return spans;
    });
  });
}

const NAMES = ["traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"];

function checkSpan(span: SpanJson): void {
  expect(Object.keys(span).filter((key) => ![...NAMES, "attributes", "status"].includes(key))).toEqual([]);
  expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
  if (span.parentSpanId !== undefined) expect(span.parentSpanId).toMatch(/^[0-9a-f]{16}$/);
  expect([1, 3]).toContain(span.kind);
  for (const time of [span.startTimeUnixNano, span.endTimeUnixNano]) expect(time).toMatch(/^\d{19}$/);
  expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  checkAttributes(span.attributes);
}

function checkAttributes(attributes: SpanJson["attributes"]): void {
  for (const { key, value, ...more } of attributes) {
    expect([typeof key, more, Object.keys(value).length]).toEqual(["string", {}, 1]);
    const [kind, held] = Object.entries(value)[0] ?? [];
    if (kind === "intValue") expect(held).toMatch(/^-?\d+$/);
    else
      expect([kind, typeof held]).toBeOneOf([
        ["stringValue", "string"],
        ["doubleValue", "number"],
        ["boolValue", "boolean"],
      ]);
  }
}

function valuesOf({ attributes }: SpanJson): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** One turn with a model call that failed, one that answered, and a tool. */
function playTurn(events: ReturnType<typeof createEvents>): void {
  const call = { turnId: TURN, sessionKey: SESSION, provider: "google", model: "google/gemini-9", retries: 0 };
  const about = { turnId: TURN, sessionKey: SESSION, callId: "call_1", tool: "read_file" };
  events.emit("model.call", {
    ...call,
    startedAt: 1,
    ms: 20,
    firstTokenMs: null,
    outcome: "failed",
    status: 503,
    usage: USAGE,
  });
  events.emit("model.call", {
    ...call,
    startedAt: 30,
    ms: 90.5,
    firstTokenMs: 12.5,
    outcome: "answered",
    status: 200,
    usage: USAGE,
  });
  events.emit("tool_execution_end", {
    ...about,
    status: "error",
    ms: 40,
    background: false,
    params: { path: SAID },
    result: null,
    error: SAID,
  });
  const spans = [
    { name: "queued", startMs: 0, ms: 5 },
    { name: "approval:bash", startMs: 10, ms: 7 },
    { name: "tool:read_file", startMs: 20, ms: 40 },
    { name: "model:gemini-9", startMs: 30, ms: 90 },
  ];
  events.emit("turn.measured", { turnId: TURN, attempt: 1, spans, sinceAcceptedMs: 250 });
  const said = [{ at: 1, principal: "telegram:user:1" as never, name: "Ann", text: SAID, attachments: [] }];
  const reply = [{ kind: "reply", text: SAID }] as const;
  events.emit("turn.recorded", {
    turnId: TURN,
    sessionKey: SESSION,
    role: "owner",
    said,
    reply,
    outcome: "done",
    ms: 240,
    usage: USAGE,
    model: "google/gemini-9",
  });
  events.emit("turn.ended", {
    turnId: TURN,
    sessionKey: SESSION,
    inboxIds: [],
    outcome: "done",
    ms: 240,
    usage: USAGE,
  });
}

async function exportedTurn() {
  const it = collector();
  const events = createEvents({ log: it.log });
  const otel = startOtel({ ...it.deps, events }, it.options);
  playTurn(events);
  await advanceUntil({ clock: it.clock, stepMs: 1_000 }, "the spans", it.bodies, (bodies) => bodies.length > 0);
  await otel[Symbol.asyncDispose]();
  return it;
}

describe("the spans of a turn", () => {
  test("are one trace: the agent, its model calls, its tool calls and its waits, by the GenAI conventions", async () => {
    await using it = await exportedTurn();
    const spans = it.spans();
    const [root] = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      "approval bash",
      "chat gemini-9",
      "chat gemini-9",
      "execute_tool read_file",
      "invoke_agent helper",
      "queued",
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(spans.filter((span) => span !== root).every(({ parentSpanId }) => parentSpanId === root?.spanId)).toBe(true);
    expect(root && valuesOf(root)).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "helper",
      "gen_ai.provider.name": "gcp.gemini",
      "gen_ai.usage.input_tokens": "120",
      "gen_ai.usage.cache_read.input_tokens": "100",
      "gen_ai.usage.output_tokens": "7",
      "pi_gateway.cost_usd": 0.0125,
      "pi_gateway.channel": "telegram",
    });
    expect(Number(BigInt(root?.endTimeUnixNano ?? 0) - BigInt(root?.startTimeUnixNano ?? 0))).toBe(250_000_000);
  });

  test("say what failed", async () => {
    await using it = await exportedTurn();
    const failed = it.spans().filter(({ status }) => status.code === 2);
    expect(failed.map((span) => [span.name, span.kind, valuesOf(span)["error.type"]])).toEqual([
      ["chat gemini-9", 3, "503"],
      ["execute_tool read_file", 1, "error"],
    ]);
  });

  test("hold no text, no argument, and neither the person nor the chat", async () => {
    await using it = await exportedTurn();
    const sent = it.bodies().join("");
    for (const word of [SAID, "harbour", "Ann", "123456789", "telegram:user"]) expect(sent).not.toContain(word);
    expect(it.headers[0]?.get("x-key")).toBe("of-the-collector");
  });
});

const SPAN = toolSpan(
  { turnId: TURN, sessionKey: SESSION, callId: "c", tool: "t", status: "success", ms: 1 },
  1_700_000_000_000,
);

describe("an exporter", () => {
  test("keeps spans while its collector is away, drops and counts what is too much, and never waits", async () => {
    await using it = collector(503, 429);
    const exporter = startExporter(it.deps, it.options);
    for (let at = 0; at < 3_000; at++) exporter.add(SPAN);
    expect(exporter.counts()).toEqual({ sent: 0, dropped: 952 });
    await advanceUntil({ clock: it.clock, stepMs: 1_000 }, "all spans", exporter.counts, ({ sent }) => sent === 2_048);
    expect(it.log.lines.filter(({ words }) => words === "telemetry was dropped").length).toBe(1);
    await exporter[Symbol.asyncDispose]();
  });

  test("gives a batch up that the collector refuses for good", async () => {
    await using it = collector(400);
    const exporter = startExporter(it.deps, it.options);
    exporter.add(SPAN);
    await advanceUntil(
      { clock: it.clock, stepMs: 1_000 },
      "the end of the batch",
      exporter.counts,
      ({ dropped }) => dropped === 1,
    );
    await exporter[Symbol.asyncDispose]();
    expect(it.spans()).toEqual([]);
  });

  test("sends what is left when the gateway stops", async () => {
    await using it = collector();
    const exporter = startExporter(it.deps, it.options);
    exporter.add(SPAN);
    await exporter[Symbol.asyncDispose]();
    expect(it.spans().length).toBe(1);
    expect(it.clock.pending()).toBe(0);
  });
});
