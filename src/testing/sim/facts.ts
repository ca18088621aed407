/** What happened in a simulated world, noted as it happens, and every broken promise with its moment. Decides nothing. */
import type { InboxId, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { AgentEnding } from "./agents.ts";

/** One thing somebody says, however often it has to be said. */
export interface Saying {
  readonly message: InboundMessage;
  readonly sessionKey: SessionKey;
  readonly role: "owner" | "member";
  readonly priority: number;
  /** What its sender was told first; null as long as nobody knows. */
  told: InboxId | null;
  /** It was offered and no answer came back: it may be stored or not. */
  maybe: boolean;
  over: boolean;
}

export interface Run {
  readonly turnId: TurnId;
  readonly sessionKey: SessionKey;
  readonly life: number;
  readonly attempt: number;
  readonly texts: string;
  ending: AgentEnding | "cut" | null;
  /** What it said, if it came to an end. */
  said: string;
}

export interface Arrival {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
}

/** What a platform did with the sends of one part. */
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
  readonly sayings: Saying[];
  readonly runs: Run[];
  readonly arrivals: Arrival[];
  readonly sends: Map<string, Sends>;
  /** Sessions in which somebody pressed stop while a turn ran. */
  readonly stopped: Set<SessionKey>;
  readonly unsafe: Set<TurnId>;
  readonly leaseErrors: Set<TurnId>;
  readonly settledBytes: Map<SessionKey, number>;
  readonly counts: Record<Count, number>;
  note(what: string): void;
  /** A promise was broken. */
  wrong(what: string): void;
  sendsOf(id: string): Sends;
}

export type Count = "crashes" | "stops" | "turns" | "parts" | "refused" | "duplicates" | "zombies" | "storeFailures";

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
    stopped: new Set(),
    unsafe: new Set(),
    leaseErrors: new Set(),
    settledBytes: new Map(),
    counts: { crashes: 0, stops: 0, turns: 0, parts: 0, refused: 0, duplicates: 0, zombies: 0, storeFailures: 0 },
    note: (what) => void trace.push(`${now()} ${what}`),
    wrong(what) {
      broken.push(`at ${now()} ms: ${what}`);
      trace.push(`${now()} BROKEN ${what}`);
    },
    sendsOf(id) {
      const known = sends.get(id) ?? { arrived: 0, shown: 0, firstBegunAt: null, doubtful: 0, permanent: 0 };
      sends.set(id, known);
      return known;
    },
  };
}
