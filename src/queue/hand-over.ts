/** Gives what waits in a session to another gateway. Nothing of it begins here until it is known whose it is. */
import type { SessionKey } from "../contracts/ids.ts";
import type { Clock } from "../kit/clock.ts";
import type { Admission } from "./admission.ts";
import type { Lanes } from "./lanes.ts";

interface HandOverWorld {
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly admission: Admission;
  ring(): void;
}

export async function handOver(
  { clock, lanes, admission, ring }: HandOverWorld,
  sessionKey: SessionKey,
  give: () => Promise<boolean>,
): Promise<boolean> {
  const moving = admission.arriving(sessionKey) > 0 ? null : lanes.move(sessionKey);
  if (!moving) return false;
  let given = false;
  try {
    given = await give();
  } finally {
    if (given) {
      moving.gone();
      for (const work of moving.works) admission.forget(work);
    } else moving.letGo(clock.elapsed());
    ring();
  }
  return given;
}
