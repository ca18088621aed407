/** What years of use cost: start, turn, lists and searches with everything that was ever said still stored, beside an empty home. By name only. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Line, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, round, timed } from "./parts/stats.ts";
import { type Stored, storeTurns } from "./parts/stored-turns.ts";

const WHOLE = { sessions: 100_000, turnsEach: 5, callsPerTurn: 2 };
const STARTS = 5;
const ASKS = 60;
const WARM_UP = 10;
const BYTES_PER_MB = 1024 * 1024;

interface Home {
  readonly startMs: number;
  readonly turnMs: number;
  readonly reads: Readonly<Record<string, number>>;
}

/** What a person who looks for something asks the gateway. */
const READS: Readonly<Record<string, (at: number) => string>> = {
  "list of conversations": () => "/api/sessions?limit=50",
  "conversations found by title": (at) => `/api/sessions?limit=50&search=session%20${at}7`,
  "messages found by a word": (at) => `/api/search?q=word${at * 97}&limit=20`,
  "messages found by a word of every one": () => "/api/search?q=session&limit=20",
  "list of tool calls": () => "/api/tool-calls?limit=50",
  "tool calls of one tool": (at) => `/api/tool-calls?limit=50&tool=tool_${at % 2}`,
};

export const years: Scenario = {
  name: "years",
  async measure(scale) {
    const stored = { ...WHOLE, sessions: Math.round(WHOLE.sessions * scale) };
    await using provider = await startProviderProcess({ echo: true });
    const config = benchConfig(provider.baseUrl);
    await using small = await tempHome();
    await using large = await tempHome();
    await storeTurns(small.path, { sessions: 1, turnsEach: 1, callsPerTurn: 1 });
    const fillMs = await timed(() => storeTurns(large.path, stored));
    const measured = await measureBoth({ empty: small.path, full: large.path }, config);
    const mb = statSync(join(large.path, "gateway.db")).size / BYTES_PER_MB;
    return linesOf(stored, { ...measured, fillMs, mb });
  },
};

type Homes = Readonly<Record<"empty" | "full", string>>;

/** One after the other and again, so that what else the machine does falls on both. */
async function measureBoth(
  homes: Homes,
  config: ReturnType<typeof benchConfig>,
): Promise<Readonly<Record<"empty" | "full", Home>>> {
  const starts: Record<"empty" | "full", number[]> = { empty: [], full: [] };
  for (let at = 0; at < STARTS; at++)
    for (const which of ["empty", "full"] as const) {
      const began = performance.now();
      await using _gateway = await startGatewayProcess({ home: homes[which], config });
      starts[which].push(performance.now() - began);
    }
  await using empty = await startGatewayProcess({ home: homes.empty, config });
  await using full = await startGatewayProcess({ home: homes.full, config });
  const turns = await measureTurns({ empty, full });
  const home = async (which: "empty" | "full", gateway: GatewayProcess): Promise<Home> => ({
    startMs: median(starts[which]),
    turnMs: median(turns[which]),
    reads: await measureReads(gateway),
  });
  return { empty: await home("empty", empty), full: await home("full", full) };
}

async function measureTurns(
  gateways: Readonly<Record<"empty" | "full", GatewayProcess>>,
): Promise<Readonly<Record<"empty" | "full", readonly number[]>>> {
  using empty = await openLoadClient(gateways.empty);
  using full = await openLoadClient(gateways.full);
  const clients = { empty, full };
  const turns: Record<"empty" | "full", number[]> = { empty: [], full: [] };
  for (let at = 0; at < WARM_UP + ASKS; at++)
    for (const which of ["empty", "full"] as const) {
      const ms = await timed(() => clients[which].ask("agent:default:webchat:dm:awake", `turn ${at}`));
      if (at >= WARM_UP) turns[which].push(ms);
    }
  return turns;
}

async function measureReads(gateway: GatewayProcess): Promise<Home["reads"]> {
  const reads: Record<string, number> = {};
  for (const [name, path] of Object.entries(READS)) {
    const samples: number[] = [];
    for (let at = 0; at < ASKS; at++) samples.push(await timed(() => readWhole(gateway, path(at))));
    reads[name] = median(samples);
  }
  return reads;
}

async function readWhole(gateway: GatewayProcess, path: string): Promise<void> {
  const response = await gateway.fetch(path);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`);
}

function linesOf(
  { sessions, turnsEach, callsPerTurn }: Stored,
  {
    empty,
    full,
    fillMs,
    mb,
  }: { readonly empty: Home; readonly full: Home; readonly fillMs: number; readonly mb: number },
): readonly Line[] {
  const turns = sessions * turnsEach;
  return [
    {
      what: `${turns * 2} messages in ${sessions} conversations, ${turns * callsPerTurn} tool calls`,
      value: round(mb),
      unit: "MB",
    },
    { what: "  stored per second through the store's doors", value: round(turns / (fillMs / 1_000)), unit: "turns" },
    { what: "  start with an empty home", value: empty.startMs, unit: "ms" },
    { what: "  start beside it", value: round(full.startMs / empty.startMs), unit: "×", ...atMost(1.5) },
    { what: "  turn with an empty home", value: empty.turnMs, unit: "ms" },
    { what: "  turn beside it", value: round(full.turnMs / empty.turnMs), unit: "×", ...atMost(1.1) },
    ...Object.entries(full.reads).map(([name, value]) => ({ what: `  ${name}`, value, unit: "ms", ...atMost(50) })),
  ];
}
