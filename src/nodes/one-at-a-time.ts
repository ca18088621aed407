/** Something that one gateway at a time does for all: whoever holds its node lease. Another one begins it when that one has ended. */
import type { LeasedThing, NodeLeaseStore } from "../contracts/store/node-leases.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

interface OneAtATimeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly leases: Pick<NodeLeaseStore, "acquire" | "release">;
}

/** With what it takes to notice a death, work goes on within 12 s. */
const LOOK_MS = 2_000;

/** `begin` is called once, when this gateway has the lease. Disposed of, it ends what has begun, and then gives the lease back. */
export function beginWhenHeld(
  { clock, log, leases }: OneAtATimeDeps,
  thing: LeasedThing,
  begin: () => AsyncDisposable,
): AsyncDisposable {
  const closing = new AbortController();
  let begun: AsyncDisposable | null = null;
  let number: number | null = null;
  const isHeld = async (): Promise<boolean> => {
    try {
      const { kind, lease } = await leases.acquire(thing);
      number = kind === "mine" ? lease.number : null;
    } catch (error) {
      log.warn("lease could not be asked for", { ...thing, error });
    }
    return number !== null;
  };
  const giveBack = async (): Promise<void> => {
    const mine = number;
    number = null;
    if (mine === null) return;
    await leases
      .release(thing, mine)
      .catch((error: unknown) => log.warn("lease was not given back", { ...thing, error }));
  };
  /** Never rejects. */
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const held = await isHeld();
      if (closing.signal.aborted) return;
      if (held) {
        begun = begin();
        return;
      }
      await clock.sleep(LOOK_MS, closing.signal).catch(() => undefined); // closing is the normal end
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("the gateway stops"));
      await running;
      await begun?.[Symbol.asyncDispose]();
      await giveBack();
    },
  };
}
