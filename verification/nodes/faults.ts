/** What happens to gateways and their database. Each fault says what it is, and resolves when it is over. */
import type { Chance } from "../../src/testing/chance.ts";
import type { NodesWorld } from "./world.ts";

export const FAULTS = [
  "kill",
  "kill, and stay away",
  "freeze past its time",
  "freeze for a moment",
  "end in order",
  "cut from the database",
  "silence to the database",
  "answer to a commit lost",
  "commit lost",
  "kill the database",
  "stop the database at once",
] as const;

export type Fault = (typeof FAULTS)[number];

/** Longer than a gateway counts as live without a word. */
const PAST_ITS_TIME_MS: readonly [number, number] = [7_000, 11_000];
const MOMENT_MS: readonly [number, number] = [200, 4_000];
const AWAY_MS: readonly [number, number] = [8_000, 14_000];
const OUTAGE_MS: readonly [number, number] = [200, 6_000];

/** Resolves when it is over. Never rejects. */
export async function strike(world: NodesWorld, fault: Fault, chance: Chance): Promise<void> {
  const node = chance.pick(world.nodes);
  const between = ([low, high]: readonly [number, number]): Promise<void> => world.pause(chance.between(low, high));
  switch (fault) {
    case "kill":
      return node.kill(0);
    case "kill, and stay away":
      return node.kill(chance.between(...AWAY_MS));
    case "end in order":
      return node.end();
    case "freeze past its time":
    case "freeze for a moment":
      node.freeze();
      await between(fault === "freeze for a moment" ? MOMENT_MS : PAST_ITS_TIME_MS);
      return node.thaw();
    case "cut from the database":
      node.wire.cutAll();
      await between(PAST_ITS_TIME_MS);
      return node.wire.mend();
    case "silence to the database":
      node.wire.silence();
      await between(PAST_ITS_TIME_MS);
      return node.wire.mend();
    case "answer to a commit lost":
      return node.wire.cutNext("after the commit");
    case "commit lost":
      return node.wire.cutNext("before the commit");
    case "kill the database":
    case "stop the database at once":
      return world.outage(fault === "kill the database" ? "kill" : "immediate", () => between(OUTAGE_MS));
  }
}
