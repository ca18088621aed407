/** Turns per second through a pool of two against two bare pi processes driven directly, taking turns in one run. */
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { givenBy, startSamePi } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atLeast, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { startStandIn } from "./parts/stand-in.ts";
import { median, round } from "./parts/stats.ts";

export interface ThroughputFigures {
  readonly barePerSecond: number;
  readonly gatewayPerSecond: number;
  readonly share: number;
  /** Of something that does nothing but store and pass on. */
  readonly mostShare: number;
}

const LANES = 2;
const BLOCK_TURNS = 25;
/** Blocks of one conversation; then both sides begin another one, because a turn costs more the more was said before it. */
const CONVERSATION = 4;
/** Blocks before the code of both sides counts as used: they are processes that live for days. */
const WARM_UP = 3 * CONVERSATION;

type Turn = (text: string) => Promise<unknown>;

/** Each of two lanes has its own process and its own conversation, and speaks as soon as it was answered. */
export async function measureThroughput(blocks: number): Promise<ThroughputFigures> {
  await using provider = await startProviderProcess({ echo: true });
  await using one = await tempHome();
  await using other = await tempHome();
  const pool = { min: LANES, max: LANES };
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl, pool) });
  const given = await givenBy(gateway, provider);
  await using barePi = await startSamePi(one.path, provider, given);
  await using otherBarePi = await startSamePi(other.path, provider, given);
  await using standIn = await startStandIn({ baseUrl: provider.baseUrl, given, lanes: LANES });
  using client = await openLoadClient(gateway);
  const bare: readonly Turn[] = [barePi.turn, otherBarePi.turn];
  const through = (conversation: number): readonly Turn[] =>
    ["one", "other"].map(
      (name): Turn =>
        (text) =>
          client.ask(`agent:default:webchat:dm:${name}-${conversation}`, text),
    );
  const rates = { bare: [] as number[], standIn: [] as number[], through: [] as number[] };
  for (let block = 0; block < WARM_UP + blocks; block++) {
    const lanes = through(Math.floor(block / CONVERSATION));
    if (block % CONVERSATION === 0) {
      await Promise.all([barePi.anew(), otherBarePi.anew(), standIn.anew()]);
      await Promise.all([...bare, ...standIn.lanes, ...lanes].map((turn) => turn("hello"))); // each finds its session
    }
    for (const [side, turns] of [
      ["bare", bare],
      ["standIn", standIn.lanes],
      ["through", lanes],
    ] as const) {
      const rate = await rateOf(turns, block);
      if (block >= WARM_UP) rates[side].push(rate);
    }
  }
  const [barePerSecond, gatewayPerSecond] = [median(rates.bare), median(rates.through)];
  const share = round(gatewayPerSecond / barePerSecond);
  return { barePerSecond, gatewayPerSecond, share, mostShare: round(median(rates.standIn) / barePerSecond) };
}

async function rateOf(lanes: readonly Turn[], block: number): Promise<number> {
  const started = performance.now();
  await Promise.all(
    lanes.map(async (turn) => {
      for (let at = 0; at < BLOCK_TURNS; at++) await turn(`turn ${block}.${at}`);
    }),
  );
  return (lanes.length * BLOCK_TURNS) / ((performance.now() - started) / 1_000);
}

export const throughput: Scenario = {
  name: "throughput",
  async measure(scale) {
    const figures = await measureThroughput(Math.max(3, Math.round(12 * scale)));
    return [
      { what: "turns per second, two bare pi", value: figures.barePerSecond, unit: "/s" },
      { what: "turns per second, pool of 2", value: figures.gatewayPerSecond, unit: "/s" },
      { what: "  as a share of bare pi", value: figures.share, unit: "x", ...atLeast(0.7) },
      { what: "  the share of what only stores and passes on", value: figures.mostShare, unit: "x" },
    ];
  },
};
