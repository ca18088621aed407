/** Types of bun.mjs. */
export const root: string;
export const SAFE_FLAGS: readonly string[];
export function isCheckout(): boolean;
export function findBun(): string | null;
export function becomeBun(args: readonly string[]): void;
