/**
 * Letters on their way out, over a connection of their own. The first one goes at once; those that come while it is on its way, or shortly
 * after, go together. Each has a number, so that whoever reads sees when one is missing. A batch whose answer was lost is sent again under its
 * numbers, and those that are there already are left alone.
 */
import type { Letter } from "../../../contracts/store/letters.ts";
import type { InstanceId } from "../../../contracts/ids.ts";
import type { Clock } from "../../../kit/clock.ts";
import { orAborted } from "../../../kit/deferred.ts";
import type { Log } from "../../../kit/log.ts";
import type { Connection } from "../connection.ts";
import { createOwnConnection } from "../own-connection.ts";

export interface LetterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceId: InstanceId;
}

interface OutgoingDeps extends LetterDeps {
  connect(): Promise<Connection>;
}

interface Outgoing {
  send(letter: Letter): void;
  /** Sends what waits, if that is possible within a moment. */
  close(): Promise<void>;
}

export const CHANNEL = "pi_gateway_letters";
/** At most so often are the others woken. */
const PACE_MS = 50;
const MAX_TOGETHER = 500;
/** The oldest of more than these are lost. */
const MAX_WAITING = 10_000;
const PAUSE_MS = 250;
const LAST_MS = 500;
/** Letters are kept for those who lost their connection for a moment. */
const KEPT_MS = 60_000;
const TIDY_MS = 20_000;
const NOW = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint";
const ADD = `
insert into node_letters (from_node, number, to_node, kind, body, at)
select $1, *, ${NOW} from unnest($2::bigint[], $3::text[], $4::text[], $5::text[])
on conflict do nothing`;
const WAKE = `select pg_notify('${CHANNEL}', $1)`;
const TIDY = `delete from node_letters where from_node = $1 and at < ${NOW} - ${KEPT_MS}`;

interface Numbered extends Letter {
  readonly number: number;
}

export function startOutgoing(deps: OutgoingDeps): Outgoing {
  const { clock, log } = deps;
  const waiting: Numbered[] = [];
  const closing = new AbortController();
  const post = createPosting(deps);
  let number = 0;
  let running: Promise<void> | null = null;

  const pause = (ms: number) => clock.sleep(ms, closing.signal).catch(() => undefined); // closing ends the pause

  /** Never rejects. */
  const run = async (): Promise<void> => {
    let failing = false;
    while (waiting.length > 0) {
      try {
        const last = await post.send(waiting.slice(0, MAX_TOGETHER));
        while ((waiting[0]?.number ?? Infinity) <= last) waiting.shift();
        failing = false;
        await pause(PACE_MS);
      } catch (error) {
        if (!failing) log.warn("letters to other gateways wait for the database", { error });
        failing = true;
        post.drop();
        if (closing.signal.aborted) break;
        await pause(PAUSE_MS);
      }
    }
    running = null;
  };

  return {
    send(letter) {
      if (closing.signal.aborted) return;
      waiting.push({ ...letter, number: ++number });
      loseOldest(log, waiting);
      running ??= run();
    },
    async close() {
      closing.abort(new Error("the store is closed"));
      using limit = clock.deadline(LAST_MS, () => new Error("too late"));
      await orAborted(running ?? Promise.resolve(), limit.signal).catch(() => undefined); // what is left is for the moment only
      post.drop();
    },
  };
}

/** Whoever reads sees from the numbers that some are missing. */
function loseOldest(log: Log, waiting: Numbered[]): void {
  const count = waiting.length - MAX_WAITING;
  if (count <= 0) return;
  waiting.splice(0, count);
  log.warn("letters to other gateways were lost: the database could not be reached for too long", { count });
}

function createPosting({ clock, instanceId, connect }: OutgoingDeps) {
  const { ask, drop } = createOwnConnection(clock, connect);
  let tidiedAt = clock.elapsed();
  return {
    drop,
    /** Resolves with the number of the last one. */
    async send(letters: readonly Numbered[]): Promise<number> {
      const columns = [
        letters.map((one) => one.number),
        letters.map(({ to }) => to),
        letters.map(({ kind }) => kind),
        letters.map(({ body }) => body),
      ];
      await ask(ADD, [instanceId, ...columns]);
      await ask(WAKE, [instanceId]);
      if (clock.elapsed() - tidiedAt >= TIDY_MS) {
        tidiedAt = clock.elapsed();
        await ask(TIDY, [instanceId]);
      }
      return letters.at(-1)?.number ?? 0;
    },
  };
}
