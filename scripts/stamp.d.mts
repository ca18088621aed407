/** Types of stamp.mjs. */
export function stampFile(root: string): string;
export function compiledStampFile(root: string): string;
export function currentStamp(root: string): string;
export function isFresh(root: string): boolean;
export function noteLook(root: string, lookedAt: number): void;
export const FOLDERS: readonly string[];
export const FILES: readonly string[];
