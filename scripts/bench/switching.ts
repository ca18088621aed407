/**
 * Turns per second in 20 sessions over 4 processes, where nearly every turn goes on in another session, against four bare pi that do nothing
 * but switch and answer, taking turns in one run.
 */
import { tempHome } from "../../src/testing/temp-home.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { type BarePi, givenBy, startSamePi } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atLeast, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, round } from "./parts/stats.ts";

export interface SwitchingFigures {
  readonly barePerSecond: number;
  readonly gatewayPerSecond: number;
  readonly share: number;
}

const PROCESSES = 4;
const SESSIONS = 20;
const TURNS_EACH = 3;
/** Blocks before the code of both sides counts as used. */
const WARM_UP = 2;

export async function measureSwitching(blocks: number): Promise<SwitchingFigures> {
  await using provider = await startProviderProcess({ echo: true });
  await using folders = new AsyncDisposableStack();
  const pool = { min: PROCESSES, max: PROCESSES };
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl, pool) });
  const given = await givenBy(gateway, provider);
  const pis: BarePi[] = [];
  for (let at = 0; at < PROCESSES; at++) {
    const { path } = folders.use(await tempHome());
    pis.push(folders.use(await startSamePi(path, provider, given)));
  }
  using client = await openLoadClient(gateway);
  const rates = { bare: [] as number[], through: [] as number[] };
  for (let block = 0; block < WARM_UP + blocks; block++) {
    const bare = await rateOf(() => Promise.all(pis.map((pi) => switchAndAnswer(pi, block))));
    const through = await rateOf(() => Promise.all(sessionNames().map((name) => talk(client, name, block))));
    if (block < WARM_UP) continue;
    rates.bare.push(bare);
    rates.through.push(through);
  }
  const [barePerSecond, gatewayPerSecond] = [median(rates.bare), median(rates.through)];
  return { barePerSecond, gatewayPerSecond, share: round(gatewayPerSecond / barePerSecond) };
}

const sessionNames = (): readonly string[] => Array.from({ length: SESSIONS }, (_, at) => `switching-${at}`);

/** Its share of the sessions, one after the other, as often as each has a turn. */
async function switchAndAnswer(pi: BarePi, block: number): Promise<void> {
  for (let turn = 0; turn < TURNS_EACH; turn++) {
    for (let session = 0; session < SESSIONS / PROCESSES; session++) {
      await pi.open(`switching-${session}`);
      await pi.turn(`turn ${block}.${turn}`);
    }
  }
}

/** Each session speaks as soon as it was answered. */
async function talk(client: Awaited<ReturnType<typeof openLoadClient>>, name: string, block: number): Promise<void> {
  for (let turn = 0; turn < TURNS_EACH; turn++)
    await client.ask(`agent:default:webchat:dm:${name}`, `turn ${block}.${turn}`);
}

async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (SESSIONS * TURNS_EACH) / ((performance.now() - started) / 1_000);
}

export const switching: Scenario = {
  name: "switching",
  async measure(scale) {
    const figures = await measureSwitching(Math.max(3, Math.round(8 * scale)));
    return [
      { what: "turns per second, 20 sessions over four bare pi", value: figures.barePerSecond, unit: "/s" },
      { what: "turns per second, 20 sessions over a pool of 4", value: figures.gatewayPerSecond, unit: "/s" },
      { what: "  as a share of bare pi that is switched", value: figures.share, unit: "x", ...atLeast(0.8) },
    ];
  },
};
