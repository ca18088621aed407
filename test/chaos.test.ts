/** kill -9 at random points of a turn, with the real gateway and real pi. `npm run chaos` does the same for longer; docs/reliability.md has its figures. */
import { expect, test } from "bun:test";
import { runChaos } from "../src/testing/whole/chaos.ts";

/** With this seed the kills fall after every kind of write, the end of a turn included; see the rounds with `npm run chaos -- --seed 1`. */
const SEED = 1;

test("every accepted message ends in exactly one visible reply, in order, whoever is killed and when", async () => {
  const rounds: string[] = [];
  const report = await runChaos({ gatewayKills: 10, agentKills: 10, seed: SEED, onRound: (line) => rounds.push(line) });
  expect(report).toMatchObject({ rounds: 20, messages: 40, lost: [], doubled: [], outOfOrder: 0 });
  expect(rounds).toHaveLength(20);
  expect(report.inTurn).toBeGreaterThanOrEqual(10); // else the kills proved little
}, 180_000);
