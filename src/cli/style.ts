/** Colours for people who look at a terminal. A program, a file and NO_COLOR get the bare text. */
import type { CliWorld } from "./world.ts";

const STYLES = { head: "1", ok: "32", fixed: "32", note: "33", broken: "31" } as const;

export function styled(
  { isTerminal, environment }: Pick<CliWorld, "isTerminal" | "environment">,
  style: keyof typeof STYLES,
  text: string,
): string {
  return isTerminal && !environment.noColor ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
}
