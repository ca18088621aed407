/**
 * What the gateway adds to a turn: the same pi and the same instant provider, bare and through the gateway, taking turns in one run. Both are
 * processes that live for days, so what has a budget is measured when their code has been used a while; how it begins is told as well.
 */
import { createChatClient } from "../../src/testing/whole/chat-client.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type BarePi, givenBy, startSamePi } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { type StandIn, startStandIn } from "./parts/stand-in.ts";
import { round, type Spread, spread, timed } from "./parts/stats.ts";

export interface TurnFigures {
  readonly bareMs: Spread;
  readonly gatewayMs: Spread;
  readonly addedMs: { readonly p50: number; readonly p99: number };
  /** By something that does nothing but store and pass on. */
  readonly leastMs: number;
}

/** Turns in a row on each side before the other has its go: noise hits both, and neither is measured only with cold caches. */
const BLOCK = 10;
/** Blocks of one conversation. The next one begins anew on both sides, because a turn costs more the more was said before it. */
const CONVERSATION = 10;
/** Conversations before the code of both sides counts as used. */
const WARM_UP = 5;

/** `conversations` after the warm-up. */
export async function measureTurns(
  conversations: number,
): Promise<{ readonly early: TurnFigures; readonly warm: TurnFigures }> {
  await using provider = await startProviderProcess();
  await using folder = await tempHome();
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl) });
  const given = await givenBy(gateway, provider);
  await using bare = await startSamePi(folder.path, provider, given);
  await using standIn = await startStandIn({ baseUrl: provider.baseUrl, given, lanes: 1 });
  const early = noSamples();
  const warm = noSamples();
  for (let n = 0; n < WARM_UP + conversations; n++) {
    const samples = await talk({ bare, standIn, gateway }, `bench-${n}`);
    const kept = n < 2 ? early : n < WARM_UP ? null : warm;
    for (const side of SIDES) kept?.[side].push(...samples[side]);
  }
  return { early: figuresOf(early), warm: figuresOf(warm) };
}

const SIDES = ["bare", "standIn", "gateway"] as const;
type Samples = Readonly<Record<(typeof SIDES)[number], number[]>>;
const noSamples = (): Samples => ({ bare: [], standIn: [], gateway: [] });

interface Sides {
  readonly bare: BarePi;
  readonly standIn: StandIn;
  readonly gateway: GatewayProcess;
}

/** One conversation on each side. Its first block is not counted: the sides find their sessions in different ways. */
async function talk({ bare, standIn, gateway }: Sides, name: string): Promise<Samples> {
  const client = createChatClient(`agent:default:webchat:dm:${name}`, name);
  await client.connect(gateway.url, gateway.token);
  let replies = 0;
  const throughGateway = async (text: string): Promise<void> => {
    const wanted = ++replies;
    void client.send(text);
    await client.until((shown) => shown.filter(({ role }) => role === "assistant").length >= wanted);
  };
  await Promise.all([bare.anew(), standIn.anew()]);
  const [lane] = standIn.lanes;
  if (!lane) throw new Error("the stand-in has no lane");
  const turn = { bare: bare.turn, standIn: lane, gateway: throughGateway };
  const samples = noSamples();
  for (let n = 0; n <= CONVERSATION; n++) {
    for (const side of SIDES) {
      const one = await block(turn[side], n);
      if (n > 0) samples[side].push(...one);
    }
  }
  client.disconnect();
  return samples;
}

async function block(turn: (text: string) => Promise<void>, at: number): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < BLOCK; n++) samples.push(await timed(() => turn(`turn ${at}.${n}`)));
  return samples;
}

function figuresOf({ bare, standIn, gateway }: Samples): TurnFigures {
  const [bareMs, gatewayMs] = [spread(bare), spread(gateway)];
  const addedMs = { p50: round(gatewayMs.p50 - bareMs.p50), p99: round(gatewayMs.p99 - bareMs.p99) };
  return { bareMs, gatewayMs, addedMs, leastMs: round(spread(standIn).p50 - bareMs.p50) };
}

export const turns: Scenario = {
  name: "turns",
  async measure(scale) {
    const { early, warm } = await measureTurns(Math.max(2, Math.round(5 * scale)));
    return [
      { what: "turn, bare pi, p50", value: warm.bareMs.p50, unit: "ms" },
      { what: "turn, bare pi, p99", value: warm.bareMs.p99, unit: "ms" },
      { what: "turn, through the gateway, p50", value: warm.gatewayMs.p50, unit: "ms" },
      { what: "turn, through the gateway, p99", value: warm.gatewayMs.p99, unit: "ms" },
      { what: "  added by the gateway, p50", value: warm.addedMs.p50, unit: "ms", ...atMost(2.5) },
      { what: "  added by the gateway, p99", value: warm.addedMs.p99, unit: "ms", ...atMost(10) },
      { what: "  added by what only stores and passes on, p50", value: warm.leastMs, unit: "ms" },
      {
        what: "  added by the gateway in the first 200 turns after a start, p50",
        value: early.addedMs.p50,
        unit: "ms",
      },
    ];
  },
};
