/** Limits of each tool call, as `tools.execution` sets them, and what holds without settings. */
export interface RunLimits {
  readonly cleanupMs: number;
  readonly backgroundMs: number;
  readonly maxOutputChars: number;
  readonly maxImages: number;
  readonly maxImageMb: number;
}

export const USUAL_LIMITS: RunLimits = {
  cleanupMs: 250,
  backgroundMs: 30_000,
  maxOutputChars: 256 * 1024,
  maxImages: 8,
  maxImageMb: 5,
};
