/** Twenty people who write every two seconds, with the pool as it is shipped: what each waits, and whether anybody waits for a process to start. */
import { startInProcess } from "../../src/testing/whole/in-process.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, type Spread, spread, timed } from "./parts/stats.ts";

export interface PeopleFigures {
  readonly pool: number;
  readonly latencyMs: Spread;
  /** Of the first message of each. */
  readonly firstMs: Spread;
  /** Processes that were started while they spoke. */
  readonly started: number;
  /** Turns after the first of each that took as long as a start does. Everybody needs a process of their own for the first. */
  readonly waitedForStart: number;
}

const PEOPLE = 20;
const EVERY_MS = 2_000;
/** Of a message that waits for a start; nothing else takes so long. */
const START_MS = 400;

export async function measurePeople(messages: number): Promise<PeopleFigures> {
  await using provider = await startProviderProcess({ echo: true });
  await using gateway = await startInProcess(benchConfig(provider.baseUrl, {}), process.env);
  let started = 0;
  gateway.events.on("agent.spawned", () => started++);
  const [first, later]: [number[], number[]] = [[], []];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: PEOPLE }, async (_, person) => {
      for (let at = 0; at < messages; at++) {
        const due = began + at * EVERY_MS + (person * EVERY_MS) / PEOPLE;
        await Bun.sleep(Math.max(0, due - performance.now()));
        const words = { chat: `chat-${person}`, scope: "dm", principal: `played:user:${person}` } as const;
        const ms = await timed(() => gateway.ask({ ...words, text: `${person}.${at}` }));
        (at === 0 ? first : later).push(ms);
      }
    }),
  );
  return {
    pool: gateway.pool.stats().max,
    latencyMs: spread(later),
    firstMs: spread(first),
    started,
    waitedForStart: later.filter((ms) => ms >= START_MS).length,
  };
}

export const people: Scenario = {
  name: "people",
  async measure(scale) {
    const messages = Math.max(4, Math.round(30 * scale));
    const { pool, latencyMs, firstMs, started, waitedForStart } = await measurePeople(messages);
    return [
      { what: `20 people, ${messages} messages each, one in two seconds: pool`, value: pool, unit: "" },
      { what: "  answer, p50", value: latencyMs.p50, unit: "ms", ...atMost(60) },
      { what: "  answer, p95", value: latencyMs.p95, unit: "ms", ...atMost(300) },
      { what: "  first answer of each, p50", value: firstMs.p50, unit: "ms" },
      { what: "  first answer of each, p95", value: firstMs.p95, unit: "ms" },
      {
        what: "  processes started meanwhile, for each message",
        value: round(started / (PEOPLE * messages)),
        unit: "",
      },
      { what: "  answers after the first that took as long as a start", value: waitedForStart, unit: "", ...atMost(0) },
    ];
  },
};
