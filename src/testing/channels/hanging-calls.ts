/**
 * Work that calls a platform or a store, with each of its calls hanging in turn. The work has to wait for the call, and to end when its caller
 * gives up: a call that nobody waits for, or that has another signal than the caller's, is found whichever it is.
 */
import { deferred, orAborted } from "../../kit/deferred.ts";

/** Plays one call: `answer` makes what is said to it. `signal` null: it has none, and is only waited for. */
export type PlayCall = <T>(name: string, signal: AbortSignal | null, answer: () => T) => Promise<T>;

interface Outcome {
  /** The calls that the work makes when all of them are answered, in order. */
  readonly calls: readonly string[];
  /** What is wrong with them, as sentences; empty: nothing. */
  readonly wrong: readonly string[];
}

const SILENT = new Promise<never>(() => undefined);
const MAX_CALLS = 20;

export async function hangEachCall(work: (play: PlayCall, signal: AbortSignal) => Promise<unknown>): Promise<Outcome> {
  const wrong: string[] = [];
  for (let hanging = 0; hanging < MAX_CALLS; hanging++) {
    const { calls, hung, trouble } = await hangOne(work, hanging);
    if (!hung) return { calls, wrong };
    if (trouble !== null) wrong.push(`${calls[hanging]}: ${trouble}`);
  }
  throw new Error("the work does not come to an end");
}

async function hangOne(work: Parameters<typeof hangEachCall>[0], hanging: number) {
  const calls: string[] = [];
  const giveUp = new AbortController();
  const letGo = deferred<void>();
  let hung = false;
  const play: PlayCall = async (name, signal, answer) => {
    const at = calls.push(name) - 1;
    if (at !== hanging) return answer();
    hung = true;
    if (signal !== null) return orAborted(SILENT, signal);
    await letGo.promise;
    return answer();
  };
  let isOver = false;
  const over = (): void => void (isOver = true);
  void work(play, giveUp.signal).then(over, over);
  await settle();
  let trouble = hung && isOver ? "nobody waits for its answer" : null;
  giveUp.abort(new Error("given up"));
  letGo.resolve();
  await settle();
  if (!isOver) trouble = "it goes on after its caller has given up";
  return { calls, hung, trouble };
}

/** Everything that waits for nothing outside has happened. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
