/** HTTP statuses after which the same request may succeed later. Pure. */

/** Below 500, and still about this moment and not about the request. */
const TEMPORARY_BELOW_500: readonly number[] = [408, 425, 429];

export function isTemporaryStatus(status: number): boolean {
  return status >= 500 || TEMPORARY_BELOW_500.includes(status);
}
