/** Where plugins look in. Handlers are kept in the order they came; who only observes is told without being waited for. */
import { errorText } from "../contracts/errors.ts";
import type { HookEvents, HookHandler, HookName, Hooks } from "../contracts/plugin-hooks.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";

interface HookDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export interface PluginHooks extends Hooks {
  /** A handler threw or did not end; told once for each time. */
  onTrouble(listener: (plugin: string, sentence: string, error: unknown) => void): Disposable;
  /** Until this is disposed of, whoever would be decided on by this plugin waits: it is being replaced, and nothing may slip past it. */
  hold(plugin: string): Disposable;
}

/** An observer that takes longer is given up; nothing waits for it anyway. */
const OBSERVER_MS = 15_000;

interface Entry<H extends HookName = HookName> {
  readonly plugin: string;
  readonly handler: HookHandler<H>;
}

export function createHooks({ clock, log }: HookDeps): PluginHooks {
  const byName = new Map<HookName, readonly Entry[]>();
  const listeners = new Set<(plugin: string, sentence: string, error: unknown) => void>();
  const held = new Set<{ readonly names: readonly HookName[]; readonly released: Deferred<void> }>();

  /** Entries are only ever added under their own name, so the handler takes the event of that name. */
  const entries = <H extends HookName>(name: H): readonly Entry<H>[] =>
    (byName.get(name) ?? []) as unknown as readonly Entry<H>[];

  /** Never rejects. */
  const tellOne = async <H extends HookName>(entry: Entry<H>, name: H, event: HookEvents[H]): Promise<void> => {
    using limit = clock.deadline(OBSERVER_MS, () => new Error(`it did not end within ${OBSERVER_MS} ms`));
    try {
      await orAborted(Promise.resolve(entry.handler(event, limit.signal)), limit.signal);
    } catch (error) {
      log.warn("a hook of a plugin failed", { plugin: entry.plugin, hook: name, error });
      const why = errorText(error) || "it did not say why";
      for (const listener of listeners) listener(entry.plugin, `Its hook ${name} failed: ${why}`, error);
    }
  };

  const whenReleased = async <H extends HookName>(name: H): Promise<readonly Entry<H>[]> => {
    for (const one of held) if (one.names.includes(name)) await one.released.promise;
    return entries(name);
  };

  return {
    on(name, handler, plugin) {
      const entry = { plugin, handler } as unknown as Entry;
      byName.set(name, [...(byName.get(name) ?? []), entry]);
      return {
        [Symbol.dispose]() {
          byName.set(
            name,
            (byName.get(name) ?? []).filter((one) => one !== entry),
          );
        },
      };
    },
    of: entries,
    deciding: (name) => (held.size === 0 ? entries(name) : whenReleased(name)),
    tell(name, event) {
      for (const entry of entries(name)) void tellOne(entry, name, event);
    },
    hold(plugin) {
      const names = [...byName].filter(([, all]) => all.some((entry) => entry.plugin === plugin)).map(([name]) => name);
      const one = { names, released: deferred<void>() };
      held.add(one);
      return {
        [Symbol.dispose]() {
          held.delete(one);
          one.released.resolve();
        },
      };
    },
    onTrouble(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
