/**
 * Messages of a group that do not mention the gateway, as context for the next message that does. Only where the settings allow it, only from
 * people who may speak there, in memory only, and no longer than configured.
 */
import type { GroupContextSettings } from "../../contracts/channels/access.ts";
import type { Arrival } from "../../contracts/channels/platform.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { TurnId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";

interface OverheardText {
  readonly author: { readonly id: string; readonly name: string };
  readonly text: string;
}

export interface GroupTalk {
  /** A message without a mention, by somebody who may speak there. */
  note(arrival: Arrival): void;
  /** Oldest first; each is told to one turn, and again when that turn is retried. */
  tell(where: Pick<GroupPlace, "address">, turnId: TurnId): readonly OverheardText[];
}

interface GroupPlace {
  readonly address: ChatAddress;
  readonly place?: string | undefined;
}

interface Kept extends OverheardText {
  readonly eventId: string;
  readonly at: number;
  toldTo: TurnId | null;
}

const MAX_GROUPS = 1_000;
const MAX_TEXT_CHARS = 1_000;
const MINUTE_MS = 60_000;

/** `limits` is asked each time, so that a changed configuration holds at once, also for what is kept already. */
export function createGroupTalk(
  { clock }: { readonly clock: Pick<Clock, "now"> },
  limits: (where: GroupPlace) => GroupContextSettings,
): GroupTalk {
  const groups = new Map<string, { readonly where: GroupPlace; kept: Kept[] }>();
  /** All groups, so that one that has gone silent does not keep its last words. */
  const forgetOld = (): void => {
    for (const [key, group] of groups) {
      const { messages, minutes } = limits(group.where);
      const since = clock.now() - minutes * MINUTE_MS;
      group.kept = messages === 0 ? [] : group.kept.filter(({ at }) => at >= since).slice(-messages);
      if (group.kept.length === 0) groups.delete(key);
    }
  };
  return {
    note({ kind, scope, address, place, sender, said }) {
      if (kind !== "message" || scope !== "group" || !said || said.text.trim() === "") return;
      const where = { address, place };
      const key = keyOf(address);
      const known = groups.get(key)?.kept ?? [];
      if (limits(where).messages === 0 || known.some(({ eventId }) => eventId === said.eventId)) return;
      const { principal: id, name } = sender;
      const text = said.text.slice(0, MAX_TEXT_CHARS).toWellFormed();
      const one: Kept = { eventId: said.eventId, at: said.at, author: { id, name }, text, toldTo: null };
      groups.delete(key); // the group that spoke last is the last to be dropped
      groups.set(key, { where, kept: [...known, one].toSorted((a, b) => a.at - b.at) });
      const [silent] = groups.keys();
      if (groups.size > MAX_GROUPS && silent !== undefined) groups.delete(silent);
      forgetOld();
    },
    tell({ address }, turnId) {
      forgetOld();
      const group = groups.get(keyOf(address));
      if (!group) return [];
      group.kept = group.kept.filter(({ toldTo }) => toldTo === null || toldTo === turnId);
      const told = newestWithin(group.kept, limits(group.where).chars);
      for (const one of group.kept) one.toldTo = turnId;
      return told.map(({ author, text }) => ({ author, text }));
    },
  };
}

function newestWithin(kept: readonly Kept[], maxChars: number): readonly Kept[] {
  let chars = 0;
  const first = kept.findLastIndex(({ text }) => (chars += text.length) > maxChars);
  return kept.slice(first + 1);
}

function keyOf({ channel, account, chat, thread }: ChatAddress): string {
  return JSON.stringify([channel, account, chat, thread ?? null]);
}
