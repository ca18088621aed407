/** Deletes what is older than the settings say, one kind after another and a few rows at a time, so that nobody waits for it. */
import type { DroppedRows, OldRows, RowPlace } from "../contracts/store/retention.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

const LOOK_EVERY_MS = 6 * 60 * 60_000;
/** After a start there is more important work. */
const FIRST_LOOK_MS = 60_000;
const BETWEEN_MS = 50;
const DAY_MS = 24 * 60 * 60_000;
/** Rows in one step: some twenty milliseconds of SQLite, in which nobody else is served. */
const LOOKED_AT = 100;

/** Something that grows. */
export interface Kind {
  readonly name: string;
  /** Asked at each look; 0: it is kept for ever. */
  keepDays(): number;
  drop(rule: OldRows): Promise<DroppedRows>;
}

interface RetentionDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export function startRetention(deps: RetentionDeps, kinds: readonly Kind[]): AsyncDisposable {
  const stopping = new AbortController();
  const working = look(deps, kinds, stopping.signal).catch(() => undefined); // rejects only because it was told to stop
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("stopping"));
      await working;
    },
  };
}

async function look(deps: RetentionDeps, kinds: readonly Kind[], signal: AbortSignal): Promise<void> {
  await deps.clock.sleep(FIRST_LOOK_MS, signal);
  for (;;) {
    for (const kind of kinds) await dropOld(deps, kind, signal);
    await deps.clock.sleep(LOOK_EVERY_MS, signal);
  }
}

/** A kind that fails is left to the next look; the others do not wait for it. */
async function dropOld({ clock, log }: RetentionDeps, kind: Kind, signal: AbortSignal): Promise<void> {
  const keepDays = kind.keepDays();
  if (keepDays === 0) return;
  const before = clock.now() - keepDays * DAY_MS;
  let rows = 0;
  let from: RowPlace | null = null;
  do {
    const step: DroppedRows | null = await kind.drop({ before, from, limit: LOOKED_AT }).catch((error: unknown) => {
      log.warn("old rows could not be deleted", { kind: kind.name, error });
      return null;
    });
    rows += step?.dropped ?? 0;
    from = step?.next ?? null;
    await clock.sleep(BETWEEN_MS, signal);
  } while (from !== null);
  if (rows > 0) log.info("old rows deleted", { kind: kind.name, rows, keepDays });
}
