/** Twenty people through four processes: nobody is handed a process that another one used, and that has a price, which is told here. */
import { startInProcess } from "../../src/testing/whole/in-process.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, spread, type Spread, timed } from "./parts/stats.ts";

export interface PrincipalSize {
  readonly people: number;
  /** Messages of each, one after the other. */
  readonly messages: number;
  readonly pool: number;
}

export interface PrincipalFigures {
  readonly answered: number;
  readonly wrong: number;
  readonly spawned: number;
  readonly perSecond: number;
  /** Everybody at once; most of it is waiting for a place. */
  readonly latencyMs: Spread;
  /** One turn alone, when the only free process was another person's. */
  readonly respawnedMs: Spread;
  readonly ownMs: Spread;
}

export async function measurePrincipals(size: PrincipalSize, respawns: number): Promise<PrincipalFigures> {
  await using provider = await startProviderProcess({ echo: true });
  const config = benchConfig(provider.baseUrl, { min: size.pool, max: size.pool });
  await using gateway = await startInProcess(config, process.env);
  let spawned = 0;
  gateway.events.on("agent.spawned", () => spawned++);
  let wrong = 0;
  const ask = (person: number, text: string): Promise<number> =>
    timed(async () => {
      const words = { text, chat: `chat-${person}`, scope: "dm", principal: `played:user:${person}` } as const;
      const reply = await gateway.ask(words);
      if (reply.message.text !== text) wrong++;
    });
  const latencies: number[] = [];
  const started = performance.now();
  await Promise.all(
    Array.from({ length: size.people }, async (_, person) => {
      for (let at = 0; at < size.messages; at++) latencies.push(await ask(person, `${person}.${at}`));
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  const crowdSpawned = spawned;
  // Alone, with more people than processes: each turn finds only what others have used.
  const [respawned, own]: [number[], number[]] = [[], []];
  for (let at = 0; at < respawns; at++) {
    const person = at % size.people;
    respawned.push(await ask(person, `again ${at}`));
    own.push(await ask(person, `and again ${at}`));
  }
  return {
    answered: latencies.length,
    wrong,
    spawned: crowdSpawned,
    perSecond: round(latencies.length / seconds),
    latencyMs: spread(latencies),
    respawnedMs: spread(respawned),
    ownMs: spread(own),
  };
}

export const principals: Scenario = {
  name: "principals",
  async measure(scale) {
    const size = { people: 20, messages: Math.max(2, Math.round(5 * scale)), pool: 4 };
    const figures = await measurePrincipals(size, Math.max(5, Math.round(20 * scale)));
    const total = size.people * size.messages;
    return [
      { what: `20 people, ${size.messages} messages each, pool of 4: answered`, value: figures.answered, unit: "" },
      {
        what: "  not answered, or with another's words",
        value: total - figures.answered + figures.wrong,
        unit: "",
        ...atMost(0),
      },
      { what: "  processes started", value: figures.spawned, unit: "" },
      { what: "  turns per second, all at once", value: figures.perSecond, unit: "/s" },
      { what: "  a turn alone that needs a new process, p50", value: figures.respawnedMs.p50, unit: "ms" },
      { what: "  the next turn of the same person, p50", value: figures.ownMs.p50, unit: "ms" },
    ];
  },
};
