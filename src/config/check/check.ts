/** Configuration text → a checked configuration, or everything that is wrong with it. Pure: reads no file and no environment. */
import { type Migration, moveOldKeys } from "./old-keys.ts";
import { type ConfigProblem, showText } from "./problem.ts";
import { type Finding, readTree } from "./read-tree.ts";
import { brokenRules } from "./rules.ts";
import type { Config } from "../schema.ts";
import { allKeys, rootSchema } from "../schema-node.ts";
import { type ObjectTree, parseText, type PositionOf, withoutBom } from "./tree.ts";

export interface CheckedConfig {
  /** Null when there are problems. */
  readonly config: Config | null;
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly ConfigProblem[];
  /** Old keys that were understood under their new names; the text itself is not changed here. */
  readonly migrated: readonly Migration[];
}

export type Variables = (name: string) => string | undefined;

const MAX_REPORTED = 50;

export function checkConfigText(text: string, variables: Variables): CheckedConfig {
  const { tree, problems, positionOf } = parseText(withoutBom(text));
  if (!tree) return { config: null, problems, warnings: [], migrated: [] };
  return checkTree(tree, problems, { positionOf, variables });
}

/** Every setting at its default. */
export function defaultConfig(): Config {
  const { config } = checkConfigText("{}", () => undefined);
  if (!config) throw new Error("the schema's own defaults do not pass its checks");
  return config;
}

function checkTree(
  tree: ObjectTree,
  found: readonly ConfigProblem[],
  { positionOf, variables }: { readonly positionOf: PositionOf; readonly variables: Variables },
): CheckedConfig {
  const problems = [...found];
  const warnings: ConfigProblem[] = [];
  const report = ({ severity, offset, ...rest }: Finding) => {
    const list = severity === "problem" ? problems : warnings;
    const { line, column } = positionOf(offset);
    list.push({ ...rest, line, column });
  };
  const migrated = moveOldKeys(tree, report);
  const root = rootSchema();
  let listed: ReturnType<typeof allKeys> | null = null;
  const keys = () => (listed ??= allKeys(root));
  const offsets = new Map<string, number>();
  const fromVariables = new Set<string>();
  // From here on it is a Config, except at the paths that have a problem: readTree assigned schema keys only.
  const config = readTree({ root, keys, variables, report, offsets, fromVariables }, tree) as Config;
  const brokenPaths = problems.map((problem) => problem.path);
  const show = (path: string, text: string) =>
    fromVariables.has(path) ? "a value from the environment" : showText(text);
  for (const broken of brokenRules({ config, show }, brokenPaths)) {
    report({ ...broken, offset: offsetOf(offsets, broken.path) });
  }
  return {
    config: problems.length === 0 ? config : null,
    problems: inOrder(problems),
    warnings: inOrder(warnings),
    migrated,
  };
}

/** The key itself, or the nearest group around it that is written in the file. */
function offsetOf(offsets: ReadonlyMap<string, number>, path: string): number {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const offset = offsets.get(at);
    if (offset !== undefined) return offset;
  }
  return 0;
}

function inOrder(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column).slice(0, MAX_REPORTED);
}
