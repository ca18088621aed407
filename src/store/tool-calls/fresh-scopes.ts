/**
 * The scopes that this process has known from their first call on, and the call ids used in them. Any other id in such a scope has no row,
 * which saves a query; about other scopes it says nothing. Bounded: a forgotten scope is looked up again.
 */
import type { Steps } from "../steps.ts";

interface FreshScopes {
  /** True: certainly never called. `hasAny` is asked once for a scope that is not known yet. */
  isNew(scope: string, callId: string, hasAny: (scope: string) => Steps<boolean>): Steps<boolean>;
  /** Before its row is written, whether that works or not. */
  used(scope: string, callId: string): void;
}

export const MAX_SCOPES = 256;
export const MAX_IDS = 1_000;

export function createFreshScopes(): FreshScopes {
  const known = new Map<string, Set<string> | null>(); // null: it has calls that are not listed here
  const remember = (scope: string, ids: Set<string> | null): void => {
    const oldest = known.size >= MAX_SCOPES && !known.has(scope) ? known.keys().next() : null;
    if (oldest && !oldest.done) known.delete(oldest.value);
    known.set(scope, ids);
  };
  return {
    *isNew(scope, callId, hasAny) {
      if (!known.has(scope)) remember(scope, (yield* hasAny(scope)) ? null : new Set());
      const ids = known.get(scope);
      return ids ? !ids.has(callId) : false;
    },
    used(scope, callId) {
      const ids = known.get(scope);
      if (ids && ids.size < MAX_IDS) ids.add(callId);
      else remember(scope, null);
    },
  };
}
