import { expect, test } from "bun:test";
import { healthChecks, type HealthFacts } from "./health-checks.ts";
import { STATUS } from "./testing/http/test-status.ts";

const GB = 1024 ** 3;
const FACTS: HealthFacts = {
  status: STATUS,
  plugins: [],
  tools: [],
  freeBytes: 10 * GB,
  homeMode: 0o700,
  writable: true,
  verification: null,
  now: 0,
};

const worst = (more: Partial<HealthFacts>, check: string) => {
  const found = healthChecks({ ...FACTS, ...more }).filter((one) => one.check === check);
  return found.map(({ state, say }) => `${state}: ${say}`).join("\n");
};

test("the checks of a gateway say for each thing that it is fine, worth knowing or broken", () => {
  expect(healthChecks(FACTS).filter(({ state }) => state === "broken")).toEqual([]);
  const cases: readonly (readonly [Partial<HealthFacts>, string, string])[] = [
    [{ freeBytes: 10 }, "Disk", "broken: 0 MB are free."],
    [{ freeBytes: 200 * 1024 * 1024 }, "Disk", "note: 200 MB are free. That is little."],
    [{ homeMode: 0o755 }, "State directory", "broken: Other users"],
    [{ writable: false }, "Database", "broken: It takes no writes."],
    [{ status: { ...STATUS, agentTrouble: "pi is not there." } }, "Agents", "broken: pi is not there."],
    [
      { status: { ...STATUS, config: { file: "a", applied: false, problems: ["Line 3."] } } },
      "Configuration",
      "broken: a is not in force. Line 3.",
    ],
    [
      { status: { ...STATUS, channels: [{ id: "irc", ok: false, detail: "" }] } },
      "Channel",
      "broken: irc: not connected",
    ],
    [
      { status: { ...STATUS, backup: { everyMs: 1, folder: "f", newestAt: 0, failure: null } }, now: 9_000_000 },
      "Backup",
      "broken: The newest is 3 h old. It is late.",
    ],
    [
      { verification: { at: 1, kind: "tampered", calls: 1, entries: 0, links: 2, findings: ["Link 2 is missing."] } },
      "Audit log",
      "broken: Link 2 is missing.",
    ],
  ];
  for (const [more, check, expected] of cases)
    expect([check, worst(more, check).slice(0, expected.length)]).toEqual([check, expected]);
});
