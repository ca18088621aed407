/** What every table's door works with. Reads run at once; writes wait for the commit they share. */
import type { InstanceId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Synced } from "../group-commit.ts";
import type { Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";

export interface RowDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly sql: Sql;
  readonly instanceId: InstanceId;
  /** Takes known secrets out of what goes to people. */
  mask(text: string): string;
  /** Whether no other gateway can have taken over from this one. */
  isHeld(): boolean;
  read<T>(run: () => Steps<T>): Promise<T>;
  /** For what may pass a great many rows: nothing else waits for it. It asks by the `sql` it is given. Throws `search_too_slow`. */
  search<T>(run: (sql: Sql) => Steps<T>): Promise<T>;
  readonly messageIndex: MessageIndex;
  /** `run` may be run again from its beginning: it touches nothing but the database, or what does not mind. */
  write<T>(run: () => Steps<T>, when?: Synced): Promise<T>;
}

/** By which messages are found by their words. */
export interface MessageIndex {
  /** A message was stored, and is to be in the index soon. */
  followSoon(): void;
  /** Resolves when everything that was stored until now is in the index, unless there is very much of it or no room on the disk. Never rejects. */
  catchUp(): Promise<void>;
}
