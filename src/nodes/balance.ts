/**
 * Sessions that wait move to where less waits. After a takeover one gateway has all of them while the others idle; about once a second it gives
 * some away, each with everything that waits in it, in one fenced transaction. A session with a running turn never moves.
 */
import type { InstanceId, SessionKey } from "../contracts/ids.ts";
import type { OtherNodes } from "../contracts/nodes.ts";
import type { Queue } from "../contracts/queue.ts";
import type { NodeLeaseStore } from "../contracts/store/node-leases.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { untilDone } from "../kit/until-done.ts";
import { chooseMoves, type Load, type Move } from "./choose-moves.ts";
import type { SessionHomes } from "./session-homes.ts";

interface BalanceDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: Pick<OtherNodes, "ask" | "answer" | "tell" | "hear" | "onCame" | "onGone">;
  readonly homes: Pick<SessionHomes, "handOver" | "adopt">;
  readonly leases: Pick<NodeLeaseStore, "takeSession" | "renumber">;
  /** The lanes of this gateway. */
  readonly queue: Pick<Queue, "movable" | "handOver" | "adopt" | "stats">;
  isDraining(): boolean;
}

const LOOK_MS = 1_000;
/** One that has just come is not given away again, whatever the loads are. */
const STAYS_MS = 10_000;

export function startBalance(deps: BalanceDeps): AsyncDisposable {
  const { clock, log, nodes, queue } = deps;
  const closing = new AbortController();
  const { signal } = closing;
  const loads = followLoads(nodes);
  const came = createArrivals(clock);
  let before = false;

  nodes.answer("queue.take", async ({ sessionKey, number }, from) => {
    if (deps.isDraining() || signal.aborted) return false;
    const taken = await deps.leases.takeSession(sessionKey, { owner: from, number });
    if (taken === null) return false;
    came.note(sessionKey);
    const adopting = queue.adopt(taken, signal); // at once: nothing of this session may begin before
    await deps.homes.adopt([sessionKey]);
    await adopting;
    return true;
  });

  const look = async (): Promise<void> => {
    const { waiting } = queue.stats();
    const draining = deps.isDraining();
    loads.tell({ waiting, willing: !draining });
    const movable = queue.movable().filter(({ sessionKey }) => !came.isRecent(sessionKey));
    const { moves, uneven } = chooseMoves({ waiting, movable, others: loads.others(), draining, before });
    before = uneven;
    for (const move of moves) {
      const moved = await giveAway(deps, move, signal);
      log.info(moved ? "session goes on at another gateway" : "session was not taken by another gateway", { ...move });
      if (!moved) return; // something begins in it, or the other one does not answer: the next look decides anew
    }
  };
  /** Never rejects. */
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await look().catch((error: unknown) => log.warn("sessions could not be given away", { error }));
      await clock.sleep(LOOK_MS, signal).catch(() => undefined); // closing is the normal end
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the gateway stops"));
      await running;
    },
  };
}

/** Where the other one does not say whether it took the session, its number is changed: either that fails, because it did, or it cannot any more. */
function giveAway(deps: BalanceDeps, { sessionKey, to }: Move, signal: AbortSignal): Promise<boolean> {
  const { clock, log, nodes, homes, leases, queue } = deps;
  const thing = { kind: "session", key: sessionKey } as const;
  const failed = (error: unknown, nextTryInMs: number): void =>
    log.warn("not known whose a session is", { sessionKey, nextTryInMs, error });
  const give = async (number: number): Promise<boolean | number> => {
    try {
      return await nodes.ask(to, "queue.take", { sessionKey, number });
    } catch {
      const outcome = await untilDone(
        { clock, failed },
        async () => ({ number: await leases.renumber(thing, number) }),
        signal,
      );
      // stopped before it was known: nothing of it begins here any more, and who has it is in the database
      return outcome?.number ?? true;
    }
  };
  return queue.handOver(sessionKey, () => homes.handOver(sessionKey, give));
}

/** What the others have told last; this gateway tells when it has changed, or when somebody is new. */
function followLoads(nodes: BalanceDeps["nodes"]) {
  const known = new Map<InstanceId, Load>();
  let told: Load | null = null;
  nodes.hear("load", (load, from) => void known.set(from, load));
  nodes.onGone((node) => void known.delete(node));
  nodes.onCame(() => (told = null));
  return {
    others: (): ReadonlyMap<InstanceId, Load> => known,
    tell(load: Load): void {
      if (told?.waiting === load.waiting && told.willing === load.willing) return;
      told = load;
      nodes.tell("load", load);
    },
  };
}

function createArrivals(clock: Clock) {
  const at = new Map<SessionKey, number>();
  const isRecent = (key: SessionKey): boolean => clock.elapsed() - (at.get(key) ?? -Infinity) < STAYS_MS;
  return {
    isRecent,
    note(key: SessionKey): void {
      for (const old of at.keys()) if (!isRecent(old)) at.delete(old);
      at.set(key, clock.elapsed());
    },
  };
}
