/** The audit log of a state directory, verified wherever its store is. */
import { storeUrlOf } from "./postgres/home-database.ts";
import { systemClock } from "../kit/clock.ts";
import { verifyAudit } from "../store/index.ts";

export async function verifyStoredAudit(home: string): ReturnType<typeof verifyAudit> {
  const url = await storeUrlOf(home);
  return verifyAudit(home, url ? { clock: systemClock, url } : null);
}
