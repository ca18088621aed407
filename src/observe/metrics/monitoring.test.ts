/** The dashboard and the alert rules in examples/monitoring name only metrics and labels that a gateway really writes. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createEvents, createMetrics } from "../index.ts";

const MONITORING = join(import.meta.dir, "../../../examples/monitoring");
const sessionKey = "agent:default:webchat:dm:a" as SessionKey;
const turnId = "turn_1" as TurnId;
const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };

/** What Prometheus would read from a gateway in which a tool and a model were called once. */
async function written(): Promise<string> {
  const events = createEvents({ log: silentLog });
  const metrics = createMetrics({ clock: createFakeClock(), events });
  metrics.registerGauges(() => ({
    uptimeMs: 1,
    pool: { starting: 0, idle: 0, busy: 0, waiting: 0, max: 1 },
    node: { id: "gateway_1", name: "host:1", version: "1.2.3" },
    queue: { waiting: 0, running: 0 },
    outbox: { pending: 0, dead: 0, ambiguous: 0 },
    sockets: 0,
    requests: 0,
    rssBytes: 1,
  }));
  const call = { sessionKey, turnId, callId: "c", tool: "echo", status: "success", ms: 3 } as const;
  events.emit("tool_execution_end", { ...call, background: false, params: {}, result: null, error: null });
  events.emit("model.call", {
    turnId,
    sessionKey,
    provider: "p",
    model: "p/m",
    startedAt: 0,
    ms: 30,
    firstTokenMs: 5,
    status: 200,
    retries: 0,
    outcome: "answered",
    usage,
  });
  return (await metrics.prometheus()).text;
}

/** Labels and their values, by metric. */
function samplesOf(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of text.matchAll(/^(pi_gateway_\w+)(?:\{([^}]*)\})? /gm)) {
    const known = found.get(name) ?? new Set();
    for (const [pair, label = ""] of labels.matchAll(/(\w+)="[^"]*"/g)) known.add(label).add(pair);
    found.set(name, known);
  }
  return found;
}

test.each(["grafana-dashboard.json", "alerts.yaml"])("%s asks only for what is there", async (file) => {
  const text = (await Bun.file(join(MONITORING, file)).text()).replaceAll('\\"', '"');
  const there = samplesOf(await written());
  const asked = [...text.matchAll(/\b(pi_gateway_\w+)(?:\{([^}]*)\})?/g)];
  expect(asked.length).toBeGreaterThan(5);
  for (const [, name = "", filter = ""] of asked) {
    expect([file, name, there.has(name)]).toEqual([file, name, true]);
    for (const [pair] of filter.matchAll(/\w+="[^"]*"/g))
      expect([name, pair, there.get(name)?.has(pair)]).toEqual([name, pair, true]);
  }
  for (const [, labels = "", rest = ""] of text.matchAll(/by \(([\w, ]+)\) \((.*)/g)) {
    const [name = ""] = /pi_gateway_\w+/.exec(rest) ?? [];
    for (const label of labels.split(", "))
      expect([name, label, there.get(name)?.has(label)]).toEqual([name, label, true]);
  }
});

test("every alert says what it means and what to do", async () => {
  const { groups } = Bun.YAML.parse(await Bun.file(join(MONITORING, "alerts.yaml")).text()) as {
    groups: { rules: { alert: string; annotations: { summary: string; description: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { annotations } of rules) expect([annotations.summary, annotations.description].every(Boolean)).toBe(true);
});
