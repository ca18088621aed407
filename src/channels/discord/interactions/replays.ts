/** Which interactions have been here: each counts once, across restarts and however it comes. Ids older than any request may be are let go. */
import type { Clock } from "../../../kit/clock.ts";
import type { AccountState } from "../../kit/index.ts";
import { isSnowflake, snowflakeTime } from "../settings.ts";
import { MAX_AGE_MS } from "./signature.ts";

export interface Replays {
  /** `first`: never seen, and from now on it is, durably. `full`: too many at once; it may come again. */
  take(id: string): Promise<"first" | "again" | "full">;
}

const KEY = "interactions";
/** A request may be this old and its clock may be off as much. */
const KEEP_MS = 3 * MAX_AGE_MS;
const MAX_KEPT = 1_000;

export function createReplays({ clock, facts }: { readonly clock: Clock; readonly facts: AccountState }): Replays {
  let seen: string[] | null = null;
  let line: Promise<unknown> = Promise.resolve();

  const take = async (id: string): Promise<"first" | "again" | "full"> => {
    const now = clock.now();
    if (!isSnowflake(id) || snowflakeTime(id) < now - KEEP_MS) return "again"; // what is that old cannot be told from a repeat
    seen ??= parse(await facts.get(KEY));
    if (seen.includes(id)) return "again";
    const kept = seen.filter((one) => snowflakeTime(one) >= now - KEEP_MS);
    if (kept.length >= MAX_KEPT) return "full";
    await facts.put(KEY, JSON.stringify([...kept, id]));
    seen = [...kept, id];
    return "first";
  };
  return {
    take(id) {
      const next = line.then(() => take(id));
      line = next.catch(() => undefined); // whoever asked sees it; the next one is asked all the same
      return next;
    },
  };
}

function parse(text: string | null): string[] {
  const parsed: unknown = text === null ? [] : JSON.parse(text);
  return Array.isArray(parsed) ? parsed.map(String).filter(isSnowflake) : [];
}
