/** The conformance suite of the Model Context Protocol, run once for a set of requirements, and what it found, scenario by scenario. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, table } from "./suite.ts";

export const CONFORMANCE = "@modelcontextprotocol/conformance";
const FOLDER = join(ROOT, "node_modules", CONFORMANCE);

export type Side = "server" | "client";

export interface Scenario {
  readonly name: string;
  readonly passed: number;
  readonly warnings: number;
  /** What failed, as the suite says it. */
  readonly failures: readonly string[];
}

/** Scenarios that are left out, each with the reason. */
export type LeftOut = Readonly<Record<string, string>>;

/** `how`: what the suite is to meet, such as `["--url", …]` or `["--command", …]`. Every required scenario is in the answer, also one that did not run. */
export async function runConformance(
  side: Side,
  revision: string,
  how: readonly string[],
): Promise<readonly Scenario[]> {
  const results = await mkdtemp(join(tmpdir(), "conformance-"));
  const command = [process.execPath, "--no-env-file", join(FOLDER, "dist", "index.js"), side, ...how];
  const child = Bun.spawn([...command, "--requirements", revision, "-o", results], {
    cwd: results,
    stdio: ["ignore", "ignore", "ignore"], // what failed is read from its results
  });
  await child.exited; // the results say more than its exit code
  const found = await resultsIn(results, side);
  await rm(results, { recursive: true, force: true });
  return (await required(side, revision)).map(
    (name) => found.get(name) ?? { name, passed: 0, warnings: 0, failures: ["did not run"] },
  );
}

/** The list of one side in the frozen requirements of a revision. */
async function required(side: Side, revision: string): Promise<readonly string[]> {
  const lines = (await readFile(join(FOLDER, "requirements", `${revision}.yaml`), "utf8")).split("\n");
  const names: string[] = [];
  for (const line of lines.slice(lines.indexOf(`${side}:`) + 1)) {
    const name = /^ {2}- (\S+)$/.exec(line)?.[1];
    if (name === undefined) break;
    names.push(name);
  }
  return names;
}

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** `server-tools-list-2026-11-16T…/checks.json`; names of scenarios may have slashes. */
async function resultsIn(folder: string, side: Side): Promise<ReadonlyMap<string, Scenario>> {
  const found = new Map<string, Scenario>();
  for (const entry of await readdir(folder, { recursive: true })) {
    const match = /^(.*)-\d{4}-\d{2}-\d{2}T[^/]*\/checks\.json$/.exec(entry);
    if (!match) continue;
    const checks = JSON.parse(await readFile(join(folder, entry), "utf8")) as readonly Check[];
    const name = (match[1] ?? "").replace(side === "server" ? /^server-/ : /^(?:client-)?/, "");
    found.set(name, scenarioOf(name, checks));
  }
  return found;
}

function scenarioOf(name: string, checks: readonly Check[]): Scenario {
  const failures = checks.filter(({ status }) => status === "FAILURE");
  return {
    name,
    // that every message has the right form is looked at in all of them: alone it shows nothing of the scenario
    passed: checks.filter(({ id, status }) => status === "SUCCESS" && !id.startsWith("wire-schema")).length,
    warnings: checks.filter(({ status }) => status === "WARNING").length,
    failures: failures.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? "failed"}`),
  };
}

export function hasPassed({ passed, failures }: Scenario): boolean {
  return passed > 0 && failures.length === 0;
}

/** One revision as a part of a section. `ok`: nothing failed that is not left out, and nothing is left out that passes. */
export function revisionReport(revision: string, scenarios: readonly Scenario[], leftOut: LeftOut) {
  const passed = scenarios.filter(hasPassed);
  const failed = scenarios.filter((one) => !hasPassed(one));
  const unexpected = failed.filter(({ name }) => !Object.hasOwn(leftOut, name));
  const stale = passed.filter(({ name }) => Object.hasOwn(leftOut, name));
  for (const { name, failures } of unexpected)
    console.error(`${revision} ${name}: ${failures.join("; ") || "checked nothing"}`);
  for (const { name } of stale) console.error(`${revision} ${name} is named as left out, and passes`);
  const checks = passed.reduce((sum, one) => sum + one.passed, 0);
  const warnings = scenarios.reduce((sum, one) => sum + one.warnings, 0);
  const lines = [
    `### ${revision}`,
    "",
    `${passed.length} of ${scenarios.length} required scenarios pass, with ${checks} checks and ${warnings} warnings.`,
  ];
  const named = failed.map(({ name }) => [`\`${name}\``, leftOut[name] ?? "**fails**"]);
  if (named.length > 0) lines.push("", table(["Left out", "Because"], named));
  return { ok: unexpected.length === 0 && stale.length === 0, text: lines.join("\n") };
}
