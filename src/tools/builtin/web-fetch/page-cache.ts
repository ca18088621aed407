/** Pages of a little while ago, so that reading on does not fetch again. Bounded in time, number and size; gone with the process. */
import type { Clock } from "../../../kit/clock.ts";
import type { PageText } from "./page-text.ts";

interface PageCache {
  get(key: string): PageText | null;
  put(key: string, page: PageText, keptMs: number): void;
}

export const MAX_PAGES = 100;
export const MAX_CACHE_CHARS = 8 * 1024 * 1024;

export function createPageCache(clock: Pick<Clock, "elapsed">): PageCache {
  const kept = new Map<string, { readonly page: PageText; readonly until: number }>();
  let chars = 0;
  const drop = (key: string): void => {
    chars -= kept.get(key)?.page.text.length ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      if (!found) return null;
      if (found.until > clock.elapsed()) return found.page;
      drop(key);
      return null;
    },
    put(key, page, keptMs) {
      drop(key);
      if (keptMs <= 0 || page.text.length > MAX_CACHE_CHARS) return;
      kept.set(key, { page, until: clock.elapsed() + keptMs });
      chars += page.text.length;
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_PAGES && chars <= MAX_CACHE_CHARS) return;
        drop(oldest);
      }
    },
  };
}
