/** Types of bun.mjs. */
export const root: string;
export const SAFE_FLAGS: readonly string[];
export function findBun(): string | null;
export function becomeBun(args: readonly string[]): void;
