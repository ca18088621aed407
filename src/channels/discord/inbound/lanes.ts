/** One line of work per channel, in the order it was given; channels do not wait for each other. */
interface Lanes {
  /** False: the line of this channel is full, and the work was not taken. */
  add(channel: string, work: () => Promise<void>): boolean;
  /** Everything that was taken has ended. */
  settled(): Promise<void>;
}

interface LaneOptions {
  readonly maxWaiting: number;
  /** A line that had been full has nothing left to do. */
  onCaughtUp(channel: string): void;
  onFailed(error: unknown): void;
}

interface Lane {
  tail: Promise<void>;
  waiting: number;
  overflowed: boolean;
}

export function createLanes({ maxWaiting, onCaughtUp, onFailed }: LaneOptions): Lanes {
  const lanes = new Map<string, Lane>();
  const run = async (channel: string, lane: Lane, before: Promise<void>, work: () => Promise<void>): Promise<void> => {
    await before;
    await work().catch(onFailed);
    if (--lane.waiting > 0) return;
    lanes.delete(channel);
    if (lane.overflowed) onCaughtUp(channel);
  };
  return {
    add(channel, work) {
      const lane = lanes.get(channel) ?? { tail: Promise.resolve(), waiting: 0, overflowed: false };
      if (lane.waiting >= maxWaiting) {
        lane.overflowed = true;
        return false;
      }
      lanes.set(channel, lane);
      lane.waiting++;
      lane.tail = run(channel, lane, lane.tail, work);
      return true;
    },
    async settled() {
      while (lanes.size > 0) await Promise.all([...lanes.values()].map(({ tail }) => tail));
    },
  };
}
