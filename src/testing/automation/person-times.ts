/** People's times for tests: everybody is in UTC until a test chooses a zone. Kept in memory. */
import type { PersonTimes } from "../../contracts/automation/when.ts";
import type { ChannelValue, ChannelState } from "../../contracts/channels/platform.ts";
import type { Clock } from "../../kit/clock.ts";
import { createPersonTimes } from "../../automation/index.ts";

export function testPersonTimes(clock: Clock, facts: ChannelState = memoryFacts()): PersonTimes {
  return createPersonTimes({ clock, facts, person: (who) => who, hostZone: () => "UTC" }, new Map());
}

function memoryFacts(): ChannelState {
  const kept = new Map<string, string>();
  const nameOf = (...parts: readonly string[]): string => JSON.stringify(parts);
  return {
    get: async (channel, account, key) => kept.get(nameOf(channel, account, key)) ?? null,
    put: async (channel, account, key, value) => void kept.set(nameOf(channel, account, key), value),
    forget: async (channel, account, key) => void kept.delete(nameOf(channel, account, key)),
    async list(channel, account, prefix) {
      const all = [...kept].map(([name, value]) => ({ parts: JSON.parse(name) as readonly string[], value }));
      return all.flatMap(({ parts: [itsChannel, itsAccount, key = ""], value }): ChannelValue[] =>
        itsChannel === channel && itsAccount === account && key.startsWith(prefix) ? [{ key, value }] : [],
      );
    },
  };
}
