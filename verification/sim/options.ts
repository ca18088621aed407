/** What one seed stands for: how many talk, how much goes wrong and where. Everything random about a world is decided from here. */
import type { Channel } from "../../src/contracts/channel.ts";
import { QUEUE_MODES, type QueueMode } from "../../src/contracts/session-settings.ts";
import type { Chance } from "../../src/testing/chance.ts";

export interface SimOptions {
  readonly sessions: number;
  readonly messages: number;
  /** People are done talking after about this long. */
  readonly talkMs: number;
  readonly mode: QueueMode;
  readonly collectMs: number;
  readonly maxPerSession: number;
  readonly maxTotal: number;
  readonly maxOverflow: number;
  readonly ttlMs: number;
  readonly agents: number;
  readonly turnMs: number;
  readonly graceMs: number;
  /** Share of calls of the store in which the process is killed, before or after the write. */
  readonly crashes: number;
  readonly agent: {
    readonly dies: number;
    readonly fails: number;
    readonly hangs: number;
    readonly empty: number;
    readonly noLease: number;
    readonly unsafeTool: number;
    readonly slow: number;
    /** Share of chances to take in what is steered into a turn that are not used. */
    readonly deaf: number;
  };
  readonly channels: readonly SimChannel[];
  /** Messages that bring the gateway down whenever a turn with them runs. */
  readonly poison: readonly string[];
  /** Times at which the disk stops taking writes or reads for a while. */
  readonly diskTroubles: number;
  /** Share of messages that come in the same moment as the one before. */
  readonly bursts: number;
  readonly repeats: number;
  readonly givesUp: number;
  /** Share of messages that are wanted in the running answer. */
  readonly steers: number;
  /** Share of notes that a message joined a turn which the disk does not take. */
  readonly joinFails: number;
  /** Share of messages that somebody tries to withdraw. */
  readonly cancels: number;
  /** How often somebody chooses another queue mode for a session. */
  readonly choices: number;
  readonly aborts: number;
  readonly stops: number;
}

export interface SimChannel extends Pick<Channel, "id" | "repeat" | "dedupeMs" | "whenLost" | "canRefuse"> {
  /** A part is sent as up to this many messages. */
  readonly maxMessages: number;
  readonly retry: number;
  readonly limited: number;
  readonly lost: number;
  readonly permanent: number;
  readonly hangs: number;
  readonly notReady: number;
}

const A_LONG_TIME_MS = 10 * 86_400_000;

export function optionsOf(chance: Chance): SimOptions {
  const some = (share: number, most: number): number => (chance.hits(share) ? chance.next() * most : 0);
  const messages = chance.between(5, 40);
  const long = chance.fork("long replies"); // a row of its own: older seeds play as before
  const longReplies = long.hits(0.6);
  const deadly = chance.fork("poison");
  const poisoned = deadly.hits(0.2) ? deadly.between(1, 2) : 0;
  return {
    sessions: chance.between(1, 6),
    messages,
    talkMs: chance.pick([500, 5_000, 60_000]),
    mode: chance.pick(QUEUE_MODES),
    maxOverflow: chance.pick([1, 3, 50]),
    ttlMs: chance.hits(0.4) ? chance.between(300, 20_000) : A_LONG_TIME_MS,
    collectMs: chance.pick([0, 200, 2_000]),
    maxPerSession: chance.pick([2, 5, 20]),
    maxTotal: chance.pick([6, 30, 100]),
    agents: chance.between(1, 4),
    turnMs: 30_000,
    graceMs: chance.pick([200, 5_000]),
    crashes: some(0.7, 0.05),
    agent: {
      dies: some(0.6, 0.5),
      fails: some(0.4, 0.3),
      hangs: some(0.3, 0.15),
      empty: some(0.2, 0.2),
      noLease: some(0.2, 0.2),
      unsafeTool: some(0.5, 0.5),
      slow: some(0.4, 0.5),
      deaf: some(0.5, 0.7),
    },
    channels: CHANNELS.map((channel) => ({
      ...channel,
      maxMessages: longReplies && channel.repeat !== "safe" ? long.pick([1, 5]) : 1,
      retry: some(0.5, 0.4),
      limited: some(0.4, 0.3),
      lost: some(0.5, 0.4),
      permanent: some(0.2, 0.15),
      hangs: some(0.15, 0.1),
      notReady: some(0.3, 0.5),
    })),
    poison: Array.from({ length: poisoned }, () => `<${deadly.between(0, messages - 1)}>`),
    diskTroubles: chance.hits(0.5) ? chance.between(1, 6) : 0,
    bursts: some(0.5, 0.8),
    repeats: some(0.6, 0.4),
    givesUp: some(0.5, 0.4),
    steers: some(0.6, 0.8),
    joinFails: some(0.5, 0.6),
    cancels: some(0.5, 0.8),
    choices: chance.hits(0.4) ? chance.between(1, 6) : 0,
    aborts: chance.hits(0.5) ? chance.between(1, 6) : 0,
    stops: chance.hits(0.4) ? chance.between(1, 3) : 0,
  };
}

const CHANNELS = [
  { id: "safe", repeat: "safe", canRefuse: true },
  { id: "deduplicated", repeat: "deduplicated", canRefuse: false },
  { id: "forgetful", repeat: "deduplicated", dedupeMs: 3_000, canRefuse: true },
  { id: "risky", repeat: "risky", canRefuse: false },
  { id: "held", repeat: "risky", whenLost: "hold", canRefuse: true },
] as const satisfies readonly Pick<SimChannel, "id" | "repeat" | "dedupeMs" | "whenLost" | "canRefuse">[];
