/** An outbox on a real store with a channel, and one like it, whose platform a test plays. A crash leaves the old life frozen in the middle of what it did. */
import type { Channel, SendReceipt } from "../../contracts/channel.ts";
import type { Outbox, OutboxRow, OutboxState } from "../../contracts/delivery.ts";
import type { InboxId, InstanceId, TurnId } from "../../contracts/ids.ts";
import type { OutboxStore, Store } from "../../contracts/store.ts";
import { type OutboxDeps, startOutbox } from "../../delivery/index.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { entry } from "../messages.ts";
import { realStore } from "../real-store.ts";
import { recordingLog, type RecordingLog } from "../recording-log.ts";
import { createSeqIds } from "../seq-ids.ts";
import { storedRows } from "../stored-rows.ts";
import { advanceUntil, waitForEnd } from "../wait-for.ts";

export type Answer = (row: OutboxRow, signal: AbortSignal) => SendReceipt | Promise<SendReceipt>;

export interface OutboxWorld extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly outbox: Outbox;
  readonly store: OutboxStore;
  readonly log: RecordingLog;
  /** What the `status` events were about. */
  readonly statuses: string[];
  /** Everything of replies that the platform was asked to send, repeats included. */
  readonly sends: Sent[];
  /** The same of notices. */
  readonly notices: Sent[];
  ready: boolean;
  /** Whether no other gateway can have taken over. */
  held: boolean;
  /** The gateway that has the platform of all channels; null: none has. */
  holder: InstanceId | null;
  /** This gateway. */
  readonly me: InstanceId;
  /** Who was told that parts were handed over. */
  readonly handedTo: InstanceId[];
  /** What the owner was told of: part, state, reason. */
  readonly told: [string, string, string][];
  ownerIsDeaf: boolean;
  /** Whether a chat may get a part now. */
  mayReceive: (row: OutboxRow) => boolean;
  /** What the platform calls a message of ours. */
  platformIds: (id: string) => readonly string[];
  /** Stores a reply of these parts and tells the outbox. */
  reply(
    chat: string,
    texts: readonly string[],
    to?: { channel?: string; account?: string; thread?: string; replyTo?: string },
  ): Promise<void>;
  /** From now on every call of the store goes through this. */
  tamper(change: (store: OutboxStore) => OutboxStore): void;
  /** Everything stops where it is; another life begins on what is on the disk. Returns what was in the middle of a send. */
  crash(): Promise<readonly string[]>;
  /** Another gateway opens the same store, and sends nothing by itself. */
  openSecond(): Promise<OutboxStore & { readonly node: InstanceId }>;
  /** Stops in good order and begins again. */
  restart(): Promise<void>;
  /** Lets time pass until nothing is pending. */
  drained(): Promise<void>;
  texts(): string[];
  rows(): Promise<Record<string, StoredPart>>;
  /** The rows of these parts go, as with their conversation. */
  deleteRows(ids: readonly string[]): Promise<void>;
}

interface Sent {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly at: number;
}

interface StoredPart {
  readonly state: OutboxState;
  readonly attempts: number;
  readonly lost: number;
  readonly because: string | null;
  readonly providerId: string | null;
}

interface Life {
  readonly clock: FakeClock;
  readonly outbox: Outbox;
  readonly store: OutboxStore;
  /** Of this gateway: what it stores is its own. */
  readonly whole: Store;
  frozen: boolean;
}

const TICK_MS = 250;
const STOP = { withinMs: 2_000 };
/** A write that was asked for before the crash is either on the disk or not when the next process begins. */
const LAST_TURNS = 3;
const nothing = <T>(): Promise<T> => new Promise(() => undefined);

export async function outboxWorld(about: Partial<Channel>, answer: Answer): Promise<OutboxWorld> {
  const real = await realStore(createFakeClock());
  const log = recordingLog();
  const statuses: string[] = [];
  const sends: OutboxWorld["sends"] = [];
  const notices: OutboxWorld["notices"] = [];
  const told: OutboxWorld["told"] = [];
  const lives: Life[] = [];
  let tampered = (store: OutboxStore): OutboxStore => store;
  let turns = 0;

  const begin = (store: Store, startMs?: number): void => {
    const clock = createFakeClock(startMs);
    const life = { clock, frozen: false };
    const channel: Channel = {
      id: "fake",
      canRefuse: true,
      repeat: "safe",
      ready: () => world.ready,
      health: () => ({ ok: true, detail: "" }),
      ...about,
      async send(row, signal) {
        if (life.frozen) return nothing();
        const sent = { id: row.id, chat: row.to.chat, text: row.message.text, at: clock.now() };
        (row.message.kind === "notice" ? notices : sends).push(sent);
        const receipt = await answer(row, signal);
        return life.frozen ? nothing() : receipt;
      },
    };
    const emit = (_event: string, data: object): void => void statuses.push("what" in data ? String(data.what) : "");
    const other: Channel = { ...channel, id: "other" };
    const channels = new Map([channel, other].map((one) => [one.id, one]));
    const deps = { clock, ids: createSeqIds(), log, events: { emit }, channels };
    const tellOwner: OutboxDeps["tellOwner"] = async ({ part, state, because }) => {
      if (world.ownerIsDeaf) throw new Error("the owner has no chat");
      told.push([part.id, state, because]);
    };
    const mayReceive = async (row: OutboxRow) => world.mayReceive(row);
    const outbox = startOutbox({
      ...deps,
      tellOwner,
      mayReceive,
      isHeld: () => world.held,
      platformIds: async (id) => world.platformIds(id),
      others: {
        me: store.instanceId,
        holderOf: async () => world.holder,
        handed: (to) => void world.handedTo.push(to),
      },
      store: freezable(life, () => tampered(store.outbox)),
    });
    lives.push(Object.assign(life, { outbox, store: store.outbox, whole: store }));
  };
  const now = (): Life => lives.at(-1) as Life;

  const world: OutboxWorld = {
    get clock() {
      return now().clock;
    },
    get outbox() {
      return now().outbox;
    },
    get store() {
      return now().store;
    },
    log,
    statuses,
    sends,
    notices,
    ready: true,
    held: true,
    holder: null,
    get me() {
      return now().whole.instanceId;
    },
    handedTo: [],
    told,
    ownerIsDeaf: false,
    mayReceive: () => true,
    platformIds: (id) => [id],
    async reply(chat, texts, to = {}) {
      await storeReply(now().whole, { number: ++turns, chat, texts, at: now().clock.now(), ...to });
      now().outbox.wake();
    },
    tamper(change) {
      tampered = change;
    },
    async crash() {
      now().frozen = true;
      for (let turn = 0; turn < LAST_TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
      const cut = Object.entries(await world.rows()).filter(([, { state }]) => state === "sending");
      begin(await real.reopen(), now().clock.now());
      return cut.map(([id]) => id);
    },
    async openSecond() {
      const { outbox, instanceId: node } = await real.openBeside();
      return { ...outbox, node };
    },
    async restart() {
      await now().outbox[Symbol.asyncDispose]();
      begin(real.store, now().clock.now());
    },
    async drained() {
      let quiet = false;
      void now()
        .outbox.drained(new AbortController().signal)
        .then(() => (quiet = true));
      await advanceUntil({ clock: now().clock, stepMs: TICK_MS }, "an outbox that rests", () => quiet);
    },
    texts: () => sends.map(({ text }) => text),
    async rows() {
      const text = 'select id, state, attempts, lost, because, provider_id as "providerId" from outbox order by seq';
      const rows = await storedRows<StoredPart & { id: string }>(real.home, text);
      return Object.fromEntries(rows.map(({ id, ...row }) => [id, row]));
    },
    async deleteRows(ids) {
      await storedRows(real.home, `delete from outbox where id in (${ids.map((id) => `'${id}'`).join(", ")})`);
    },
    async [Symbol.asyncDispose]() {
      await waitForEnd("the stop of the outbox", Promise.resolve(now().outbox[Symbol.asyncDispose]()), STOP);
      await real[Symbol.asyncDispose]();
    },
  };
  begin(real.store);
  return world;
}

/** Whoever has died neither asks nor hears anything more. */
function freezable(life: { readonly frozen: boolean }, store: () => OutboxStore): OutboxStore {
  return new Proxy({} as OutboxStore, {
    get:
      (_target, name: keyof OutboxStore) =>
      async (...args: unknown[]): Promise<unknown> => {
        if (life.frozen) return nothing();
        const result: unknown = await Reflect.apply(store()[name], store(), args);
        return life.frozen ? nothing() : result;
      },
  });
}

interface Reply {
  readonly number: number;
  readonly chat: string;
  readonly texts: readonly string[];
  readonly at: number;
  readonly channel?: string;
  readonly account?: string;
  readonly thread?: string;
  readonly replyTo?: string;
}

async function storeReply(store: Store, { number, chat, texts, at, ...more }: Reply): Promise<void> {
  const { channel = "fake", account = "default", thread, replyTo } = more;
  const answered = replyTo === undefined ? {} : { replyTo };
  const turnId = `turn_${number}` as TurnId;
  const id = `msg_${number}` as InboxId;
  const to = { channel, account, chat, ...(thread === undefined ? {} : { thread }) };
  const said = entry(chat, "hello");
  const { sessionKey, agentId } = said;
  await store.inbox.accept({ ...said, message: { ...said.message, address: to }, id });
  const { attempt } = await store.turns.begin({ turnId, sessionKey, agentId, inboxIds: [id], at });
  await store.turns.finish({
    turnId,
    attempt,
    outcome: "done",
    reply: texts.map((text, part) => ({ part, message: { kind: "reply", text, ...answered } })),
    to,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    model: "m",
    settledBytes: 0,
    at,
  });
}
