/** Many sessions of one person through a few processes: everything answered in order, how fast, and what the gateway's memory does meanwhile. */
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { rssMb } from "./parts/process-cost.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, spread, type Spread } from "./parts/stats.ts";

export interface LoadSize {
  readonly sessions: number;
  readonly messages: number;
  /** Processes. */
  readonly pool: number;
  /** Messages that a session sends at once before it waits for their answers. */
  readonly burst: number;
  /** After so many answers memory is read: once early, once at the end. */
  readonly readMemoryAt: readonly [number, number];
  /** False: what it holds at rest is of no interest. */
  readonly rest?: boolean;
}

export interface LoadFigures {
  readonly answered: number;
  readonly outOfOrder: number;
  readonly perSecond: number;
  readonly latencyMs: Spread;
  readonly rssMb: readonly [number, number];
  /** When nobody has spoken for a few seconds. */
  readonly restedRssMb: number;
}

const CONNECTIONS = 4;
/** Long enough for the collector to have had its turn. */
const REST_MS = 8_000;

export async function measureLoad(size: LoadSize): Promise<LoadFigures> {
  await using provider = await startProviderProcess({ echo: true });
  const base = benchConfig(provider.baseUrl, { min: size.pool, max: size.pool });
  const queue = { mode: "followup", maxPerSession: size.burst, maxTotal: size.sessions * size.burst };
  await using gateway = await startGatewayProcess({ config: { ...base, queue } });
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openLoadClient(gateway)));
  const memory = createMemory(gateway, size.readMemoryAt);
  const latencies: number[] = [];
  const started = performance.now();
  const talk = async (number: number): Promise<void> => {
    const client = clients[number % CONNECTIONS];
    const session = `agent:default:webchat:dm:load-${number}`;
    for (let sent = 0; sent < size.messages; sent += size.burst) {
      const texts = Array.from(
        { length: Math.min(size.burst, size.messages - sent) },
        (_, at) => `${number}.${sent + at}`,
      );
      await Promise.all(
        texts.map(async (text) => {
          const from = performance.now();
          await client?.ask(session, text);
          latencies.push(performance.now() - from);
          memory.answered();
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: size.sessions }, (_, number) => talk(number)));
  const seconds = (performance.now() - started) / 1_000;
  for (const client of clients) client[Symbol.dispose]();
  if (size.rest ?? true) await Bun.sleep(REST_MS);
  return {
    answered: latencies.length,
    outOfOrder: clients.reduce((sum, client) => sum + client.outOfOrder(), 0),
    perSecond: round(latencies.length / seconds),
    latencyMs: spread(latencies),
    rssMb: memory.read(),
    restedRssMb: rssMb(gateway.pid),
  };
}

function createMemory({ pid }: GatewayProcess, [early, late]: readonly [number, number]) {
  const readings = new Map<number, number>();
  let answers = 0;
  return {
    answered(): void {
      answers++;
      if (answers === early || answers === late) readings.set(answers, rssMb(pid));
    },
    read: () => [readings.get(early) ?? Number.NaN, readings.get(late) ?? Number.NaN] as const,
  };
}

export const load: Scenario = {
  name: "load",
  async measure(scale) {
    const sessions = Math.max(20, Math.round(200 * scale));
    const total = sessions * 20;
    const readMemoryAt = [Math.round(total / 4), total] as const;
    const figures = await measureLoad({ sessions, messages: 20, pool: 4, burst: 4, readMemoryAt });
    const [early, late] = figures.rssMb;
    return [
      { what: `${sessions} sessions, 20 messages each, pool of 4: answered`, value: figures.answered, unit: "" },
      { what: "  not answered", value: total - figures.answered, unit: "", ...atMost(0) },
      { what: "  out of order", value: figures.outOfOrder, unit: "", ...atMost(0) },
      { what: "  turns per second, every turn in another session", value: figures.perSecond, unit: "/s" },
      { what: `  memory of the gateway at message ${readMemoryAt[0]}`, value: early, unit: "MB" },
      { what: `  memory of the gateway at message ${readMemoryAt[1]}`, value: late, unit: "MB" },
      { what: "  memory of the gateway at rest again", value: figures.restedRssMb, unit: "MB" },
      { what: "  growth in between", value: round((late / early - 1) * 100), unit: "%", ...atMost(5) },
    ];
  },
};
