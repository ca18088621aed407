/** How a session goes on when more is said while it is being answered: as chosen for it, else for its channel, else for all. */
import type { SessionKey } from "../contracts/ids.ts";
import type { QueueMode } from "../contracts/session-settings.ts";
import type { QueueLimits } from "./admission.ts";
import type { Lanes, Pace } from "./lanes.ts";
import type { Work } from "./work.ts";

export interface QueueSettings extends QueueLimits {
  readonly mode: QueueMode;
  readonly collectMs: number;
  /** For a channel that is to be treated differently. */
  readonly channels: Readonly<Record<string, QueueMode>>;
  /** Overflow of one chat that is shown; older is only counted. */
  readonly maxOverflow: number;
  /** What waited longer is not answered any more. */
  readonly ttlMs: number;
}

export function createModes(settings: () => QueueSettings, lanes: Pick<Lanes, "mode">) {
  const modeIn = (sessionKey: SessionKey, channel: string): QueueMode => {
    const { mode, channels } = settings();
    return lanes.mode(sessionKey) ?? (Object.hasOwn(channels, channel) ? channels[channel] : undefined) ?? mode;
  };
  const modeOf = ({ sessionKey, entries: [first] }: Pick<Work, "sessionKey" | "entries">): QueueMode =>
    modeIn(sessionKey, first?.message.address.channel ?? "");
  /** What was too late for the turn it was meant for goes on at once, and together. */
  const paceOf = (work: Work): Pace => {
    const mode = modeOf(work);
    return { collect: mode === "collect" || mode === "steer", collectMs: mode === "steer" ? 0 : settings().collectMs };
  };
  const steers = (work: Work): boolean => work.steer === true || modeOf(work) === "steer";
  return { modeIn, modeOf, paceOf, steers };
}
