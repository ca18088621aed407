/** What a channel gets from the gateway, for tests of the channel alone: a door that stores for real and can be held, files, facts, and replies to send. */
import type { ChatAddress, InboundMessage } from "../../contracts/chat.ts";
import type { Receipt } from "../../contracts/channel.ts";
import type {
  Arrival,
  ArrivedReaction,
  TypingFacts,
  ChannelState,
  InboundFiles,
  PlatformDeps,
} from "../../contracts/channels/platform.ts";
import type { AnswerVerdict } from "../../contracts/channels/question.ts";
import type { OutboxRow } from "../../contracts/delivery.ts";
import type { Events } from "../../contracts/events.ts";
import type { AgentId, InboxId, MediaId, Principal, Role, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { Store } from "../../contracts/store.ts";
import type { Approvals, PendingApproval } from "../../contracts/tools/approval.ts";
import { deferred, type Deferred } from "../../kit/deferred.ts";
import { createEvents } from "../../observe/index.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { type RealStore, realStore } from "../real-store.ts";
import { recordingLog, type RecordingLog } from "../recording-log.ts";
import { createSeqIds } from "../seq-ids.ts";

export interface ChannelBench extends AsyncDisposable {
  readonly deps: PlatformDeps;
  readonly clock: FakeClock;
  readonly log: RecordingLog;
  readonly store: Store;
  /** Everybody the door was asked about, in order. */
  readonly arrivals: Arrival[];
  /** Reactions of people with access. */
  readonly reacted: ArrivedReaction[];
  /** Who typed, and where. */
  readonly typed: TypingFacts[];
  /** What was stored, each message once, in order. */
  readonly stored: InboundMessage[];
  /** Names of the files that were fetched, in order. */
  readonly fetched: string[];
  /** Who is not let in, and what they are told; everybody else comes in as `role`. */
  readonly strangers: Map<Principal, string | null>;
  /** Chats in which something said earlier is still to be delivered. */
  readonly owed: Set<string>;
  role: Role;
  /** Decisions that owners made, as `id decision by`. */
  readonly decided: string[];
  /** Questions that wait for an owner. */
  readonly questions: PendingApproval[];
  /** Presses under questions of running turns, as `id at by role`; each is answered with `verdict`. */
  readonly pressed: string[];
  verdict: AnswerVerdict;
  /** From now on nothing is stored, until it is let go. */
  hold(): void;
  letGo(): void;
  /** From now on nothing under a key that begins so is written down for the channel, until that is let go. */
  holdFacts(prefix?: string): void;
  letFactsGo(): void;
  /** Facts that are held back. */
  writing(): number;
  /** The next message cannot be stored. */
  failOnce(): void;
  /** Messages that have reached the door and are not stored yet. */
  waiting(): number;
  /** How many listen to events now. */
  listening(): number;
  /** A stored reply of these parts, ready to be sent to this chat. */
  reply(to: ChatAddress, texts: readonly string[]): Promise<readonly OutboxRow[]>;
}

const AGENT = "default" as AgentId;
const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

interface DoorState {
  held: Deferred<void> | null;
  failing: boolean;
  waiting: number;
  count: number;
  heldFacts: (Deferred<void> & { readonly prefix: string }) | null;
  writing: number;
}

export async function channelBench(): Promise<ChannelBench> {
  const clock = createFakeClock();
  const real = await realStore(createFakeClock()); // what the store does later is none of the channel's affair
  const log = recordingLog();
  const ids = createSeqIds();
  const { events, listening } = countedEvents(createEvents({ log }));
  const state: DoorState = { held: null, failing: false, waiting: 0, count: 0, heldFacts: null, writing: 0 };
  const lists = {
    arrivals: [] as Arrival[],
    reacted: [] as ArrivedReaction[],
    typed: [] as TypingFacts[],
    stored: [] as InboundMessage[],
    fetched: [] as string[],
  };
  const asked = { pressed: [] as string[], verdict: { kind: "taken", say: "Thank you." } as AnswerVerdict };
  const answers = { decided: [] as string[], questions: [] as PendingApproval[] };
  const bench = Object.assign({ role: "owner" as Role }, lists, answers, asked, {
    strangers: new Map(),
    owed: new Set<string>(),
  });
  const door: PlatformDeps["door"] = {
    async look(arrival) {
      bench.arrivals.push(arrival);
      const { principal } = arrival.sender;
      if (bench.strangers.has(principal)) return { kind: "stay", say: bench.strangers.get(principal) ?? null };
      return (await isNews(real.store, arrival)) ? { kind: "come", role: bench.role } : { kind: "stay", say: null };
    },
    receive: (message) => receive(real.store, state, bench, message),
    typing: async (facts) => void bench.typed.push(facts),
    react: async (reaction) => void (bench.strangers.has(reaction.sender.principal) || bench.reacted.push(reaction)),
  };
  const answer: PlatformDeps["questions"]["answer"] = (id, given, { principal, role }) => {
    bench.pressed.push(`${id} ${given.kind === "press" ? given.at : given.kind} ${principal} ${role}`);
    return bench.verdict;
  };
  const facts = memoryFacts(state);
  const deps: PlatformDeps = {
    clock,
    ids,
    log,
    events,
    door,
    facts,
    files: filesOf(real.store, bench, { clock, ids }),
    approvals: approvalsOf(bench),
    questions: { answer, answerAnywhere: async (id, given, by) => answer(id, given, by) },
    replies: { owes: ({ chat }) => bench.owed.has(chat), isOwed: async () => false, isHeld: () => true },
    commands: (role) => (role === "guest" ? [] : [{ name: "status", help: "How things are" }]),
  };
  return Object.assign(bench, { deps, clock, log, store: real.store }, holding(state), {
    listening,
    reply: (to: ChatAddress, texts: readonly string[]) => storeReply(real, { to, texts, number: ++state.count }),
    async [Symbol.asyncDispose]() {
      state.held?.resolve();
      state.heldFacts?.resolve();
      await real[Symbol.asyncDispose]();
    },
  });
}

function countedEvents(events: Events) {
  const open = new Set<Disposable>();
  const on: Events["on"] = (event, listener) => {
    const one = events.on(event, listener);
    open.add(one);
    return {
      [Symbol.dispose]() {
        one[Symbol.dispose]();
        open.delete(one);
      },
    };
  };
  return { events: { ...events, on }, listening: () => open.size };
}

/** As the door of the gateway decides about edits. */
async function isNews({ inbox }: Store, { address, edited }: Arrival): Promise<boolean> {
  if (!edited) return true;
  const { channel, account } = address;
  const newest = await inbox.newestVersion({ channel, account, eventId: edited.eventId });
  return newest !== null && newest !== edited.fingerprint;
}

type Holding = Pick<ChannelBench, "hold" | "letGo" | "holdFacts" | "letFactsGo" | "writing" | "failOnce" | "waiting">;

function holding(state: DoorState): Holding {
  return {
    hold() {
      state.held ??= deferred();
    },
    letGo() {
      state.held?.resolve();
      state.held = null;
    },
    holdFacts(prefix = "") {
      state.heldFacts ??= { ...deferred<void>(), prefix };
    },
    letFactsGo() {
      state.heldFacts?.resolve();
      state.heldFacts = null;
    },
    writing: () => state.writing,
    failOnce() {
      state.failing = true;
    },
    waiting: () => state.waiting,
  };
}

async function receive(
  store: Store,
  state: DoorState,
  { stored, strangers }: Pick<ChannelBench, "stored" | "strangers">,
  message: InboundMessage,
): Promise<Receipt> {
  const { address, scope, sender, fingerprint } = message;
  if (strangers.has(sender.principal)) return { kind: "refused", because: "ignored", say: "" };
  const id = `in_${++state.count}` as InboxId;
  const sessionKey = `agent:default:${address.channel}:${scope}:${address.chat}` as SessionKey;
  state.waiting++;
  try {
    await state.held?.promise;
    if (state.failing) {
      state.failing = false;
      throw new Error("the disk is full");
    }
    const row = { id, sessionKey, agentId: AGENT, role: "owner", priority: 10, message } as const;
    const accepted = await store.inbox.accept(row);
    if (accepted.kind === "duplicate")
      return { kind: "duplicate", id: accepted.id, sessionKey, sameContent: accepted.fingerprint === fingerprint };
    stored.push(message);
    return { kind: "queued", id, sessionKey, position: 0 };
  } finally {
    state.waiting--;
  }
}

function filesOf(
  store: Store,
  { fetched }: Pick<ChannelBench, "fetched">,
  { clock, ids }: Pick<PlatformDeps, "clock" | "ids">,
): InboundFiles {
  return {
    async keep({ owner, name, mimeType, open }, signal) {
      fetched.push(name);
      const data = new Uint8Array(await new Response(await open(signal)).arrayBuffer());
      const mediaId = ids.next("media") as MediaId;
      return { kind: "kept", media: await store.media.put({ mediaId, owner, name, mimeType, data, at: clock.now() }) };
    },
    transcribe: async () => ({ kind: "words", text: "spoken words" }),
    read: (mediaId) => store.media.read(mediaId),
  };
}

/** They outlive the channel, as in the gateway: a second one opened on the same bench finds them. */
function memoryFacts(state: DoorState): ChannelState {
  const known = new Map<string, string>();
  const name = (...parts: readonly string[]) => JSON.stringify(parts);
  return {
    get: async (...parts) => known.get(name(...parts)) ?? null,
    async put(channel, account, key, value) {
      if (state.heldFacts && key.startsWith(state.heldFacts.prefix)) {
        state.writing++;
        await state.heldFacts.promise;
        state.writing--;
      }
      known.set(name(channel, account, key), value);
    },
    forget: async (...parts) => void known.delete(name(...parts)),
    list: async (channel, account, prefix) =>
      [...known]
        .map(([at, value]) => ({ at: JSON.parse(at) as string[], value }))
        .filter(({ at }) => at[0] === channel && at[1] === account && at[2]?.startsWith(prefix))
        .map(({ at, value }) => ({ key: at[2] ?? "", value }))
        .toSorted((a, b) => a.key.localeCompare(b.key)),
  };
}

function approvalsOf({ questions, decided }: Pick<ChannelBench, "questions" | "decided">): Approvals {
  return {
    ask: () => Promise.reject(new Error("nothing asks on this bench")),
    pending: () => questions,
    async decide(id, decision, by) {
      const at = questions.findIndex((question) => question.id === id);
      if (at < 0) return "unknown";
      questions.splice(at, 1);
      decided.push(`${id} ${decision} ${by}`);
      return "done";
    },
  };
}

interface Reply {
  readonly to: ChatAddress;
  readonly texts: readonly string[];
  readonly number: number;
}

async function storeReply({ store }: RealStore, { to, texts, number }: Reply): Promise<readonly OutboxRow[]> {
  const turnId = `turn_${number}` as TurnId;
  const id = `asked_${number}` as InboxId;
  const sessionKey = `agent:default:${to.channel}:dm:${to.chat}` as SessionKey;
  const message: InboundMessage = {
    eventId: `asked-${number}`,
    fingerprint: "",
    address: to,
    scope: "dm",
    text: "a question",

    sender: { principal: "operator" as Principal, name: "You" },
    quoted: [],
    attachments: [],
    mentioned: true,
    receivedAt: 1,
  };
  await store.inbox.accept({ id, sessionKey, agentId: AGENT, role: "owner", priority: 10, message });
  const { attempt } = await store.turns.begin({ turnId, sessionKey, agentId: AGENT, inboxIds: [id], at: 2 });
  await store.turns.finish({
    turnId,
    attempt,
    to,
    usage: NO_USAGE,
    outcome: "done",
    model: "m",
    settledBytes: 0,
    at: 3,
    reply: texts.map((text, part) => ({ part, message: { kind: "reply", text } })),
  });
  const rows = await Promise.all(texts.map((_text, part) => store.outbox.part(`${turnId}:${part}`)));
  return rows.filter((row) => row !== null);
}
