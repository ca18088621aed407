/** A queue on a real store with a clock that tests move, and the words to say things into it. */
import type { InboxId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { Accepted, Batch, Queue, QueueEntry, TurnEnd } from "../../contracts/queue.ts";
import type { Store } from "../../contracts/store.ts";
import { systemIds } from "../../kit/ids.ts";
import { createQueue, type QueueDeps, type QueueSettings } from "../../queue/index.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { entry } from "../messages.ts";
import { realStore } from "../real-store.ts";
import { recordingLog } from "../recording-log.ts";
import { waitForEnd } from "../wait-for.ts";

export const never = new AbortController().signal;

/** The next work, which has to come by itself: a test that waits in vain says for what. */
export const nextBatch = (queue: Pick<Queue, "take">): Promise<Batch> => within("work", queue.take(never));
export const nextCommand = (queue: Pick<Queue, "takeCommand">): Promise<Batch> =>
  within("a command", queue.takeCommand(never));

function within(what: string, taken: Promise<Batch>): Promise<Batch> {
  const waiting = waitForEnd(`${what} from the queue`, taken);
  waiting.catch(() => undefined); // a test that looks at something else is over by then
  return waiting;
}

export const DONE: TurnEnd = {
  outcome: "done",
  reply: [{ part: 0, message: { kind: "reply", text: "ok" } }],
  usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 },
  model: "m",
  settledBytes: 10,
};
export const ROOMY: QueueSettings = {
  maxPerSession: 100,
  maxTotal: 1_000,
  maxOverflow: 10,
  ttlMs: Infinity,
  mode: "followup",
  collectMs: 0,
  channels: {},
};

export interface QueueWorld extends AsyncDisposable {
  readonly queue: Queue;
  readonly store: Store;
  readonly clock: FakeClock;
  /** No turn can be begun, as on a full disk. */
  diskIsFull: boolean;
  /** By "A", unless somebody else is named. */
  say(session: string, text: string, more?: Partial<QueueEntry> & { readonly by?: string }): Promise<Accepted>;
  take(): Promise<Batch>;
  /** The words of the next turn, which ends at once. */
  answer(): Promise<string[]>;
  /** A new life on the same store, `afterMs` later. */
  restart(afterMs?: number): Promise<void>;
}

export const words = (batch: Batch): string[] => batch.entries.map(({ message }) => message.text);
export const keyOf = (session: string): SessionKey => entry(session, "").sessionKey;
export const idOf = (accepted: Accepted): InboxId => (accepted.kind === "queued" ? accepted.id : ("" as InboxId));

/** Commands begin with a slash, and `/stop` stops. */
const kindOf: QueueDeps["workKind"] = ({ message: { text } }) => {
  if (text === "/stop") return "stop";
  return text.startsWith("/") ? "command" : "talk";
};

export async function queueWorld(changes: Partial<QueueSettings> = {}): Promise<QueueWorld> {
  let clock = createFakeClock();
  const real = await realStore(createFakeClock()); // what the store does later is none of the queue's affair
  const begin = async (store: Store, turn: Parameters<Store["turns"]["begin"]>[0]) => {
    if (world.diskIsFull) throw new Error("disk full");
    return store.turns.begin(turn);
  };
  const withDisk = (store: Store): Store => {
    const turns = Object.create(store.turns) as Store["turns"]; // what a test changes there is changed here too
    const inbox = Object.create(store.inbox) as Store["inbox"];
    const accept: Store["inbox"]["accept"] = ({ begins, ...row }) =>
      store.inbox.accept(begins && !world.diskIsFull ? { ...row, begins } : row);
    return {
      ...store,
      turns: Object.assign(turns, { begin: begin.bind(null, store) }),
      inbox: Object.assign(inbox, { accept }),
    };
  };
  const open = (store: Store): Queue =>
    createQueue({ clock, ids: systemIds, log: recordingLog(), store: withDisk(store), workKind: kindOf }, () => ({
      ...ROOMY,
      ...changes,
    }));
  let queue = open(real.store);
  const world: QueueWorld = {
    get queue() {
      return queue;
    },
    get store() {
      return real.store;
    },
    get clock() {
      return clock;
    },
    diskIsFull: false,
    say(session, text, { by = "A", ...more } = {}) {
      const said = entry(session, text, more);
      const message = { ...said.message, sender: { principal: by as Principal, name: by }, receivedAt: clock.now() };
      return queue.accept({ ...said, message: { ...message, ...more.message } });
    },
    take: () => nextBatch(queue),
    async answer() {
      const batch = await nextBatch(queue);
      await batch.finish(DONE);
      return words(batch);
    },
    async restart(afterMs = 0) {
      clock = createFakeClock(clock.now() + afterMs);
      queue = open(await real.reopen());
      await queue.recover();
    },
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
  return world;
}
