/** Whether something went wrong because a disk, or a quota, is full. */

const NO_ROOM: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/** The error itself, or one that caused it. */
export function isNoRoom(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && NO_ROOM.has(error.code)) || isNoRoom(error.cause);
}
