/** A piece of work in a lane: one message, several that were joined, a turn that has to be tried again, or what came when there was no room. */
import type { InboundMessage, MessageOrigin } from "../contracts/chat.ts";
import type { AgentId, InboxId, Role, SessionKey, TurnId } from "../contracts/ids.ts";
import type { BatchEntry } from "../contracts/queue.ts";

export interface Work {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly priority: number;
  readonly entries: readonly BatchEntry[];
  /** Set when an earlier attempt exists: the turn goes on under its old id. */
  readonly turnId: TurnId | null;
  /** A command: never joined with anything, taken by whoever takes commands. */
  readonly alone?: boolean;
  /** A command that needs an agent: never joined, but taken by whoever takes talk. */
  readonly errand?: boolean;
  /** In how many crashes of the gateway its turn was at work. */
  readonly crashes?: number;
  /** How often an agent failed at it since the gateway was started. */
  readonly failures?: number;
  /** It was stopped before it could begin again. */
  readonly stopped?: boolean;
  /** Its sender wants it in the running turn, whatever the mode. */
  readonly steer?: boolean;
  /** On the lanes' clock. Left out: never. What has begun does not expire. */
  readonly expiresAt?: number;
  /** It waited too long, and is taken only to be told so. */
  readonly expired?: boolean;
  /** What it was joined from, for as long as no turn was begun with it. Left out: it is one piece. */
  readonly joinedFrom?: readonly Work[];
  /** Some or all of it came when there was no room. `hidden`: how many more there are, only counted. `through`: the newest. */
  readonly overflow?: { readonly hidden: number; readonly through: InboxId };
}

/** After this many crashes a turn that was at work in each runs alone: the next crash shows whether it is the cause. */
const SUSPECT_AT = 2;
/** A turn that was at work in so many crashes, alone in the last one, is held responsible and given up. */
export const ACCUSED_AT = 3;

export function isSuspect({ turnId, crashes = 0 }: Work): boolean {
  return turnId !== null && crashes >= SUSPECT_AT;
}

/** How much of an overflowed message is kept in memory, and shown. */
export const OVERFLOW_CHARS = 280;
const RANK: Readonly<Record<Role, number>> = { guest: 0, member: 1, owner: 2 };

export function lesserRole(one: Role, other: Role): Role {
  return RANK[other] < RANK[one] ? other : one;
}

/** One answer goes to one chat: only messages of the same person in the same chat are joined. */
export function joins(head: Work, next: Work): boolean {
  if (next.turnId !== null || next.alone) return false;
  if (originOf(next) !== originOf(head)) return false; // messages of people are never joined with those of jobs, webhooks or heartbeats
  return next.agentId === head.agentId && next.role === head.role && personAndChat(next) === personAndChat(head);
}

function originOf({ entries: [first] }: Pick<Work, "entries">): MessageOrigin {
  return first?.message.origin ?? "chat";
}

/**
 * Overflow joins the turn before it when both are in one chat, where all its senders see the answer, and when that turn has no more rights
 * than any of them: no message acts with the rights of another person.
 */
export function overflowJoins(head: Work, overflow: Work): boolean {
  if (!overflow.overflow || overflow.turnId !== null || head.agentId !== overflow.agentId) return false;
  return RANK[head.role] <= RANK[overflow.role] && chatOf(head) === chatOf(overflow);
}

/** All of it came when there was no room, and no turn has begun with it: the lanes put it together with other overflow of its chat. */
export function isOverflow({ overflow, turnId }: Work): boolean {
  return overflow !== undefined && turnId === null;
}

/** The first of a chat's overflow. */
export function overflowWork(work: Omit<Work, "entries" | "turnId">, entry: BatchEntry): Work {
  return { ...work, entries: [entry], turnId: null, overflow: { hidden: 0, through: entry.id } };
}

/** Null when the two do not belong together. The role is the lesser one of all senders. */
export function mergeOverflow(one: Work, more: Work): Work | null {
  if (!one.overflow || !more.overflow || one.turnId !== null) return null;
  if (one.agentId !== more.agentId || chatOf(one) !== chatOf(more)) return null;
  return {
    ...one,
    entries: [...one.entries, ...more.entries],
    role: lesserRole(one.role, more.role),
    priority: Math.max(one.priority, more.priority),
    expiresAt: Math.max(one.expiresAt ?? Infinity, more.expiresAt ?? Infinity),
    overflow: { hidden: one.overflow.hidden + more.overflow.hidden, through: more.overflow.through },
  };
}

/** An overflowed message as it is kept: its beginning, without attachments. A command is not carried out. */
export function shortened(message: InboundMessage, isCommand: boolean): Pick<BatchEntry, "message" | "overflow"> {
  const text = isCommand ? "" : beginningOf(message.text);
  const quoted = message.quoted.map((one) => ({ ...one, text: beginningOf(one.text) }));
  return {
    message: { ...message, text, quoted, attachments: [] },
    overflow: { cutChars: message.text.length - text.length, attachments: message.attachments.length, isCommand },
  };
}

/** By code point, so that no character is cut in half. */
function beginningOf(text: string): string {
  return [...text.slice(0, OVERFLOW_CHARS * 2)].slice(0, OVERFLOW_CHARS).join("");
}

export function sizeOf({ entries, overflow }: Work): { readonly messages: number; readonly overflow: number } {
  const over = entries.filter((entry) => entry.overflow).length;
  return { messages: entries.length - over, overflow: over + (overflow?.hidden ?? 0) };
}

export function chatOf({ entries: [first] }: Work): string {
  if (!first) return "";
  const { channel, account, chat, thread } = first.message.address;
  return JSON.stringify([channel, account, chat, thread ?? null]);
}

function personAndChat(work: Work): string {
  return `${work.entries[0]?.message.sender.principal ?? ""} ${chatOf(work)}`;
}
