/** Types of script-help.mjs. */
export function helpFor(args: readonly string[]): string | null;
