/** The queue mode of a session (what happens to messages during a turn): its own, else that of its channel, else the default. */
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
  /** A steered message that came too late for its turn does not wait to be collected. */
  const paceOf = (work: Work): Pace => {
    const mode = modeOf(work);
    return { collect: mode === "collect" || mode === "steer", collectMs: mode === "steer" ? 0 : settings().collectMs };
  };
  const steers = (work: Work): boolean => work.steer === true || modeOf(work) === "steer";
  return { modeIn, modeOf, paceOf, steers };
}
