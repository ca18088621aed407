/** What a rule between settings sees and what it answers. */
import { DEFAULT_AGENT } from "../../contracts/ids.ts";
import { nearest } from "../../kit/nearest.ts";
import type { Config } from "../schema.ts";

export interface RuleProblem {
  readonly severity: "problem" | "warning";
  readonly path: string;
  readonly message: string;
  readonly value?: string;
  readonly suggestion?: string;
}

export interface RuleInput {
  readonly config: Config;
  /** A value as it may stand in a sentence. */
  readonly show: (path: string, text: string) => string;
}

/** `value`: what was written, as it may be shown. */
export function problem(path: string, message: string, value?: string): RuleProblem {
  return { severity: "problem", path, message, ...(value === undefined ? {} : { value }) };
}

export const warning = (path: string, message: string): RuleProblem => ({ severity: "warning", path, message });

interface UnknownName {
  readonly path: string;
  readonly written: string;
  /** What was written, as it may be shown. */
  readonly shown: string;
  readonly noun: string;
  readonly names: readonly string[];
}

/** A name that leads nowhere, with the one that was probably meant, or else those there are. */
export function unknownName({ path, written, shown, noun, names }: UnknownName): RuleProblem {
  const near = nearest(written, names);
  const listed = names.length === 0 ? "There are none yet." : `There are: ${names.join(", ")}.`;
  const hint = near === null ? listed : `Did you mean "${near}"?`;
  const found = problem(path, `${path} is ${shown}, but there is no such ${noun}. ${hint}`);
  return near === null ? found : { ...found, suggestion: near };
}

/** Every agent that a setting may name. */
export const agentNames = ({ agents }: Pick<Config, "agents">): readonly string[] => [
  DEFAULT_AGENT,
  ...agents.map(({ id }) => id),
];
