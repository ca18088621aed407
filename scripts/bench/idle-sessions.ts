/** What ten thousand stored sessions cost while nobody speaks, and whether anything gets slower because of them. */
import type { AgentId, InboxId, SessionKey, TurnId } from "../../src/contracts/ids.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { systemIds } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { openStore } from "../../src/store/index.ts";
import { entry } from "../../src/testing/messages.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { openLoadClient } from "../../src/testing/whole/load-client.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { cpuSeconds, rssMb } from "./parts/process-cost.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { median, round, timed } from "./parts/stats.ts";

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

const DEPS = { clock: systemClock, ids: systemIds, log: silentLog };
const REST_MS = 4_000;
const ASKS = 40;

export async function measureIdle(sessions: number): Promise<IdleFigures> {
  await using provider = await startProviderProcess({ echo: true });
  const config = benchConfig(provider.baseUrl);
  await using small = await tempHome();
  await using large = await tempHome();
  await fill(small.path, 1);
  await fill(large.path, sessions);
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

/** Each session with one message and its answer, as if everything had long been said. */
async function fill(home: string, sessions: number): Promise<void> {
  await using store = await openStore(DEPS, { home });
  const fillOne = async (number: number): Promise<void> => {
    const said = entry(`idle-${number}`, `words of session ${number}`);
    const ids = { id: systemIds.next("msg") as InboxId, turnId: systemIds.next("turn") as TurnId };
    const about = { turnId: ids.turnId, sessionKey: said.sessionKey as SessionKey, agentId: "default" as AgentId };
    await store.inbox.accept({ ...said, id: ids.id, message: { ...said.message, eventId: ids.id } });
    await store.turns.begin({ ...about, inboxIds: [ids.id], at: systemClock.now() });
    await store.turns.finish({
      turnId: ids.turnId,
      attempt: 1,
      outcome: "done",
      reply: [{ part: 0, message: { kind: "reply", text: `answer ${number}` } }],
      to: said.message.address,
      usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
      model: "local/bench",
      settledBytes: 0,
      at: systemClock.now(),
    });
    await store.outbox.markSent(`${ids.turnId}:0`, systemClock.now());
  };
  const BATCH = 500;
  for (let from = 0; from < sessions; from += BATCH)
    await Promise.all(Array.from({ length: Math.min(BATCH, sessions - from) }, (_, at) => fillOne(from + at)));
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
