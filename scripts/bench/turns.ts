/** What the gateway adds to a turn: the same pi and the same instant provider, bare and through the gateway, taking turns in one run. */
import { createChatClient } from "../../src/testing/whole/chat-client.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { startBarePi, toolsOf } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { round, type Spread, spread, timed } from "./parts/stats.ts";

export interface TurnFigures {
  readonly bareMs: Spread;
  readonly gatewayMs: Spread;
  readonly addedMs: { readonly p50: number; readonly p99: number };
}

const WARM_UP = 20;
/** Turns in a row on each side before the other has its go: noise hits both, and neither is measured only with cold caches. */
const BLOCK = 10;

export async function measureTurns(rounds: number): Promise<TurnFigures> {
  await using provider = await startProviderProcess();
  await using folder = await tempHome();
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl) });
  await using bare = await startBarePi(folder.path, provider.baseUrl, await toolsOf(gateway));
  const client = createChatClient("agent:default:webchat:dm:bench");
  await client.connect(gateway.url, gateway.token);
  let replies = 0;
  const throughGateway = async (text: string): Promise<void> => {
    const wanted = ++replies;
    void client.send(text);
    await client.until((shown) => shown.filter(({ role }) => role === "assistant").length >= wanted);
  };

  const bareMs: number[] = [];
  const gatewayMs: number[] = [];
  for (let n = 0; n < rounds + WARM_UP; n += BLOCK) {
    const [bareBlock, gatewayBlock] = [await block(bare.turn, n), await block(throughGateway, n)];
    if (n < WARM_UP) continue;
    bareMs.push(...bareBlock);
    gatewayMs.push(...gatewayBlock);
  }
  client.disconnect();
  const [one, other] = [spread(bareMs), spread(gatewayMs)];
  return {
    bareMs: one,
    gatewayMs: other,
    addedMs: { p50: round(other.p50 - one.p50), p99: round(other.p99 - one.p99) },
  };
}

async function block(turn: (text: string) => Promise<void>, from: number): Promise<number[]> {
  const samples: number[] = [];
  for (let n = from; n < from + BLOCK; n++) samples.push(await timed(() => turn(`turn ${n}`)));
  return samples;
}

export const turns: Scenario = {
  name: "turns",
  async measure(scale) {
    const { bareMs, gatewayMs, addedMs } = await measureTurns(Math.round(300 * scale));
    return [
      { what: "turn, bare pi, p50", value: bareMs.p50, unit: "ms" },
      { what: "turn, bare pi, p99", value: bareMs.p99, unit: "ms" },
      { what: "turn, through the gateway, p50", value: gatewayMs.p50, unit: "ms" },
      { what: "turn, through the gateway, p99", value: gatewayMs.p99, unit: "ms" },
      { what: "  added by the gateway, p50", value: addedMs.p50, unit: "ms", ...atMost(3) },
      { what: "  added by the gateway, p99", value: addedMs.p99, unit: "ms", ...atMost(15) },
    ];
  },
};
