/** Three gateways with real pi on one Postgres database under twenty faults; `npm run nodes` puts hundreds to them. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { testPostgres } from "../src/testing/postgres/database.ts";
import { isCleanReport, type NodesReport, runNodes } from "../verification/nodes/run.ts";

setDefaultTimeout(240_000);

const FAULTS = 20;
/** Some have nothing to bite into, such as a lost answer to a commit while nobody writes. */
const MOST = 14;

function totalOf(faults: NodesReport["faults"]): { readonly struck: number; readonly bit: number } {
  const all = Object.values(faults);
  return {
    struck: all.reduce((sum, { struck }) => sum + struck, 0),
    bit: all.reduce((sum, { bit }) => sum + bit, 0),
  };
}

describe.skipIf((await testPostgres()) === null)("three gateways on one database", () => {
  test("lose nothing, double nothing and keep the order, while they and their database are killed, frozen and cut off", async () => {
    const lines: string[] = [];
    const report = await runNodes({
      nodes: 3,
      faults: FAULTS,
      sessions: 6,
      messages: 6,
      seed: 20_261_116,
      gapMs: [50, 500],
      pauseMs: [1_000, 9_000],
      onLine: (line) => void lines.push(line),
    });
    if (!isCleanReport(report)) console.error(lines.join("\n"), report);
    for (const [fault, why] of Object.entries(report.leftOut)) console.warn(`not tried here: ${fault}, because ${why}`);
    const { struck, bit } = totalOf(report.faults);
    expect([struck, bit >= MOST]).toEqual([FAULTS, true]); // a run in which nothing happened shows nothing
    expect(report.messages).toBeGreaterThanOrEqual(36);
    expect(report.acknowledged).toBe(report.messages);
    const { provider_cut: _poisoned, agent_disk_full: _full, store_failed: _away, ...others } = report.failures; // as the faults want it
    const given = Object.values(others).reduce((sum, count) => sum + count, 0);
    expect(given).toBeLessThanOrEqual(2); // a turn that was at work in three deaths is given up with a sentence, as one gateway does
    expect(isCleanReport(report)).toBe(true);
  });
});
