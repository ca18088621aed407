/** What a start prints about a configuration file that is not in force, or not as a whole. */
import { formatProblem } from "../check/problem.ts";
import type { LoadedConfig } from "./load.ts";

export interface ConfigReport {
  /** True: the file is broken and the last good one is in force. False: single names in it were ignored. */
  readonly broken: boolean;
  readonly file: string;
  /** Each with line and column. */
  readonly problems: readonly string[];
}

/** Null: the file is in force as it is written, or there is none. */
export function configReport(
  loaded: Pick<LoadedConfig, "path" | "source" | "problems" | "warnings">,
): ConfigReport | null {
  const { path, source, problems, warnings } = loaded;
  const found = [...problems, ...warnings];
  if (path === null || found.length === 0) return null;
  return { broken: source === "last-good", file: path, problems: found.map((problem) => formatProblem(problem, path)) };
}

/** One block for a terminal. */
export function configReportText({ broken, file, problems }: ConfigReport): string {
  const head = broken
    ? `THE CONFIGURATION IN ${file} IS BROKEN. The last good one is in force instead. Correct this:`
    : `The configuration in ${file} has settings that do nothing:`;
  return ["", head, ...problems.map((problem) => `  ${problem}`), "", ""].join("\n");
}
