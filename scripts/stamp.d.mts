/** Types of stamp.mjs. */
export function stampFile(root: string): string;
export function currentStamp(root: string): string;
export function isFresh(root: string): boolean;
