/** What every part of a simulated world shares: its time, its chance, its disk and the notes of what happened. */
import type { SessionKey } from "../../src/contracts/ids.ts";
import type { Ids } from "../../src/kit/ids.ts";
import { createSeqIds } from "../../src/testing/seq-ids.ts";
import { type Chance, createChance } from "../../src/testing/chance.ts";
import { createSimDisk, type SimDatabase } from "./database.ts";
import { createFacts, type Facts } from "./facts.ts";
import { optionsOf, type SimOptions } from "./options.ts";
import { openSimPostgres } from "./postgres/database.ts";
import { createSimTime, type SimTime } from "./sim-time.ts";

export interface World extends AsyncDisposable {
  readonly seed: number;
  /** Agents come from the shipped pool. */
  readonly shippedPool: boolean;
  readonly options: SimOptions;
  readonly chance: Chance;
  readonly time: SimTime;
  readonly database: SimDatabase;
  readonly ids: Ids;
  readonly facts: Facts;
  /** From here on nothing goes wrong any more, and everything has to come to its end. */
  calm: boolean;
  /** Calls of the stores of living processes that have not come back. */
  calls: number;
  /** Sessions whose mode is just being chosen. */
  readonly choosing: Set<SessionKey>;
  /** An agent is being told something in the middle of its turn. */
  told: (text: string) => void;
}

/** One run of the process. */
export interface Mortal {
  readonly number: number;
  readonly alive: boolean;
  /** Like kill -9: whatever it was doing stops here. */
  die(where: string): void;
}

export interface WorldOptions {
  /** Default: agents of the simulation, without a pool. */
  readonly shippedPool?: boolean;
  /** Default: `sqlite`, in memory. Postgres is a real server, see `src/testing/postgres/database.ts`. */
  readonly store?: "sqlite" | "postgres";
}

export async function openWorld(
  seed: number,
  blank: Uint8Array,
  { shippedPool = false, store = "sqlite" }: WorldOptions,
): Promise<World> {
  const chance = createChance(seed);
  const time = createSimTime();
  const troubles = chance.fork("disk");
  const database = store === "sqlite" ? createSimDisk(troubles, blank) : await openSimPostgres(troubles);
  return {
    seed,
    shippedPool,
    options: optionsOf(chance.fork("options")),
    chance,
    time,
    database,
    ids: createSeqIds(),
    facts: createFacts(time.now),
    calm: false,
    calls: 0,
    choosing: new Set(),
    told: () => undefined,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

export const never = <T>(): Promise<T> => new Promise(() => undefined);

const QUIET_TURNS = 2;

/** Until nothing moves without time passing: no call of the store is under way, and every chain of promises has run to its next wait. */
export async function settled(world: World): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TURNS; quiet = world.calls === 0 ? quiet + 1 : 0)
    await new Promise((resolve) => setImmediate(resolve));
}
