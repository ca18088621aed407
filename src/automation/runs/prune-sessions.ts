/** Takes away what old runs leave behind: their sessions, and the files in which agents kept them. A file goes after its rows, never before. */
import type { DroppedSessions, OldSession, RunSessionStore } from "../../contracts/store/run-sessions.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";

interface RunSessionsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runSessions: RunSessionStore;
  /** A file that is gone already is fine. */
  removeFile(name: string): Promise<void>;
}

/** As long as the rows of runs are kept, so that a run that is listed can be read. */
const KEEP_MS = 7 * 86_400_000;
const KEEP_PER_JOB = 20;
/** A few milliseconds. */
const LOOKED_AT = 500;
const AT_ONCE = 100;
const PAUSE_MS = 50;

/** Deletes in small batches with pauses, so that no request waits for it. */
export async function pruneRunSessions(
  { clock, log, runSessions, removeFile }: RunSessionsDeps,
  signal: AbortSignal,
): Promise<void> {
  let sessions = 0;
  let from: OldSession | null = null;
  for (let looking = true, more = true; more && !signal.aborted;) {
    if (looking) {
      const rule = { before: clock.now() - KEEP_MS, keepPerJob: KEEP_PER_JOB, limit: LOOKED_AT, from };
      const looked: DroppedSessions = await runSessions.drop(rule);
      sessions += looked.dropped;
      from = looked.next;
      looking = from !== null;
    }
    const files = await runSessions.deadFiles(AT_ONCE);
    for (const file of files) {
      await removeFile(file);
      await runSessions.fileGone(file);
    }
    more = looking || files.length === AT_ONCE;
    if (more) await clock.sleep(PAUSE_MS, signal).catch(() => undefined); // stopped
  }
  if (sessions > 0) log.info("old sessions of runs dropped", { sessions });
}
