/**
 * The mark of a copy of a session file that a process reads before a turn needs it. It is there before the copy and longer than it: another
 * process may have the session itself meanwhile, and neither an end of a process, a start, a backup nor a move takes the copy for the session.
 */

const SUFFIX = ".copy";

export function copyMark(visiting: string): string {
  return visiting + SUFFIX;
}

export function isCopyMark(name: string): boolean {
  return name.endsWith(SUFFIX);
}
