/** What one account has to know after a restart, under names of its own. */
import type { ChannelValue, ChannelState } from "../../contracts/channels/platform.ts";

export interface AccountState {
  get(key: string): Promise<string | null>;
  /** Durable when it resolves. */
  put(key: string, value: string): Promise<void>;
  forget(key: string): Promise<void>;
  list(prefix: string): Promise<readonly ChannelValue[]>;
}

export function accountState(facts: ChannelState, channel: string, account: string): AccountState {
  return {
    get: (key) => facts.get(channel, account, key),
    put: (key, value) => facts.put(channel, account, key, value),
    forget: (key) => facts.forget(channel, account, key),
    list: (prefix) => facts.list(channel, account, prefix),
  };
}
