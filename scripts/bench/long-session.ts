/** What a turn costs the longer a conversation is, beside bare pi in a conversation of the same length. */
import { tempHome } from "../../src/testing/temp-home.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { givenBy, startSamePi } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import type { Line, Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, timed } from "./parts/stats.ts";

/** The last turns before each of these are measured. */
const LENGTHS = [10, 100, 1_000];
const MEASURED = 10;

export interface LengthFigures {
  readonly turns: number;
  readonly bareMs: number;
  readonly gatewayMs: number;
}

export async function measureLengths(lengths: readonly number[]): Promise<readonly LengthFigures[]> {
  await using provider = await startProviderProcess({ echo: true });
  await using folder = await tempHome();
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl) });
  await using bare = await startSamePi(folder.path, provider, await givenBy(gateway, provider));
  using client = await openLoadClient(gateway);
  const figures: LengthFigures[] = [];
  const samples = { bare: [] as number[], gateway: [] as number[] };
  for (let turn = 1; turn <= Math.max(...lengths); turn++) {
    samples.bare.push(await timed(() => bare.turn(`turn ${turn}`)));
    samples.gateway.push(await timed(() => client.ask("agent:default:webchat:dm:long", `turn ${turn}`)));
    if (!lengths.includes(turn)) continue;
    const last = (all: readonly number[]) => median(all.slice(-MEASURED));
    figures.push({ turns: turn, bareMs: last(samples.bare), gatewayMs: last(samples.gateway) });
  }
  return figures;
}

export const longSession: Scenario = {
  name: "long-session",
  async measure(scale) {
    const figures = await measureLengths(scale < 1 ? LENGTHS.slice(0, 2) : LENGTHS);
    return figures.flatMap(({ turns, bareMs, gatewayMs }): Line[] => [
      { what: `turn after ${turns} turns, bare pi, p50`, value: bareMs, unit: "ms" },
      { what: `turn after ${turns} turns, through the gateway, p50`, value: gatewayMs, unit: "ms" },
    ]);
  },
};
