import { expect, test } from "bun:test";
import { configReport, configReportText } from "./report.ts";

const problem = { path: "cron.x", line: 3, column: 7, message: "No." };
const file = { path: "/etc/a.jsonc", source: "file", problems: [], warnings: [] } as const;

test("a configuration file that is in force as it is written is not reported", () => {
  expect(configReport(file)).toBeNull();
  expect(configReport({ ...file, path: null, source: "defaults" })).toBeNull();
  expect(configReport({ ...file, path: null, source: "defaults", warnings: [problem] })).toBeNull();
});

test("a broken configuration file is reported in one block with line and column of every problem, and what is in force", () => {
  const report = configReport({ ...file, source: "last-good", problems: [problem], warnings: [problem] });
  expect(report && configReportText(report).split("\n")).toEqual([
    "",
    "THE CONFIGURATION IN /etc/a.jsonc IS BROKEN. The last good one is in force instead. Correct this:",
    "  /etc/a.jsonc:3:7 No.",
    "  /etc/a.jsonc:3:7 No.",
    "",
    "",
  ]);
});

test("names in a configuration file that no setting has are reported as without effect", () => {
  const report = configReport({ ...file, warnings: [problem] });
  expect(report).toMatchObject({ broken: false, problems: ["/etc/a.jsonc:3:7 No."] });
  expect(report && configReportText(report)).toContain("settings that do nothing");
});
