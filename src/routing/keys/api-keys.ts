/**
 * Keys of programs, held in memory and written through to the store. A key is found by the digest of its secret; unknown, revoked and
 * expired ones are not found alike. Everything that runs in the name of a key ends with it.
 */
import { type ApiKey, type ApiKeys, isKeyPrincipal, keyPrincipal } from "../../contracts/api-keys.ts";
import { GatewayError } from "../../contracts/errors.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { ApiKeyStore, StoredApiKey } from "../../contracts/store/api-keys.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Changes } from "../grants.ts";
import { refusedBecause } from "./decide-key.ts";
import { keyDigest, newKeyId, newKeySecret } from "./key-secret.ts";

interface ApiKeyDeps extends Changes {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: ApiKeyStore;
}

interface OpenApiKeys extends ApiKeys, AsyncDisposable {
  /** Another gateway has changed them. */
  reload(): Promise<void>;
}

/** More programs than one gateway serves. */
const MAX_KEYS = 1_000;
/** How exact `lastUsedAt` is: a write for each request would cost more than the request. */
const USED_EVERY_MS = 60_000;
/** A machine that slept, or a clock that was set forward, is noticed within this time. */
const MAX_WAIT_MS = 60_000;

interface HeldKey {
  readonly stored: StoredApiKey;
  lastUsedAt: number | null;
  readonly ending: AbortController;
}

export async function openApiKeys(deps: ApiKeyDeps): Promise<OpenApiKeys> {
  return createApiKeys(deps, await deps.store.list());
}

export function createApiKeys(deps: ApiKeyDeps, stored: readonly StoredApiKey[] = []): OpenApiKeys {
  const { clock, ids, log, store } = deps;
  const { byId, byDigest, keep, drop } = createHeldKeys(stored);
  const isCurrent = ({ stored: { expiresAt } }: HeldKey): boolean => expiresAt === null || expiresAt > clock.now();
  const current = (key: HeldKey | undefined): ApiKey | null => (key && isCurrent(key) ? shown(key) : null);
  const expiry = createExpiryWatch(clock, () => {
    const expired = [...byId.values()].filter((key) => !isCurrent(key) && !key.ending.signal.aborted);
    for (const key of expired) end(key, "expired");
    if (expired.length > 0) deps.changed();
    watchExpiry();
  });
  const watchExpiry = (): void => expiry.watch([...byId.values()].map(({ stored: key }) => key.expiresAt));
  watchExpiry();

  return {
    list: () => [...byId.values()].map(shown).sort((a, b) => (a.id < b.id ? 1 : -1)),
    async make(asked, by) {
      const refused = byId.size >= MAX_KEYS ? TOO_MANY : refusedBecause(asked, by.key, clock.now());
      if (refused !== null) return { kind: "refused", say: refused };
      const secret = newKeySecret(ids);
      const made = { ...asked, name: asked.name.trim(), createdAt: clock.now(), createdBy: by.principal };
      const key = held({ ...made, id: newKeyId(ids), digest: keyDigest(secret), lastUsedAt: null });
      await store.put(key.stored);
      keep(key);
      watchExpiry();
      deps.changed();
      await deps.spread();
      return { kind: "made", key: shown(key), secret };
    },
    async revoke(id, by) {
      const key = byId.get(id);
      if (!key) return false;
      // in force at once: a store that cannot write must not keep a stolen key alive until the next start
      drop(key);
      watchExpiry();
      deps.changed();
      const isRemoved = await store.remove(id, by);
      await deps.spread();
      return isRemoved;
    },
    find: (secret) => current(byDigest.get(keyDigest(secret))),
    of: (principal) => (isKeyPrincipal(principal) ? current(byId.get(idOf(principal))) : null),
    ending: (id) => byId.get(id)?.ending.signal ?? AbortSignal.abort(ended("gone")),
    used(id) {
      const key = byId.get(id);
      const now = clock.now();
      if (!key || now - (key.lastUsedAt ?? -Infinity) < USED_EVERY_MS) return;
      key.lastUsedAt = now;
      background(log, "last use of a key not stored", () => store.touch(id, now));
    },
    async reload() {
      const now = await store.list();
      for (const key of byId.values()) if (!now.some(({ id }) => id === key.stored.id)) drop(key);
      for (const stored of now) if (!byId.has(stored.id)) keep(held(stored));
      watchExpiry();
    },
    async [Symbol.asyncDispose]() {
      expiry[Symbol.dispose]();
    },
  };
}

/** Found by their id, and by the digest of their secret. */
function createHeldKeys(stored: readonly StoredApiKey[]) {
  const byId = new Map<string, HeldKey>();
  const byDigest = new Map<string, HeldKey>();
  const keep = (key: HeldKey): void => {
    byId.set(key.stored.id, key);
    byDigest.set(key.stored.digest, key);
  };
  for (const one of stored) keep(held(one));
  return {
    byId,
    byDigest,
    keep,
    /** Everything that runs in its name ends. */
    drop(key: HeldKey): void {
      byId.delete(key.stored.id);
      byDigest.delete(key.stored.digest);
      end(key, "revoked");
    },
  };
}

const TOO_MANY = `There are ${MAX_KEYS} keys already. Revoke one that is not used any more.`;

function held(stored: StoredApiKey): HeldKey {
  return { stored, lastUsedAt: stored.lastUsedAt, ending: new AbortController() };
}

function shown({ stored: { digest: _digest, ...key }, lastUsedAt }: HeldKey): ApiKey {
  return { ...key, lastUsedAt };
}

function idOf(principal: Principal): string {
  return principal.slice(keyPrincipal("").length);
}

function end({ ending }: HeldKey, how: string): void {
  ending.abort(ended(how));
}

function ended(how: string): GatewayError {
  return new GatewayError("unauthorized", `the key is ${how}`);
}

/** Calls `due` when the first of the moments has come, and now and then before. Moments that have passed are nobody's business any more. */
function createExpiryWatch(clock: Clock, due: () => void) {
  let timer: Disposable | null = null;
  const stop = (): void => timer?.[Symbol.dispose]();
  return {
    watch(moments: readonly (number | null)[]): void {
      stop();
      const now = clock.now();
      const ahead = moments.filter((at) => at !== null && at > now) as readonly number[];
      if (ahead.length === 0) return;
      const waiting = clock.deadline(Math.min(Math.min(...ahead) - now, MAX_WAIT_MS), () => new Error("a key expires"));
      waiting.signal.addEventListener("abort", due, { once: true });
      timer = waiting;
    },
    [Symbol.dispose]: stop,
  };
}
