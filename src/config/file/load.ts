/** Loads the configuration for a start or a reload. A broken file falls back to the last one that was good; only without that it refuses. */
import { basename, join } from "node:path";
import { GatewayError } from "../../contracts/errors.ts";
import type { Log } from "../../kit/log.ts";
import { type CheckedConfig, checkConfigText, defaultConfig } from "../check/check.ts";
import type { Environment } from "../environment/index.ts";
import { type Migration, migrateConfig } from "./migrate.ts";
import { findConfigFile } from "./paths.ts";
import { type ConfigProblem, formatProblem } from "../check/problem.ts";
import { readConfigText } from "./read-file.ts";
import type { Config } from "../schema.ts";
import { replaceFile } from "./write-file.ts";

export interface LoadConfigOptions {
  readonly home: string;
  /** `--config`, as written. */
  readonly flag: string | undefined;
  readonly cwd: string;
  readonly environment: Environment;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was looked at; null when there is none. */
  readonly path: string | null;
  readonly source: "file" | "last-good" | "defaults";
  /** What is wrong with the file at `path`; empty unless the source is "last-good". */
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly ConfigProblem[];
  readonly migrated: readonly Migration[];
}

export const LAST_GOOD_NAME = "config.last-good.jsonc";
const OTHERS_MODE_BITS = 0o077;

export async function loadConfig(deps: { readonly log: Log }, options: LoadConfigOptions): Promise<LoadedConfig> {
  const path = findConfigFile(options);
  if (path === null) {
    return { config: defaultConfig(), path, source: "defaults", problems: [], warnings: [], migrated: [] };
  }
  const { text, checked } = await readAndCheck(path, options);
  if (text === null || !checked.config) return fallBack(deps, options, { path, checked });

  const { config, migrated } = checked;
  const rewritten = migrated.length > 0 ? await migrateConfig(deps, path, options.environment.variables) : null;
  // A section that nobody knows is most likely a misspelt one, whose settings are then missing from what is in force.
  if (!checked.warnings.some(({ unknownSection }) => unknownSection))
    await keepLastGood(deps, options.home, rewritten?.text ?? text);
  const warnings = [...checked.warnings, ...(rewritten?.warnings ?? [])];
  return { config, path, source: "file", problems: [], warnings, migrated };
}

interface ReadAndChecked {
  /** Null when the file could not be read. */
  readonly text: string | null;
  readonly checked: CheckedConfig;
}

async function readAndCheck(path: string, { environment }: LoadConfigOptions): Promise<ReadAndChecked> {
  const read = await readConfigText(path, "follow");
  if (read.kind === "text") return { text: read.text, checked: checkConfigText(read.text, environment.variables) };
  const because = read.kind === "missing" ? "It vanished while the gateway looked at it." : read.because;
  const problem = { path: "", line: 1, column: 1, message: `The file cannot be read. ${because}` };
  return { text: null, checked: { config: null, problems: [problem], warnings: [], migrated: [] } };
}

async function fallBack(
  { log }: { readonly log: Log },
  { home, environment }: LoadConfigOptions,
  { path, checked }: { readonly path: string; readonly checked: CheckedConfig },
): Promise<LoadedConfig> {
  const { problems, warnings } = checked;
  const lastGood = await readConfigText(join(home, LAST_GOOD_NAME), "refuse");
  const kept = lastGood.kind === "text" ? checkConfigText(lastGood.text, environment.variables) : null;
  if (!kept?.config) throw invalid(path, problems);
  log.warn("configuration is broken, the last good one is used", { path, problems: problems.length });
  return { config: kept.config, path, source: "last-good", problems, warnings, migrated: kept.migrated };
}

function invalid(path: string, problems: readonly ConfigProblem[]): GatewayError {
  const lines = problems.map((problem) => `  ${formatProblem(problem, basename(path))}`);
  const say = [`The configuration in ${path} is not valid. Correct this and try again:`, ...lines].join("\n");
  return new GatewayError("config_invalid", `${problems.length} problems in the configuration`, {
    fields: { path, problems: problems.length },
    say,
  });
}

/** Kept as written: variables stay names, so a key that is only in the environment does not reach the disk. */
async function keepLastGood({ log }: { readonly log: Log }, home: string, text: string): Promise<void> {
  const path = join(home, LAST_GOOD_NAME);
  const kept = await readConfigText(path, "refuse");
  if (kept.kind === "text" && kept.text === text && (kept.mode & OTHERS_MODE_BITS) === 0) return;
  try {
    await replaceFile(path, text);
  } catch (error) {
    log.warn("last good configuration could not be kept", { path, error });
  }
}
