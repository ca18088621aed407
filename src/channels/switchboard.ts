/** One platform with several accounts, as one channel: what goes out takes the account it belongs to, and waits while that one is away. */
import { type Channel, type PartMessages, SendError } from "../contracts/channel.ts";
import type { ChatAddress } from "../contracts/chat.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import type { OpenChannel } from "../contracts/channels/platform.ts";

export interface ChannelHealth {
  readonly id: string;
  readonly ok: boolean;
  readonly detail: string;
}

const AWAY = { kind: "refused", because: "This chat's account is not connected right now." } as const;

/**
 * `open`: the accounts as they are now; asked each time, because they come and go. Abilities are those of the accounts that are open when
 * the switchboard is made: accounts of one platform can all do the same.
 */
export function createSwitchboard(id: string, open: readonly OpenChannel[], trouble: string | null): Channel {
  const byAccount = new Map(open.map((channel) => [channel.account, channel]));
  const at = (to: ChatAddress | undefined): OpenChannel | undefined => (to ? byAccount.get(to.account) : undefined);
  const [first] = open;
  return {
    ...(first ? abilities(first, at) : {}),
    id,
    canRefuse: first?.canRefuse ?? false,
    repeat: first?.repeat ?? "safe", // nothing is sent while it is away, so nothing may be given up either
    ...(first?.dedupeMs === undefined ? {} : { dedupeMs: first.dedupeMs }),
    ...(first?.whenLost === undefined ? {} : { whenLost: first.whenLost }),
    async send(part, signal) {
      const channel = at(part.to);
      if (!channel) throw new SendError("retry", `no account ${part.to.account} is open`);
      return channel.send(part, signal);
    },
    ready: (to) => at(to)?.ready(to) ?? false,
    health: () => healthOf(id, open, trouble)[0] ?? { ok: false, detail: trouble ?? "no account" },
  };
}

/** One line for each account; one for the platform when it has none. */
export function healthOf(id: string, open: readonly OpenChannel[], trouble: string | null): readonly ChannelHealth[] {
  if (open.length === 0) return [{ id, ok: false, detail: trouble ?? "no account is configured" }];
  return open.map((channel) => ({ id: lineId(id, open, channel), ...healthIn(channel) }));
}

/** The account behind a line of `healthOf`; undefined: it is of another channel, or none is open. */
export function accountAt(line: string, id: string, open: readonly OpenChannel[]): string | undefined {
  return open.find((channel) => lineId(id, open, channel) === line)?.account;
}

function lineId(id: string, open: readonly OpenChannel[], { account }: OpenChannel): string {
  return open.length === 1 ? id : `${id}/${account}`;
}

/** A channel that cannot even say how it is, is not well. */
function healthIn(channel: OpenChannel): { readonly ok: boolean; readonly detail: string } {
  try {
    return channel.health();
  } catch {
    return { ok: false, detail: "its health is not known" };
  }
}

type Abilities = Pick<Channel, "messages" | "react" | "edit" | "delete" | "pin" | "questions">;

function abilities(first: OpenChannel, at: (to: ChatAddress) => OpenChannel | undefined): Abilities {
  const messagesAt = ({ to }: OutboxRow): PartMessages => {
    const messages = at(to)?.messages;
    if (!messages) throw new Error(`no account ${to.account} is open`);
    return messages;
  };
  return {
    ...(first.messages && {
      messages: {
        delivered: async (part, signal) => messagesAt(part).delivered(part, signal),
        skip: async (part, signal) => messagesAt(part).skip(part, signal),
      },
    }),
    ...(first.react && {
      react: async (target, reaction, signal) => (await at(target.to)?.react?.(target, reaction, signal)) ?? AWAY,
    }),
    ...(first.edit && {
      edit: async (target, text, signal) => (await at(target.to)?.edit?.(target, text, signal)) ?? AWAY,
    }),
    ...(first.delete && {
      delete: async (target, signal) => (await at(target.to)?.delete?.(target, signal)) ?? AWAY,
    }),
    ...(first.pin && {
      pin: async (target, unpin, signal) => (await at(target.to)?.pin?.(target, unpin, signal)) ?? AWAY,
    }),
    ...(first.questions && {
      questions: {
        ...first.questions,
        async show(asked, signal) {
          const board = at(asked.to)?.questions;
          if (!board) throw new Error(`no account ${asked.to.account} is open`);
          return board.show(asked, signal);
        },
      },
    }),
  } satisfies Abilities;
}
