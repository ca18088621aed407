/** Whether a direct message is kept waiting by a flood of group messages: the same question asked in peace and in the flood, in one run. */
import { type InProcess, startInProcess } from "../../src/testing/whole/in-process.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { type ProviderManner, startProviderProcess } from "./parts/provider-process.ts";
import { round, spread, type Spread, timed } from "./parts/stats.ts";

export interface FloodSize {
  /** Processes. */
  readonly pool: number;
  readonly asks: number;
  readonly groups: number;
  /** Kept waiting all the time, over all groups. */
  readonly waiting: number;
  readonly provider: ProviderManner;
}

export interface FloodFigures {
  readonly idleMs: Spread;
  readonly floodedMs: Spread;
  readonly ratio: { readonly p50: number; readonly p95: number };
  readonly groupTurns: number;
  /** Group messages that were answered while a direct one waited for its answer. Does not depend on how fast the machine is. */
  readonly answeredFirst: Spread;
}

const WARM_UP = 3;
/** A person types; asking without a pause would measure a conversation with nobody else in the house. */
const PAUSE_MS = 20;

export async function measureFlood(size: FloodSize): Promise<FloodFigures> {
  await using provider = await startProviderProcess({ echo: true, ...size.provider });
  const queue = { mode: "followup", maxPerSession: size.waiting, maxTotal: size.waiting * 2 };
  const config = { ...benchConfig(provider.baseUrl, { min: size.pool, max: size.pool }), queue };
  await using gateway = await startInProcess(config, process.env);
  const idle = await askAll(gateway, size.asks);
  const flood = startFlood(gateway, size);
  await flood.flowing;
  const flooded = await askAll(gateway, size.asks, flood.answered);
  const groupTurns = await flood.stop();
  const [idleMs, floodedMs] = [spread(idle.map(({ ms }) => ms)), spread(flooded.map(({ ms }) => ms))];
  const ratio = { p50: round(floodedMs.p50 / idleMs.p50), p95: round(floodedMs.p95 / idleMs.p95) };
  return { idleMs, floodedMs, ratio, groupTurns, answeredFirst: spread(flooded.map(({ others }) => others)) };
}

interface Asked {
  readonly ms: number;
  /** Answers that others had meanwhile. */
  readonly others: number;
}

async function askAll(gateway: InProcess, asks: number, answered = () => 0): Promise<readonly Asked[]> {
  const samples: Asked[] = [];
  for (let at = 0; at < asks + WARM_UP; at++) {
    const before = answered();
    const ms = await timed(() => gateway.ask({ text: `question ${at}`, chat: "dm", scope: "dm" }));
    samples.push({ ms, others: answered() - before });
    await Bun.sleep(PAUSE_MS);
  }
  return samples.slice(WARM_UP);
}

/** As many group messages as there is room for, and another one for each that was answered. */
function startFlood(gateway: InProcess, { pool, groups, waiting }: FloodSize) {
  const flowing = Promise.withResolvers<void>();
  let answered = 0;
  let over = false;
  const keepTalking = async (number: number): Promise<void> => {
    for (let at = 0; !over; at++) {
      await gateway.ask({ text: `group ${number}.${at}`, chat: `group-${number % groups}`, scope: "group" });
      if (++answered >= pool) flowing.resolve();
    }
  };
  const talking = Promise.all(Array.from({ length: waiting }, (_, number) => keepTalking(number)));
  return {
    flowing: flowing.promise,
    answered: () => answered,
    async stop(): Promise<number> {
      const counted = answered;
      over = true;
      await talking;
      return counted;
    },
  };
}

export const dmFlood: Scenario = {
  name: "dm-flood",
  async measure(scale) {
    const asks = Math.max(10, Math.round(60 * scale));
    const thinking = await measureFlood({ pool: 4, asks, groups: 20, waiting: 100, provider: { thinkMs: 250 } });
    const instant = await measureFlood({ pool: 4, asks, groups: 20, waiting: 100, provider: {} });
    return [
      { what: "direct message in peace, model thinks 250 ms, p50", value: thinking.idleMs.p50, unit: "ms" },
      { what: "  in a flood of 100 waiting group messages, p50", value: thinking.floodedMs.p50, unit: "ms" },
      { what: "  ratio p50", value: thinking.ratio.p50, unit: "x", ...atMost(2) },
      { what: "  ratio p95", value: thinking.ratio.p95, unit: "x", ...atMost(2) },
      { what: "direct message in peace, model answers at once, p50", value: instant.idleMs.p50, unit: "ms" },
      { what: "  in the same flood, p50", value: instant.floodedMs.p50, unit: "ms" },
    ];
  },
};
