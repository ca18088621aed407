/** What it costs to go on in another session: the wait for a process that has it open, with and without a switch, and the whole turn. */
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { spread, type Spread, timed } from "./parts/stats.ts";

export interface SwitchFigures {
  readonly sameLeaseMs: Spread;
  readonly switchedLeaseMs: Spread;
  readonly sameTurnMs: Spread;
  readonly switchedTurnMs: Spread;
}

const WARM_UP = 5;
const PAGE = 200;

/** One process, and sessions of a few turns each: what is measured is the switch, not the reading of a long past. */
export async function measureSwitches(turns: number): Promise<SwitchFigures> {
  await using provider = await startProviderProcess({ echo: true });
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl) });
  using client = await openLoadClient(gateway);
  const ask = (session: string, at: number) => timed(() => client.ask(sessionKey(session), `turn ${at}`));
  const same: number[] = [];
  for (let at = 0; at < turns + WARM_UP; at++) same.push(await ask("same", at));
  const switched: number[] = [];
  for (let at = 0; at < turns + WARM_UP; at++) switched.push(await ask(at % 2 === 0 ? "even" : "odd", at));
  const evenAndOdd = [...(await leasesOf(gateway, "even")), ...(await leasesOf(gateway, "odd"))];
  return {
    sameLeaseMs: spread((await leasesOf(gateway, "same")).slice(WARM_UP)),
    switchedLeaseMs: spread(evenAndOdd),
    sameTurnMs: spread(same.slice(WARM_UP)),
    switchedTurnMs: spread(switched.slice(WARM_UP)),
  };
}

const sessionKey = (name: string): string => `agent:default:webchat:dm:${name}`;

/** Oldest first, from the gateway's own notes of where the time went. */
async function leasesOf(gateway: GatewayProcess, session: string): Promise<readonly number[]> {
  const query = new URLSearchParams({ session: sessionKey(session), limit: String(PAGE) });
  const page = (await (await gateway.fetch(`/api/turns?${query}`)).json()) as {
    items: { spans: { name: string; ms: number }[] }[];
  };
  return page.items
    .toReversed()
    .flatMap(({ spans }) => spans.filter(({ name }) => name === "lease").map(({ ms }) => ms));
}

export const switched: Scenario = {
  name: "switched",
  async measure(scale) {
    const figures = await measureSwitches(Math.round(100 * scale));
    return [
      { what: "wait for a process, same session, p50", value: figures.sameLeaseMs.p50, unit: "ms", ...atMost(1) },
      {
        what: "wait for a process, switched session, p50",
        value: figures.switchedLeaseMs.p50,
        unit: "ms",
        ...atMost(25),
      },
      { what: "wait for a process, switched session, p99", value: figures.switchedLeaseMs.p99, unit: "ms" },
      { what: "turn, same session, p50", value: figures.sameTurnMs.p50, unit: "ms" },
      { what: "turn, switched session, p50", value: figures.switchedTurnMs.p50, unit: "ms" },
    ];
  },
};
