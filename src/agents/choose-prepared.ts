/** Whether and where the pool prepares for a message that may come: a pure decision with its reason. It takes nothing that a turn would miss. */
import { fits, type IdleOne, idleOnes, type Situation, type Wanted, WARM_FOR_ONE } from "./choose.ts";

export interface PrepareSituation extends Situation {
  /** Turns that wait for a process. */
  readonly waiting: number;
  /** Whoever comes next is to find a spare of this profile. */
  readonly keepsSpare: boolean;
  /** Asked only before a start: the answer costs a system call. */
  isMemoryScarce(): boolean;
}

export type PrepareWanted = Omit<Wanted, "sessionFile" | "unattended"> & {
  /** Null: nothing was said in the session yet. */
  readonly sessionFile: string | null;
  /** The file can be read ahead; otherwise a process is all that the next message needs. */
  readonly canOpen: boolean;
};

export type PrepareChoice =
  | { readonly kind: "open"; readonly worker: number; readonly because: "same_principal" | "fresh" | "shared" }
  | { readonly kind: "start"; readonly because: "room_left" }
  | {
      readonly kind: "nothing";
      readonly because:
        | "session_in_use"
        | "somebody_waits"
        | "session_is_open"
        | "process_is_ready"
        | "one_is_starting"
        | "enough_open"
        | "starts_held_back"
        | "pool_full"
        | "memory_scarce";
    };

/**
 * In this order: the person's own process that was prepared for another session and not used → their own of a conversation that has gone
 * quiet → where people share, anybody's of that kind → a fresh one, if another one stays for whoever comes next → a start, if the last place
 * of the pool stays free. A process of a conversation that goes on is never switched.
 */
export function choosePrepared(wanted: PrepareWanted, situation: PrepareSituation): PrepareChoice {
  const { sessionFile, canOpen } = wanted;
  const { workers, shared } = situation;
  const isOpenIn = ({ state }: IdleOne): boolean => sessionFile !== null && state.sessionFile === sessionFile;
  // also when the reply has left and the process is about to be given back, while the file is still the process's own
  const inUse = workers.some(({ state }) => state.at === "busy" && state.sessionFile === sessionFile);
  if (inUse) return nothing("session_in_use");
  if (situation.waiting > 0) return nothing("somebody_waits");

  const fitting = idleOnes(workers).filter((one) => fits(one, wanted));
  const mine = fitting.filter(({ state }) => state.served?.principal === wanted.principal);
  if ((shared ? fitting : mine).some(isOpenIn)) return nothing("session_is_open");
  const free = fitting.filter(({ isOpening = false }) => !isOpening);
  const spares = free.filter(({ state }) => shared || state.served === null);
  const own = preparedFirst(free.filter((one) => mine.includes(one) && hasGoneQuiet(one, situation)));
  const mayTakeSpare = spares.length > (situation.keepsSpare ? 1 : 0);
  if (!canOpen && (own.length > 0 || spares.length > 0)) return nothing("process_is_ready");

  const [samePerson] = own;
  if (samePerson && (!shared || mayTakeSpare)) return open(samePerson, "same_principal");
  if (mine.length >= WARM_FOR_ONE) return nothing("enough_open");
  const fresh = spares.find(({ state }) => state.served === null);
  if (fresh && mayTakeSpare) return open(fresh, "fresh");
  const anyone = spares.find((one) => hasGoneQuiet(one, situation));
  if (anyone && mayTakeSpare) return open(anyone, "shared");
  return mayStart(situation);
}

/** One at a time, and never in the last place: a turn that needs a start finds room for it. */
function mayStart(situation: PrepareSituation): PrepareChoice {
  const { workers, max } = situation;
  if (situation.unclaimedStarts > 0) return nothing("one_is_starting");
  if (!situation.mayStart) return nothing("starts_held_back");
  const alive = workers.filter(({ state }) => state.at !== "dead").length;
  if (alive + 1 >= max) return nothing("pool_full");
  if (situation.isMemoryScarce()) return nothing("memory_scarce");
  return { kind: "start", because: "room_left" };
}

/** What was opened in it for a message that did not come is no conversation. */
function hasGoneQuiet({ state }: IdleOne, { warmSince }: Situation): boolean {
  return state.preparedAt !== undefined || state.served?.unattended === true || state.since < warmSince;
}

/** The person looks at another session now. */
function preparedFirst(own: readonly IdleOne[]): readonly IdleOne[] {
  const isPrepared = ({ state }: IdleOne): boolean => state.preparedAt !== undefined;
  return [...own.filter(isPrepared), ...own.filter((one) => !isPrepared(one))];
}

function open({ id }: IdleOne, because: Extract<PrepareChoice, { kind: "open" }>["because"]): PrepareChoice {
  return { kind: "open", worker: id, because };
}

function nothing(because: Extract<PrepareChoice, { kind: "nothing" }>["because"]): PrepareChoice {
  return { kind: "nothing", because };
}
