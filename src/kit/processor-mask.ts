/** Sets of processors as Linux reads and writes them (`cpu_set_t`): one bit for each processor. Pure. */

/** For 8,192 processors. The kernel refuses a mask that is shorter than its own. */
export const MASK_BYTES = 1_024;
const BITS = 8;

export function maskOf(processors: readonly number[]): Uint8Array {
  const mask = new Uint8Array(MASK_BYTES);
  for (const one of processors) {
    const at = Math.floor(one / BITS);
    mask[at] = (mask[at] ?? 0) | (1 << (one % BITS));
  }
  return mask;
}

export function processorsIn(mask: Uint8Array): readonly number[] {
  const all = Array.from({ length: mask.length * BITS }, (_, one) => one);
  return all.filter((one) => ((mask[Math.floor(one / BITS)] ?? 0) & (1 << (one % BITS))) !== 0);
}
