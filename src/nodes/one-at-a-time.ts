/** Something that one gateway at a time does for all: whoever holds its node lease. Another one begins it when that one has ended. */
import type { LeasedThing, NodeLeaseStore } from "../contracts/store/node-leases.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

interface OneAtATimeDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly leases: Pick<NodeLeaseStore, "acquire">;
}

/** With what it takes to notice a death, work goes on within 12 s. */
const LOOK_MS = 2_000;

/** `begin` is called once, when this gateway has the lease, which it keeps until it ends. */
export function beginWhenHeld(
  { clock, log, leases }: OneAtATimeDeps,
  thing: LeasedThing,
  begin: () => AsyncDisposable,
): AsyncDisposable {
  const closing = new AbortController();
  let begun: AsyncDisposable | null = null;
  const isHeld = async (): Promise<boolean> => {
    try {
      return (await leases.acquire(thing)).kind === "mine";
    } catch (error) {
      log.warn("lease could not be asked for", { ...thing, error });
      return false;
    }
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
    },
  };
}
