/** A moment or a day as people say it, read in the time zone of the person who says it. */
import type { Principal } from "../ids.ts";

export type WhenReading =
  | { readonly kind: "moment"; readonly at: number }
  /** `problem` is the answer where a time of day is needed. */
  | { readonly kind: "day"; readonly date: string; readonly problem: string }
  /** `problem` says what is not clear, and how to write it. */
  | { readonly kind: "unclear"; readonly problem: string };

export interface PersonTimes {
  /** `timezone`: instead of the person's own. */
  read(text: string, who: Principal, timezone?: string): WhenReading;
  /** Undefined: this person has chosen none. */
  zoneOf(who: Principal): string | undefined;
  /** The zone of the machine, for people who have chosen none. */
  hostZone(): string;
  /** Null goes back to the zone of the machine. False: there is no such zone. Durable when it resolves. */
  choose(who: Principal, timezone: string | null): Promise<boolean>;
}
