/**
 * Letters of other gateways, over a connection of their own that the server wakes. It is asked every second as well: a connection may be
 * silently dead, and a pooler between may not pass on what wakes. The numbers of each sender have no gap, unless something was lost.
 */
import type { InstanceId } from "../../../contracts/ids.ts";
import type { OtherChange, ReceivedLetter } from "../../../contracts/store/letters.ts";
import { deferred, type Deferred } from "../../../kit/deferred.ts";
import type { Connection } from "../connection.ts";
import { CHANNEL, type LetterDeps } from "./outgoing.ts";
import { createOwnConnection } from "../own-connection.ts";

interface IncomingDeps extends LetterDeps {
  /** `onWake` is called whenever somebody has sent something. */
  connect(onWake: () => void): Promise<Connection>;
  onLetter(letter: ReceivedLetter): void;
  onMissed(from: InstanceId): void;
  onOther(change: OtherChange): void;
}

interface Incoming {
  others(): readonly InstanceId[];
  /** Throws when the database cannot be asked. */
  live(): Promise<readonly InstanceId[]>;
  close(): Promise<void>;
}

const LOOK_MS = 1_000;
const PAUSE_MS = 250;
const MAX_TOGETHER = 500;
const OTHERS = `select id from nodes where state <> 'gone' and id <> $1`;
const NEWEST = `select from_node as "from", max(number) as number from node_letters where from_node <> $1 group by from_node`;
/** Letters of a gateway from which another one has taken over are not read: it may only have frozen, and not know yet. */
const READ = `
select letters.from_node as "from", letters.number, letters.to_node as "to", letters.kind, letters.body
from nodes
left join unnest($2::text[], $3::bigint[]) as seen (node, number) on seen.node = nodes.id
join node_letters as letters on letters.from_node = nodes.id and letters.number > coalesce(seen.number, 0)
where nodes.id <> $1 and nodes.taken_over_by is null
order by letters.from_node, letters.number limit ${MAX_TOGETHER}`;

export function startIncoming(deps: IncomingDeps): Incoming {
  const { clock, log } = deps;
  const closing = new AbortController();
  let bell: Deferred<void> = deferred();
  const reader = createReader(deps, () => bell.resolve());

  const pause = async (ms: number): Promise<void> => {
    const woken = new AbortController();
    const either = AbortSignal.any([closing.signal, woken.signal]);
    await Promise.race([clock.sleep(ms, either).catch(() => undefined), bell.promise]); // ended by us
    woken.abort(new Error("no longer waiting"));
  };

  /** Never rejects. */
  const run = async (): Promise<void> => {
    let failing = false;
    while (!closing.signal.aborted) {
      bell = deferred();
      try {
        await reader.look();
        failing = false;
        await pause(LOOK_MS);
      } catch (error) {
        if (closing.signal.aborted) return;
        if (!failing) log.warn("letters of other gateways cannot be read", { error });
        failing = true;
        reader.drop();
        await pause(PAUSE_MS);
      }
    }
  };
  const running = run();

  return {
    others: reader.others,
    async live() {
      await reader.lookAround();
      return reader.others();
    },
    async close() {
      closing.abort(new Error("the store is closed"));
      reader.drop();
      await running;
    },
  };
}

type Row = ReceivedLetter & { readonly number: number };

function createReader({ clock, instanceId, connect, onLetter, onMissed, onOther }: IncomingDeps, onWake: () => void) {
  const connection = createOwnConnection(clock, async () => {
    const made = await connect(onWake);
    await made.control(`listen ${CHANNEL}`);
    return made;
  });
  const read = async <T>(text: string, values: readonly unknown[]): Promise<readonly T[]> =>
    (await connection.ask(text, values)).rows as readonly T[];
  const seen = new Map<InstanceId, number>();
  let others: readonly InstanceId[] = [];
  let isFirst = true;

  /** Letters of before this gateway began are about what is in the database, which it has read. */
  const begin = async (): Promise<void> => {
    for (const { from, number } of await read<Row>(NEWEST, [instanceId])) seen.set(from, number);
    isFirst = false;
  };

  const take = ({ number, ...letter }: Row): void => {
    const last = seen.get(letter.from);
    seen.set(letter.from, number);
    if (last !== undefined && number !== last + 1) onMissed(letter.from);
    if (letter.to === null || letter.to === instanceId) onLetter(letter);
  };

  const lookAround = async (): Promise<void> => {
    const found = (await read<{ id: InstanceId }>(OTHERS, [instanceId])).map(({ id }) => id);
    const before = others;
    others = found;
    for (const node of found) if (!before.includes(node)) onOther({ node, is: "here" });
    for (const node of before) if (!found.includes(node)) onOther({ node, is: "gone" });
  };

  return {
    drop: connection.drop,
    others: () => others,
    lookAround,
    /** Throws when the database cannot be asked. */
    async look(): Promise<void> {
      if (isFirst) await begin();
      await lookAround();
      for (;;) {
        const rows = await read<Row>(READ, [instanceId, [...seen.keys()], [...seen.values()]]);
        for (const row of rows) take(row);
        if (rows.length < MAX_TOGETHER) return;
      }
    },
  };
}
