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
  canRevert: false,
  access: { reach: "loopback", bind: "loopback", hasProxy: false, weakToken: null, publicFile: null },
  now: Date.UTC(2026, 10, 16),
  clockShiftMs: 0,
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
      {
        status: { ...STATUS, backup: { everyMs: 1, folder: "f", newestAt: FACTS.now, failure: null } },
        now: FACTS.now + 9_000_000,
      },
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

test("the checks find a clock that is wrong or was moved", () => {
  expect(worst({}, "Clock")).toBe("ok: It says 2026-11-16T00:00:00.000Z.");
  expect(worst({ now: 0 }, "Clock")).toBe(
    "broken: It says 1970-01-01T00:00:00.000Z, which is in the past. Set the clock of this machine.",
  );
  expect(worst({ clockShiftMs: -3_600_000 }, "Clock")).toContain("moved back by 60 min");
  expect(worst({ clockShiftMs: 30_000 }, "Clock")).toStartWith("ok");
});

test("the checks find a weak token, a file that others can read, and a port that others can reach", () => {
  const { access } = FACTS;
  expect(worst({ access: { ...access, weakToken: "is too short" } }, "Token")).toStartWith(
    "broken: The token is too short.",
  );
  expect(worst({ access: { ...access, publicFile: "/etc/pi.jsonc" } }, "Token")).toContain("chmod 600 /etc/pi.jsonc");
  expect(worst({ access: { ...access, reach: "all", bind: "lan" } }, "Network")).toContain("without encryption");
  expect(worst({ access: { ...access, reach: "one", bind: "10.0.0.5", hasProxy: true } }, "Network")).toStartWith(
    "ok: Whoever reaches 10.0.0.5",
  );
});

test("a notice that no check is about has a line of its own", () => {
  const status = { ...STATUS, agentTrouble: "No pi.", notices: ["Agents: No pi.", "3 replies are lost."] };
  expect(worst({ status }, "Notice")).toBe("note: 3 replies are lost.");
});

test("a check that can be fixed from the web console names its fix, and one that is fine names none", () => {
  const { backup, config } = STATUS;
  const notInForce = { ...STATUS, config: { ...config, file: "a", applied: false } };
  const withBackup = (more: Partial<typeof backup>) => ({ status: { ...STATUS, backup: { ...backup, ...more } } });
  const fixOf = (more: Partial<HealthFacts>, check: string) =>
    healthChecks({ ...FACTS, ...more }).find((one) => one.check === check)?.fix ?? null;
  const day = 86_400_000;
  expect([
    fixOf({ homeMode: 0o755 }, "State directory"),
    fixOf({ access: { ...FACTS.access, publicFile: "a" } }, "Token"),
    fixOf({ access: { ...FACTS.access, weakToken: "is short" } }, "Token"),
    fixOf({ status: notInForce, canRevert: true }, "Configuration"),
    fixOf({}, "Audit log"),
    fixOf(withBackup({ everyMs: null }), "Backup"),
    fixOf(withBackup({ everyMs: day, newestAt: null }), "Backup"),
    fixOf(withBackup({ everyMs: day, newestAt: FACTS.now - 3 * day }), "Backup"),
    fixOf(withBackup({ everyMs: day, failure: "no room." }), "Backup"),
  ]).toEqual(["modes", "modes", "token", "settings", "audit", "backup", "backup", "backup", "backup"]);
  expect([
    fixOf({}, "State directory"),
    fixOf({}, "Token"),
    fixOf({ status: notInForce }, "Configuration"), // there is nothing to go back to
    fixOf(withBackup({ everyMs: day, newestAt: FACTS.now }), "Backup"),
  ]).toEqual([null, null, null, null]);
});
