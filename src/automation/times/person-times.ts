/** Time zones that people have chosen, held in memory and written through to the store; and moments as they say them, read in these zones. */
import type { PersonTimes } from "../../contracts/automation/when.ts";
import type { ChannelState } from "../../contracts/channels/platform.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import { readWhen } from "./when.ts";
import { isTimezone } from "./zone.ts";

interface PersonTimesDeps {
  readonly clock: Clock;
  readonly facts: ChannelState;
  /** The name that several ids of one person have in common, or the id itself. */
  person(who: Principal): string;
  hostZone(): string;
  /** Tells other gateways what somebody has chosen here. Absent: there are none. */
  spread?(person: string, timezone: string | null): void;
}

interface OpenPersonTimes extends PersonTimes {
  /** What was chosen at another gateway, which keeps it. */
  hear(person: string, timezone: string | null): void;
  reload(): Promise<void>;
}

/** No channel has such a name. */
const KEPT = ["gateway:people", "timezone"] as const;

export async function openPersonTimes(deps: PersonTimesDeps): Promise<OpenPersonTimes> {
  const zones = new Map<string, string>();
  const reload = async (): Promise<void> => {
    const kept = await deps.facts.list(...KEPT, "");
    zones.clear();
    for (const { key, value } of kept) zones.set(key, value);
  };
  await reload();
  const hear = (person: string, timezone: string | null): void => {
    if (timezone === null) zones.delete(person);
    else zones.set(person, timezone);
  };
  return { ...createPersonTimes(deps, zones), hear, reload };
}

/** `zones`: what was kept before. */
export function createPersonTimes(deps: PersonTimesDeps, zones: Map<string, string>): PersonTimes {
  const { clock, facts, person, hostZone, spread } = deps;
  const zoneOf = (who: Principal): string | undefined => zones.get(person(who));
  return {
    zoneOf,
    hostZone,
    read: (text, who, timezone) =>
      readWhen(text, { now: clock.now(), timezone: timezone ?? zoneOf(who) ?? hostZone() }),
    async choose(who, timezone) {
      if (timezone === null) {
        await facts.forget(...KEPT, person(who));
        zones.delete(person(who));
        spread?.(person(who), null);
        return true;
      }
      if (!isTimezone(timezone)) return false;
      await facts.put(...KEPT, person(who), timezone);
      zones.set(person(who), timezone);
      spread?.(person(who), timezone);
      return true;
    },
  };
}
