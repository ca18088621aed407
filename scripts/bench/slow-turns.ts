/** Sixteen conversations at once with a model that takes five seconds: the machine has nothing to do but wait, so they should end together. */
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, round, timed } from "./parts/stats.ts";

const AT_ONCE = 16;
const THINK_MS = 5_000;

export interface SlowTurnFigures {
  readonly oneMs: number;
  /** When each has to wait for a process of its own to start. */
  readonly firstMs: number;
  readonly allMs: number;
}

export async function measureSlowTurns(rounds: number): Promise<SlowTurnFigures> {
  await using provider = await startProviderProcess({ echo: true, thinkMs: THINK_MS });
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl, {}) });
  using client = await openLoadClient(gateway);
  const ask = (session: number, text: string) => client.ask(`agent:default:webchat:dm:slow-${session}`, text);
  const together = (words: string): Promise<number> =>
    timed(() => Promise.all(Array.from({ length: AT_ONCE }, (_, at) => ask(at, `${words} ${at}`))));
  const [one, all]: [number[], number[]] = [[], []];
  await ask(0, "hello");
  const firstMs = round(await together("first"));
  for (let n = 0; n < rounds; n++) {
    one.push(await timed(() => ask(0, `alone ${n}`)));
    all.push(await together(`together ${n}`));
  }
  return { oneMs: median(one), firstMs, allMs: median(all) };
}

export const slowTurns: Scenario = {
  name: "slow-turns",
  async measure(scale) {
    const { oneMs, firstMs, allMs } = await measureSlowTurns(Math.max(2, Math.round(3 * scale)));
    return [
      { what: "one turn with a model that takes 5 s", value: oneMs, unit: "ms" },
      { what: `  ${AT_ONCE} new conversations at once, until the last has ended`, value: firstMs, unit: "ms" },
      { what: `  the same ${AT_ONCE} at once again, until the last has ended`, value: allMs, unit: "ms" },
      { what: "  beside one", value: round(allMs / oneMs), unit: "×", ...atMost(1.2) },
    ];
  },
};
