/** One lane of work per chat, in the order it was given; chats do not wait for each other. */
import { createTasks } from "./tasks.ts";

interface Lanes {
  /** False: the lane of this chat is full, and the work was not taken. */
  add(chat: string, work: () => Promise<void>): boolean;
  /** Everything that was taken has ended. */
  settled(): Promise<void>;
}

interface LaneOptions {
  /** Left out: whoever adds work knows how much is open. */
  readonly maxWaiting?: number;
  /** A lane that had been full has nothing left to do. */
  onCaughtUp?(chat: string): void;
  onFailed(error: unknown): void;
}

interface Lane {
  tail: Promise<void>;
  waiting: number;
  overflowed: boolean;
}

export function createLanes({ maxWaiting = Infinity, onCaughtUp, onFailed }: LaneOptions): Lanes {
  const lanes = new Map<string, Lane>();
  const tasks = createTasks(onFailed);
  const run = async (chat: string, lane: Lane, before: Promise<void>, work: () => Promise<void>): Promise<void> => {
    await before;
    await work().catch(onFailed);
    if (--lane.waiting > 0) return;
    lanes.delete(chat);
    if (lane.overflowed) onCaughtUp?.(chat);
  };
  return {
    add(chat, work) {
      const lane = lanes.get(chat) ?? { tail: Promise.resolve(), waiting: 0, overflowed: false };
      if (lane.waiting >= maxWaiting) {
        lane.overflowed = true;
        return false;
      }
      lanes.set(chat, lane);
      lane.waiting++;
      lane.tail = tasks.add(run(chat, lane, lane.tail, work));
      return true;
    },
    settled: () => tasks.settled(),
  };
}
