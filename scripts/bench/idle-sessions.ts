/** What ten thousand stored sessions cost while nobody speaks, and whether anything gets slower because of them. */
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { cpuSeconds, rssMb } from "./parts/process-cost.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, round, timed } from "./parts/stats.ts";
import { storeTurns } from "./parts/stored-turns.ts";

export interface IdleFigures {
  readonly empty: Rest;
  readonly full: Rest;
}

interface Rest {
  readonly rssMb: number;
  /** Share of one core while nobody speaks. */
  readonly cpuPercent: number;
  readonly listMs: number;
  readonly searchMs: number;
  readonly turnMs: number;
}

const REST_MS = 4_000;
const ASKS = 40;

export async function measureIdle(sessions: number): Promise<IdleFigures> {
  await using provider = await startProviderProcess({ echo: true });
  const config = benchConfig(provider.baseUrl);
  await using small = await tempHome();
  await using large = await tempHome();
  await storeTurns(small.path, { sessions: 1, turnsEach: 1, callsPerTurn: 0 });
  await storeTurns(large.path, { sessions, turnsEach: 1, callsPerTurn: 0 });
  const measure = async (home: string): Promise<Rest> => {
    const gateway = await startGatewayProcess({ home, config });
    try {
      return await atRest(gateway);
    } finally {
      await gateway.stop();
    }
  };
  return { empty: await measure(small.path), full: await measure(large.path) };
}

async function atRest(gateway: GatewayProcess): Promise<Rest> {
  using client = await openLoadClient(gateway);
  const turns: number[] = [];
  for (let at = 0; at < ASKS; at++)
    turns.push(await timed(() => client.ask("agent:default:webchat:dm:awake", `turn ${at}`)));
  const read = (path: string) => async () => (await gateway.fetch(path)).text();
  const lists: number[] = [];
  const searches: number[] = [];
  for (let at = 0; at < ASKS; at++) {
    lists.push(await timed(read("/api/sessions?limit=50")));
    searches.push(await timed(read(`/api/sessions?limit=50&search=session%20${at}7`)));
  }
  await Bun.sleep(REST_MS); // what was touched for the measurement settles
  const before = cpuSeconds(gateway.pid);
  await Bun.sleep(REST_MS);
  const used = cpuSeconds(gateway.pid) - before;
  return {
    rssMb: rssMb(gateway.pid),
    cpuPercent: round((used / (REST_MS / 1_000)) * 100),
    listMs: median(lists),
    searchMs: median(searches),
    turnMs: median(turns),
  };
}

export const idleSessions: Scenario = {
  name: "idle-sessions",
  async measure(scale) {
    const sessions = Math.max(1_000, Math.round(10_000 * scale));
    const { empty, full } = await measureIdle(sessions);
    const extra = round(full.rssMb - empty.rssMb);
    return [
      { what: `${sessions} stored sessions: memory more than with one`, value: extra, unit: "MB" },
      { what: "  for each session", value: round((extra * 1_024) / sessions), unit: "KB" },
      { what: "  processor while nobody speaks", value: full.cpuPercent, unit: "%", ...atMost(1) },
      { what: "  list of sessions, p50", value: full.listMs, unit: "ms", ...atMost(50) },
      { what: "  search in them, p50", value: full.searchMs, unit: "ms", ...atMost(50) },
      { what: "  turn with one stored session, p50", value: empty.turnMs, unit: "ms" },
      { what: "  turn with all of them, p50", value: full.turnMs, unit: "ms" },
    ];
  },
};
