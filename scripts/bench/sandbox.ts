/** What the wall around agents costs: a program that does nothing, started behind each tier and without one, in turns; and the trial at start. */
import { confinedRoom, testSandbox } from "../../src/testing/confined-run.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { atMost, type Line, type Scenario } from "./parts/line.ts";
import { median, timed } from "./parts/stats.ts";

const TIERS = ["full", "basic"] as const;
const NOTHING = ["/bin/true"];

export const sandbox: Scenario = {
  name: "sandbox",
  async measure(scale) {
    const rounds = Math.max(5, Math.round(40 * scale));
    await using home = await tempHome();
    const bare: number[] = [];
    const trials: number[] = [];
    const rooms = await Promise.all(TIERS.map((tier) => confinedRoom(home.path, tier)));
    const confined = TIERS.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      bare.push(await timed(() => Bun.spawn(NOTHING).exited));
      for (const [at, room] of rooms.entries()) if (room) confined[at]?.push(await timed(() => room.run(NOTHING)));
      trials.push(await timed(() => testSandbox(home.path).wall()));
    }
    const without = median(bare);
    return [
      ...TIERS.flatMap((tier, at): readonly Line[] => {
        const times = confined[at] ?? [];
        if (times.length === 0) return []; // this machine cannot build it
        return [{ what: `added to a start, ${tier} tier`, value: median(times) - without, unit: "ms", ...atMost(40) }];
      }),
      { what: "trial of the wall at start", value: median(trials), unit: "ms", ...atMost(100) },
    ];
  },
};
