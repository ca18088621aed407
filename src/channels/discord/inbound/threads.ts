/** Which channel belongs to which server, and which thread to which channel, as Discord tells it. Nothing is ever asked for. */
import type { GatewayDispatchPayload } from "discord-api-types/v10";
import type { ChatAddress } from "../../../contracts/chat.ts";
import { remember } from "../../kit/index.ts";
import { ACCOUNT, CHANNEL } from "../settings.ts";

export interface Places {
  learn(payload: GatewayDispatchPayload): void;
  /** A thread is part of its channel; what is not known to be one is a chat of its own. */
  address(channel: string): ChatAddress;
}

const MAX_THREADS = 20_000;
const THREAD_TYPES: ReadonlySet<number> = new Set([10, 11, 12]);

interface MaybeThread {
  readonly id: string;
  readonly type: number;
  readonly parent_id?: string | null;
}

export function createPlaces(): Places {
  const parents = new Map<string, string>();
  const note = ({ id, type, parent_id }: MaybeThread): void => {
    if (THREAD_TYPES.has(type) && parent_id) remember(parents, id, parent_id, MAX_THREADS);
  };
  return {
    learn(payload) {
      switch (payload.t) {
        case "GUILD_CREATE":
        case "THREAD_LIST_SYNC":
          for (const thread of payload.d.threads ?? []) note(thread as MaybeThread);
          return;
        case "THREAD_CREATE":
        case "THREAD_UPDATE":
          return note(payload.d as MaybeThread);
        case "THREAD_DELETE":
          parents.delete(payload.d.id);
          return;
        default:
      }
    },
    address(channel) {
      const parent = parents.get(channel);
      const place = { channel: CHANNEL, account: ACCOUNT };
      return parent === undefined ? { ...place, chat: channel } : { ...place, chat: parent, thread: channel };
    },
  };
}
