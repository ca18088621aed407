/**
 * Where sessions live. The home of a session is the gateway that holds its node lease: its lane, its running turn and its open questions are in
 * the memory of that one. Who holds it keeps it while something goes on in it, and gives it back when it has been quiet for a while.
 */
import type { InstanceId, SessionKey } from "../contracts/ids.ts";
import type { NodeLeaseStore } from "../contracts/store/node-leases.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";

interface HomesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly me: InstanceId;
  readonly leases: Pick<NodeLeaseStore, "acquire" | "release" | "heldBy">;
  /** Something runs or waits in it here. */
  isBusy(sessionKey: SessionKey): boolean;
}

export interface SessionHomes extends AsyncDisposable {
  /** Runs the work here, where the session stays meanwhile, or says which gateway has it. */
  here<T>(
    sessionKey: SessionKey,
    work: () => Promise<T>,
  ): Promise<{ readonly kind: "done"; readonly value: T } | { readonly kind: "elsewhere"; readonly node: InstanceId }>;
  /** This gateway is its home, and it is not about to leave. */
  isHere(sessionKey: SessionKey): boolean;
  /** The other gateway that has it; null: this one, or nobody. */
  elsewhere(sessionKey: SessionKey): Promise<InstanceId | null>;
  /** Work of these came to this gateway by a takeover, or was left by a process before it. */
  adopt(sessions: readonly SessionKey[]): Promise<void>;
  /** Gives this one back, unless something goes on in it. False: it is kept. */
  giveUp(sessionKey: SessionKey): Promise<boolean>;
  /**
   * Gives a session to another gateway: `give` gets its fencing number, and whoever wants the session here waits until it has answered. True: it
   * is gone. A number: it stays, under that one. False: it stays as it is, because `give` said so or because somebody uses it.
   */
  handOver(sessionKey: SessionKey, give: (number: number) => Promise<boolean | number>): Promise<boolean>;
  /** From now on a session without a home gets one at a gateway that is willing; here only while there is none. */
  drain(willing: () => readonly InstanceId[]): void;
  /** Gives back everything that is quiet, now. How many sessions stay. */
  leave(): Promise<number>;
}

interface Held {
  number: number;
  uses: number;
  usedAt: number;
}

/** A session whose process is gone from the pool may as well go on elsewhere. */
const QUIET_MS = 10 * 60_000;
const LOOK_MS = 60_000;

export function createSessionHomes({ clock, log, me, leases, isBusy }: HomesDeps): SessionHomes {
  const held = new Map<SessionKey, Held>();
  const departures = createDepartures(held);
  const closing = new AbortController();
  const placement = createPlacement();
  const { giveUp, giveBack } = createGivingBack({ clock, leases, isBusy }, held);

  const running = everyMinute(clock, closing.signal, () =>
    background(log, "sessions could not be given back", () => giveBack(QUIET_MS)),
  );

  const take = async (key: SessionKey): Promise<Held | InstanceId> => {
    for (let left = departures.of(key); left; left = departures.of(key)) await left;
    const known = held.get(key);
    if (known) return use(known);
    const { kind, lease } = await leases.acquire(thing(key));
    if (kind === "held") return lease.owner;
    const one: Held = held.get(key) ?? { number: lease.number, uses: 0, usedAt: clock.elapsed() };
    held.set(key, one);
    return use(one);
  };
  const elsewhere = async (key: SessionKey): Promise<InstanceId | null> => {
    if (held.has(key)) return null;
    const lease = await leases.heldBy(thing(key)); // reading is cheaper than asking for it, and most sessions have a home
    return lease === null || lease.owner === me ? null : lease.owner;
  };

  return {
    async here(key, work) {
      const node = (await elsewhere(key)) ?? (held.has(key) ? null : placement.next());
      if (node !== null) return { kind: "elsewhere", node };
      const one = await take(key);
      if (typeof one === "string") return { kind: "elsewhere", node: one };
      try {
        return { kind: "done", value: await work() };
      } finally {
        leaveOff(one, clock.elapsed());
      }
    },
    isHere: (key) => held.has(key) && departures.of(key) === undefined,
    elsewhere,
    async adopt(sessions) {
      for (const key of new Set(sessions)) {
        const one = await take(key);
        if (typeof one !== "string") leaveOff(one, clock.elapsed());
      }
    },
    handOver: departures.handOver,
    drain: placement.drain,
    giveUp: (key) => giveUp(key, 0),
    leave: () => giveBack(0),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the gateway stops"));
      await running;
    },
  };
}

const thing = (key: SessionKey) => ({ kind: "session", key }) as const;

/** Sessions in which nothing goes on are free for every gateway. */
function createGivingBack(
  { clock, leases, isBusy }: Pick<HomesDeps, "clock" | "leases" | "isBusy">,
  held: Map<SessionKey, Held>,
) {
  const isQuiet = (key: SessionKey, { uses, usedAt }: Held, forMs: number): boolean =>
    uses === 0 && clock.elapsed() - usedAt >= forMs && !isBusy(key);

  /** False: something goes on in it, or did a moment ago. */
  const giveUp = async (key: SessionKey, forMs: number): Promise<boolean> => {
    const one = held.get(key);
    if (!one || !isQuiet(key, one, forMs)) return false;
    held.delete(key); // from here on it is asked for anew
    return leases.release(thing(key), one.number);
  };
  /** How many stay. */
  const giveBack = async (forMs: number): Promise<number> => {
    for (const key of [...held.keys()]) await giveUp(key, forMs);
    return held.size;
  };
  return { giveUp, giveBack };
}

/** Sessions that are just being given to another gateway. */
function createDepartures(held: Map<SessionKey, Held>) {
  const leaving = new Map<SessionKey, Promise<void>>();
  const handOver: SessionHomes["handOver"] = async (key, give) => {
    const one = held.get(key);
    if (!one || one.uses > 0 || leaving.has(key)) return false;
    const left = deferred<void>();
    leaving.set(key, left.promise);
    try {
      const given = await give(one.number);
      if (given === true) held.delete(key);
      else if (given !== false) one.number = given;
      return given === true;
    } finally {
      leaving.delete(key);
      left.resolve();
    }
  };
  return {
    handOver,
    /** Until it is decided; undefined: it does not leave. */
    of: (key: SessionKey): Promise<void> | undefined => leaving.get(key),
  };
}

/** Where sessions without a home go while this gateway drains: to the others in turn. */
function createPlacement() {
  let willing: () => readonly InstanceId[] = () => [];
  let count = 0;
  return {
    drain(others: () => readonly InstanceId[]): void {
      willing = others;
    },
    /** Null: it does not drain, or nobody else is there. */
    next(): InstanceId | null {
      const all = willing();
      return all[count++ % all.length] ?? null;
    },
  };
}

/** Resolves when the signal aborts. */
async function everyMinute(clock: Clock, signal: AbortSignal, look: () => void): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal).catch(() => undefined); // being stopped is the normal end
    if (!signal.aborted) look();
  }
}

/** In use from here on, in the same breath: what is in use is not given back. */
function use(one: Held): Held {
  one.uses++;
  return one;
}

function leaveOff(one: Held, at: number): void {
  one.uses--;
  one.usedAt = at;
}
