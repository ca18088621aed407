/** Owns the parts of a running thing and stops them in reverse order: each with a deadline, all of them even when one fails. */
import type { Clock } from "./clock.ts";
import { orAborted } from "./deferred.ts";
import type { Log } from "./log.ts";

interface Owned {
  readonly name: string;
  readonly part: AsyncDisposable;
  readonly graceMs: () => number;
}

export class Lifetime {
  readonly #deps: { readonly clock: Clock; readonly log: Log };
  readonly #owned: Owned[] = [];
  #stopped: Promise<void> | null = null;

  constructor(deps: { readonly clock: Clock; readonly log: Log }) {
    this.#deps = deps;
  }

  /** Remembers `part` and gives it back, so that building reads as one list. */
  own<T extends AsyncDisposable>(name: string, part: T, graceMs: number | (() => number) = 10_000): T {
    this.#owned.push({ name, part, graceMs: typeof graceMs === "number" ? () => graceMs : graceMs });
    return part;
  }

  /** Runs `stop` in its place of the reverse order. */
  onStop(name: string, stop: () => Promise<void> | void, graceMs = 10_000): void {
    this.own(name, { [Symbol.asyncDispose]: async () => stop() }, graceMs);
  }

  /** Safe to call twice; the second call waits for the first. */
  stop(reason: string): Promise<void> {
    this.#stopped ??= this.#unwind(reason);
    return this.#stopped;
  }

  async #unwind(reason: string): Promise<void> {
    const { clock, log } = this.#deps;
    for (const { name, part, graceMs: limitMs } of this.#owned.toReversed()) {
      const startedAt = clock.elapsed();
      const graceMs = limitMs();
      using limit = clock.deadline(graceMs, () => new Error(`${name} did not stop within ${graceMs} ms`));
      try {
        await orAborted(Promise.resolve(part[Symbol.asyncDispose]()), limit.signal);
        log.debug("part stopped", { part: name, ms: Math.round(clock.elapsed() - startedAt), reason });
      } catch (error) {
        log.error("part did not stop cleanly", { part: name, error });
      }
    }
    this.#owned.length = 0;
  }
}
