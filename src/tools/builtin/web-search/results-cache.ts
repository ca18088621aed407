/** Results of a little while ago, so that the same question is not paid for twice. Bounded in time and number; gone with the process. */
import type { Clock } from "../../../kit/clock.ts";
import type { SearchResult } from "./providers.ts";

interface ResultsCache {
  get(key: string): readonly SearchResult[] | null;
  put(key: string, results: readonly SearchResult[]): void;
}

export const KEPT_MS = 10 * 60_000;
export const MAX_KEPT = 200;

export function createResultsCache(clock: Pick<Clock, "elapsed">): ResultsCache {
  const kept = new Map<string, { readonly results: readonly SearchResult[]; readonly until: number }>();
  return {
    get(key) {
      const found = kept.get(key);
      if (!found) return null;
      if (found.until > clock.elapsed()) return found.results;
      kept.delete(key);
      return null;
    },
    put(key, results) {
      kept.delete(key);
      const oldest = kept.size < MAX_KEPT ? undefined : kept.keys().next().value;
      if (oldest !== undefined) kept.delete(oldest);
      kept.set(key, { results, until: clock.elapsed() + KEPT_MS });
    },
  };
}
