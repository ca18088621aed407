/** How a session goes on when more is said while it is being answered: one mode for all, another for single channels. */
import type { InboundMessage } from "../contracts/chat.ts";
import type { QueueMode } from "../contracts/queue.ts";
import type { QueueLimits } from "./admission.ts";
import type { Pace, Work } from "./lanes.ts";

export interface QueueSettings extends QueueLimits {
  readonly mode: QueueMode;
  readonly collectMs: number;
  /** For a channel that is to be treated differently. */
  readonly channels: Readonly<Record<string, QueueMode>>;
}

export function createModes(settings: () => QueueSettings) {
  const modeIn = (channel: string): QueueMode => {
    const { mode, channels } = settings();
    return (Object.hasOwn(channels, channel) ? channels[channel] : undefined) ?? mode;
  };
  const modeOf = (message: InboundMessage): QueueMode => modeIn(message.address.channel);
  const paceOf = ({ entries: [first] }: Work): Pace => ({
    collect: first !== undefined && modeOf(first.message) === "collect",
    collectMs: settings().collectMs,
  });
  return { modeIn, modeOf, paceOf };
}
