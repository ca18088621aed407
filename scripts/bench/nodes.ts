/**
 * What Postgres costs a turn beside SQLite, and how many turns a second one, two and three gateways on one database give. Gateways, agents,
 * Postgres and who asks share one machine, so a model that answers at once shows the machine's limit, and one that thinks shows the gateways'.
 */
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { type LoadClient, openLoadClient } from "../../src/testing/whole/load-client.ts";
import { startPostgres } from "../../src/testing/postgres/server.ts";
import { givenBy, startSamePi } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import type { Line, Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { startStandIn } from "./parts/stand-in.ts";
import { median, round, spread, timed } from "./parts/stats.ts";
import { tempHome } from "../../src/testing/temp-home.ts";

/** As an owner would run it: a commit is on the disk when it returns. */
const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
const SECRET = "a-secret-of-the-bench-4kQ9tXw2";
const MOST_GATEWAYS = 3;
const PROCESSES_EACH = 2;
const SESSIONS = 18;
const THINK_MS = 500;
const BLOCK = 10;
/** Blocks of one conversation, and those before the code of all sides counts as used. */
const [CONVERSATION, WARM_UP] = [10, 20];

type Turn = (text: string) => Promise<unknown>;

async function openPostgres() {
  const server = await startPostgres({ settings: DURABLE });
  if (typeof server === "string") throw new Error(server);
  return server;
}

const onPostgres = (baseUrl: string, url: string, processes: number) => ({
  ...benchConfig(baseUrl, { min: processes, max: processes }),
  store: { url, secret: SECRET },
});

/** Beside each other in one run: bare pi, what only stores and passes on, and the gateway, each on both engines. */
async function measureLatency(blocks: number): Promise<Readonly<Record<string, number>>> {
  await using provider = await startProviderProcess({ echo: true });
  await using postgres = await openPostgres();
  await using folder = await tempHome();
  const { baseUrl } = provider;
  await using onFile = await startGatewayProcess({ config: benchConfig(baseUrl) });
  await using onServer = await startGatewayProcess({ config: onPostgres(baseUrl, postgres.url, 1) });
  const given = await givenBy(onFile, provider);
  await using bare = await startSamePi(folder.path, provider, given);
  await using least = await startStandIn({ baseUrl, given, lanes: 1 });
  await using leastOnServer = await startStandIn({ baseUrl, given, lanes: 1, postgres: postgres.url });
  using fileClient = await openLoadClient(onFile);
  using serverClient = await openLoadClient(onServer);
  const asks = (client: LoadClient, conversation: number): Turn => {
    const session = `agent:default:webchat:dm:latency-${conversation}`;
    return (text) => client.ask(session, text);
  };
  const samples: Record<string, number[]> = {};
  for (let block = 0; block < WARM_UP + blocks; block++) {
    const conversation = Math.floor(block / CONVERSATION);
    if (block % CONVERSATION === 0) await Promise.all([bare.anew(), least.anew(), leastOnServer.anew()]);
    const sides: Readonly<Record<string, Turn | undefined>> = {
      bare: bare.turn,
      least: least.lanes[0],
      leastOnServer: leastOnServer.lanes[0],
      onFile: asks(fileClient, conversation),
      onServer: asks(serverClient, conversation),
    };
    for (const [side, turn] of Object.entries(sides)) {
      const taken = await turnsOf(turn, block);
      if (block >= WARM_UP && block % CONVERSATION > 0) (samples[side] ??= []).push(...taken);
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([side, taken]) => [side, spread(taken).p50]));
}

async function turnsOf(turn: Turn | undefined, block: number): Promise<readonly number[]> {
  if (!turn) throw new Error("a side of the measurement is missing");
  const taken: number[] = [];
  for (let at = 0; at < BLOCK; at++) taken.push(await timed(() => turn(`turn ${block}.${at}`)));
  return taken;
}

/** Turns a second with 1, 2 and 3 gateways, one after the other: each has sessions of its own. */
async function measureRates(thinkMs: number, rounds: number): Promise<readonly number[]> {
  await using provider = await startProviderProcess({ echo: true, thinkMs });
  await using postgres = await openPostgres();
  await using all = new AsyncDisposableStack();
  const clients: LoadClient[] = [];
  const rates: number[] = [];
  while (clients.length < MOST_GATEWAYS) {
    const config = onPostgres(provider.baseUrl, postgres.url, PROCESSES_EACH);
    const client = await openLoadClient(all.use(await startGatewayProcess({ config })));
    all.defer(() => client[Symbol.dispose]());
    clients.push(client);
    const talk = (round: number) =>
      Promise.all(
        Array.from({ length: SESSIONS }, (_none, at) =>
          clients[at % clients.length]?.ask(`agent:default:webchat:dm:rate-${clients.length}-${at}`, `turn ${round}`),
        ),
      );
    await talk(0); // each session finds its home, and each process its first session
    const taken: number[] = [];
    for (let round = 1; round <= rounds; round++) taken.push(SESSIONS / ((await timed(() => talk(round))) / 1_000));
    rates.push(median(taken));
  }
  return rates;
}

function rateLines(words: string, rates: readonly number[]): readonly Line[] {
  const [one = Number.NaN] = rates;
  return rates.map((rate, at) => ({
    what: `turns per second, ${words}, ${at + 1} ${at === 0 ? "gateway" : "gateways"} of ${PROCESSES_EACH} processes${at === 0 ? "" : ` (${round(rate / one)} of one)`}`,
    value: rate,
    unit: "/s",
  }));
}

export const nodes: Scenario = {
  name: "nodes",
  async measure(scale) {
    const p50 = await measureLatency(Math.max(CONVERSATION, Math.round(5 * CONVERSATION * scale)));
    const { bare = 0, least = 0, leastOnServer = 0, onFile = 0, onServer = 0 } = p50;
    const rounds = Math.max(3, Math.round(10 * scale));
    return [
      { what: "turn, bare pi, p50", value: bare, unit: "ms" },
      { what: "  added by what only stores and passes on, SQLite", value: round(least - bare), unit: "ms" },
      { what: "  added by what only stores and passes on, Postgres", value: round(leastOnServer - bare), unit: "ms" },
      { what: "  added by the gateway, SQLite", value: round(onFile - bare), unit: "ms" },
      { what: "  added by the gateway, Postgres", value: round(onServer - bare), unit: "ms" },
      ...rateLines("model that answers at once", await measureRates(0, rounds)),
      ...rateLines(`model that takes ${THINK_MS} ms`, await measureRates(THINK_MS, rounds)),
    ];
  },
};
