/** Sizes of everything that is stored, measured at most once a minute: a measurement reads a page of every part of the database. Deletes nothing. */
import type { RetentionStore } from "../contracts/store/retention.ts";
import type { Clock } from "../kit/clock.ts";

const FRESH_MS = 60_000;

interface KeptSizesDeps {
  readonly clock: Clock;
  readonly retention: Pick<RetentionStore, "sizes">;
}

export function createKeptSizes({ clock, retention }: KeptSizesDeps): Pick<RetentionStore, "sizes"> {
  let kept: { readonly sizes: Awaited<ReturnType<RetentionStore["sizes"]>>; readonly at: number } | null = null;
  return {
    async sizes(signal) {
      const now = clock.now();
      if (kept !== null && now >= kept.at && now - kept.at < FRESH_MS) return kept.sizes;
      const sizes = await retention.sizes(signal);
      kept = { sizes, at: clock.now() };
      return sizes;
    },
  };
}
