/** kill -9 under many clients, with the real gateway and real pi. `npm run chaos` does the same for longer; docs/reliability.md has its figures. */
import { expect, test } from "bun:test";
import { runChaos } from "../verification/chaos/run.ts";

/** With this seed the kills fall after a message was stored, after a turn was begun and ended, and on agents; see `npm run chaos -- --rounds 3 --seed 1`. */
const SEED = 1;
const ROUNDS = 3;

test("every acknowledged message ends in exactly one visible answer, in order, whoever is killed and when", async () => {
  const rounds: string[] = [];
  const report = await runChaos({ rounds: ROUNDS, seed: SEED, onRound: (line) => rounds.push(line) });
  expect(report).toMatchObject({ rounds: ROUNDS, lost: [], unheard: [], doubled: [], wrong: [], outOfOrder: [] });
  expect(rounds).toHaveLength(ROUNDS);
  expect(report.acknowledged).toBeGreaterThanOrEqual(24); // else there was no load
  expect(report.inTurn).toBeGreaterThanOrEqual(2); // else the kills proved little
}, 180_000);
