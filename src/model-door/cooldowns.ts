/** Models that are not asked for a while because they failed: by provider and model, or the whole provider where its key was refused. In memory alone. */
import type { Clock } from "../kit/clock.ts";

export interface Cooldown {
  /** `provider/model`, or the provider alone. */
  readonly name: string;
  readonly because: string;
  /** On the clock of elapsed time. */
  readonly until: number;
}

interface Cooldowns {
  /** Null: it may be asked. */
  of(provider: string, model: string): Cooldown | null;
  begin(failed: Failure): void;
  /** It has answered. */
  end(provider: string, model: string): void;
  list(): readonly Cooldown[];
}

interface Failure {
  readonly provider: string;
  /** `provider/model`. */
  readonly model: string;
  /** Null: the provider did not answer. */
  readonly status: number | null;
  readonly because: string;
  /** As the provider asked for; null: it did not. */
  readonly waitMs: number | null;
}

const USUAL_MS = 60_000;
/** A provider that names a longer time is asked again after this one: it may have changed its mind. */
const LONGEST_MS = 15 * 60_000;
const KEY_REFUSED: readonly (number | null)[] = [401, 402, 403];

export function createCooldowns(clock: Clock): Cooldowns {
  const all = new Map<string, Cooldown>();
  const current = (name: string): Cooldown | null => {
    const found = all.get(name);
    if (found && found.until > clock.elapsed()) return found;
    all.delete(name);
    return null;
  };
  return {
    of: (provider, model) => current(provider) ?? current(model),
    begin({ provider, model, status, because, waitMs }) {
      const name = KEY_REFUSED.includes(status) ? provider : model;
      const until = clock.elapsed() + Math.min(waitMs ?? USUAL_MS, LONGEST_MS);
      all.set(name, { name, because, until });
    },
    end(provider, model) {
      all.delete(provider);
      all.delete(model);
    },
    list: () => [...all.keys()].flatMap((name) => current(name) ?? []),
  };
}
