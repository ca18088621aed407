/**
 * What 923 tools cost a turn: the same turn in a gateway with the built-in tools alone, in one with 923 more behind `tool_search`, and in one
 * that offers all of them. The three take turns, so that noise hits each alike.
 */
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { MANY_TOOLS, MANY_TOOLS_PLUGIN, putManyTools } from "../../src/testing/tools/many-tools.ts";
import { type LoadClient, openLoadClient } from "../../src/testing/whole/load-client.ts";
import { waitFor, WHOLE_WAIT_MS } from "../../src/testing/wait-for.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, type Spread, spread, timed } from "./parts/stats.ts";

interface ManyToolsFigures {
  readonly fewMs: Spread;
  readonly searchMs: Spread;
  readonly allMs: Spread;
}

const BLOCK = 5;
const WARM_UP = 4;
/** More than there are: nothing is behind the search. */
const OFFER_ALL = { searchAbove: 100_000 };

async function measureManyTools(blocks: number): Promise<ManyToolsFigures> {
  await using provider = await startProviderProcess();
  await using few = await openSide(provider.baseUrl, null);
  await using search = await openSide(provider.baseUrl, {});
  await using all = await openSide(provider.baseUrl, OFFER_ALL);
  const samples = { few: [] as number[], search: [] as number[], all: [] as number[] };
  for (let block = 0; block < WARM_UP + blocks; block++) {
    for (const [name, side] of Object.entries({ few, search, all }) as [keyof typeof samples, Side][]) {
      const times = await side.turns(block);
      if (block >= WARM_UP) samples[name].push(...times);
    }
  }
  return { fewMs: spread(samples.few), searchMs: spread(samples.search), allMs: spread(samples.all) };
}

interface Side extends AsyncDisposable {
  /** How long each turn of a block took. */
  turns(block: number): Promise<readonly number[]>;
}

/** `tools` null: without the plugin. */
async function openSide(baseUrl: string, tools: Readonly<Record<string, unknown>> | null): Promise<Side> {
  const home = await tempHome();
  if (tools) await putManyTools(home.path);
  const plugins = { enabled: tools ? [MANY_TOOLS_PLUGIN] : [] };
  const config = { ...benchConfig(baseUrl), plugins, tools: tools ?? {} };
  const gateway = await startGatewayProcess({ home: home.path, config });
  await waitFor(
    "all tools are registered",
    () => toolCount(gateway),
    (count) => count > (tools ? MANY_TOOLS : 0),
    {
      withinMs: WHOLE_WAIT_MS,
    },
  );
  const client: LoadClient = await openLoadClient(gateway);
  return {
    async turns(block) {
      const times: number[] = [];
      for (let n = 0; n < BLOCK; n++)
        times.push(await timed(() => client.ask("agent:default:webchat:dm:bench", `turn ${block}.${n}`)));
      return times;
    },
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await gateway[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

async function toolCount(gateway: GatewayProcess): Promise<number> {
  const { tools } = (await (await gateway.fetch("/api/tools")).json()) as { tools: readonly unknown[] };
  return tools.length;
}

export const manyTools: Scenario = {
  name: "many-tools",
  async measure(scale) {
    const { fewMs, searchMs, allMs } = await measureManyTools(Math.max(4, Math.round(20 * scale)));
    return [
      { what: "turn with the built-in tools, p50", value: fewMs.p50, unit: "ms" },
      { what: `turn with ${MANY_TOOLS} more behind tool_search, p50`, value: searchMs.p50, unit: "ms" },
      {
        what: "  times a turn with the built-in tools",
        value: round(searchMs.p50 / fewMs.p50),
        unit: "x",
        ...atMost(2),
      },
      { what: `turn with ${MANY_TOOLS} more, all offered, p50`, value: allMs.p50, unit: "ms" },
    ];
  },
};
