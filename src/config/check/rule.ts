/** What a rule between settings sees and what it answers. */
import type { Config } from "../schema.ts";

export interface Broken {
  readonly severity: "problem" | "warning";
  readonly path: string;
  readonly message: string;
  readonly value?: string;
  readonly suggestion?: string;
}

export interface RuleWorld {
  readonly config: Config;
  /** A value as it may stand in a sentence. */
  readonly show: (path: string, text: string) => string;
}

export const problem = (path: string, message: string): Broken => ({ severity: "problem", path, message });
