/** The keys of each provider, in rotation: one that is limited or refused is left alone for a while, and what can be read again is, once it is refused. */
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { type Secret, secret } from "../kit/secret.ts";
import type { KeySource } from "../config/index.ts";
import { isRefreshable, readKey } from "./key-source.ts";

interface KeyDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly userHome: string;
  /** From now on this value is kept out of every log line and reply. */
  hide(key: Secret): unknown;
}

/** One key, for one try. */
interface LeasedKey {
  readonly value: string;
  /** The provider refused it, or limits it. True: there is another one to try at once. */
  failed(status: number, waitMs: number | null): boolean;
}

export interface ProviderKeys {
  /** Null: none of them can be used now. */
  next(provider: string, sources: readonly KeySource[]): Promise<LeasedKey | null>;
}

const LIMITED = 429;
const REFUSED: readonly number[] = [401, 403];
const USUAL_PAUSE_MS = 60_000;
/** A program is not asked more often than this, whatever a provider says. */
const REFRESH_MS = 10_000;

interface Ring {
  at: number;
  readonly sources: readonly KeySource[];
  readonly known: Map<number, { readonly value: string; readonly readAt: number }>;
  readonly pausedUntil: Map<number, number>;
}

export function createProviderKeys(deps: KeyDeps): ProviderKeys {
  const { clock, log } = deps;
  const rings = new Map<string, Ring>();

  /** A changed configuration begins anew. */
  const ringOf = (provider: string, sources: readonly KeySource[]): Ring => {
    const ring = rings.get(provider);
    if (ring?.sources === sources) return ring;
    const made = { at: 0, sources, known: new Map(), pausedUntil: new Map() };
    rings.set(provider, made);
    return made;
  };
  const read = async (ring: Ring, at: number): Promise<string | null> => {
    const source = ring.sources[at];
    const known = ring.known.get(at);
    if (known) return known.value;
    if (!source) return null;
    try {
      const value = await readKey(deps, source);
      deps.hide(secret(value));
      ring.known.set(at, { value, readAt: clock.elapsed() });
      return value;
    } catch (error) {
      log.warn("key of a provider could not be read", { error });
      ring.pausedUntil.set(at, clock.elapsed() + REFRESH_MS);
      return null;
    }
  };
  const usable = (ring: Ring): number | null => {
    const places = ring.sources.map((_source, step) => (ring.at + step) % ring.sources.length);
    return places.find((at) => (ring.pausedUntil.get(at) ?? 0) <= clock.elapsed()) ?? null;
  };
  const failed = (ring: Ring, at: number, status: number, waitMs: number | null): boolean => {
    const known = ring.known.get(at);
    const source = ring.sources[at];
    const isOld = known !== undefined && clock.elapsed() - known.readAt >= REFRESH_MS;
    if (REFUSED.includes(status) && source && isRefreshable(source) && isOld) {
      ring.known.delete(at); // it may have been changed where it is kept
      return true;
    }
    if (status !== LIMITED && !REFUSED.includes(status)) return false;
    if (ring.sources.length === 1) return false; // its only one is tried again with the next call
    ring.pausedUntil.set(at, clock.elapsed() + (waitMs ?? USUAL_PAUSE_MS));
    ring.at = (at + 1) % ring.sources.length;
    return usable(ring) !== null;
  };

  return {
    async next(provider, sources) {
      const ring = ringOf(provider, sources);
      for (let tries = 0; tries < sources.length; tries++) {
        const at = usable(ring);
        if (at === null) return null;
        const value = await read(ring, at);
        if (value === null) continue;
        ring.at = (at + 1) % sources.length;
        return { value, failed: (status, waitMs) => failed(ring, at, status, waitMs) };
      }
      return null;
    },
  };
}
