/** What happened in a simulated world, noted as it happens, and every broken promise with its moment. Decides nothing. */
import type { InboxId, Role, SessionKey, TurnId } from "../../src/contracts/ids.ts";
import type { InboundMessage } from "../../src/contracts/chat.ts";
import type { QueueMode } from "../../src/contracts/session-settings.ts";
import type { AgentEnding } from "./agents.ts";

/** One thing somebody says, however often it has to be said. */
export interface UnaskedMessage {
  readonly message: InboundMessage;
  readonly sessionKey: SessionKey;
  readonly role: "owner" | "member";
  readonly priority: number;
  /** What its sender was told first; null as long as nobody knows. */
  told: InboxId | null;
  /** It was offered and no answer came back: it may be stored or not. */
  maybe: boolean;
  over: boolean;
  /** What became of taking it back: null when nobody tried, or nobody knows. */
  takenBack: boolean | null;
  /** Somebody tried; it may have been withdrawn although nobody was told. */
  backAsked: boolean;
}

export interface Run {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly life: number;
  readonly attempt: number;
  readonly role: Role;
  readonly texts: string;
  /** What it took in while it ran. */
  readonly heard: string[];
  ending: AgentEnding | "cut" | null;
  /** What it said, if it came to an end. */
  said: string;
}

export interface Arrival {
  readonly id: string;
  /** Which message of its part. */
  readonly message: number;
  readonly chat: string;
  readonly text: string;
}

/** What a platform did with the sends of one message. */
export interface Sends {
  arrived: number;
  /** Of those, how many people see: a platform that drops repeats shows them only after it has forgotten the first. */
  shown: number;
  firstBegunAt: number | null;
  doubtful: number;
  permanent: number;
}

export interface Facts {
  readonly trace: string[];
  readonly broken: string[];
  readonly sayings: UnaskedMessage[];
  readonly runs: Run[];
  readonly arrivals: Arrival[];
  readonly sends: Map<string, Sends>;
  /** How many messages of a part its channel has noted as delivered; on disk, as far as the channel is concerned. */
  readonly delivered: Map<string, number>;
  /** Messages that were skipped. */
  readonly skipped: Set<string>;
  /** In which deaths of the gateway a turn was at work, and whether it was alone. */
  readonly deaths: Map<TurnId, { readonly life: number; readonly alone: boolean }[]>;
  /** Parts that an owner was told of. */
  readonly ownerTold: Set<string>;
  /** Sessions in which somebody pressed stop while a turn ran. */
  readonly stopped: Set<SessionKey>;
  /** What was chosen for a session; "unknown" while nobody can say whether it was stored. */
  readonly modes: Map<SessionKey, QueueMode | null | "unknown">;
  /** Every mode a session may have had. */
  readonly everModes: Map<SessionKey, Set<QueueMode>>;
  readonly unsafe: Set<TurnId>;
  readonly leaseErrors: Set<TurnId>;
  readonly settledBytes: Map<SessionKey, number>;
  readonly counts: Record<Count, number>;
  note(what: string): void;
  /** A promise was broken. */
  wrong(what: string): void;
  sendsOf(id: string, message: number): Sends;
}

const NOTHING_YET = {
  crashes: 0,
  stops: 0,
  turns: 0,
  parts: 0,
  refused: 0,
  duplicates: 0,
  zombies: 0,
  storeFailures: 0,
  joined: 0,
  overflow: 0,
  expired: 0,
  takenBack: 0,
  chosen: 0,
  messages: 0,
  skipped: 0,
  poisoned: 0,
};
export type Count = keyof typeof NOTHING_YET;

export const messageKey = (id: string, message: number): string => `${id}#${message}`;

export function createFacts(now: () => number): Facts {
  const trace: string[] = [];
  const broken: string[] = [];
  const sends = new Map<string, Sends>();
  return {
    trace,
    broken,
    sayings: [],
    runs: [],
    arrivals: [],
    sends,
    delivered: new Map(),
    skipped: new Set(),
    deaths: new Map(),
    ownerTold: new Set(),
    stopped: new Set(),
    modes: new Map(),
    everModes: new Map(),
    unsafe: new Set(),
    leaseErrors: new Set(),
    settledBytes: new Map(),
    counts: { ...NOTHING_YET },
    note: (what) => void trace.push(`${now()} ${what}`),
    wrong(what) {
      broken.push(`at ${now()} ms: ${what}`);
      trace.push(`${now()} BROKEN ${what}`);
    },
    sendsOf(id, message) {
      const key = messageKey(id, message);
      const known = sends.get(key) ?? { arrived: 0, shown: 0, firstBegunAt: null, doubtful: 0, permanent: 0 };
      sends.set(key, known);
      return known;
    },
  };
}
