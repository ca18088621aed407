/** What one account has to know after a restart, under names of its own. */
import type { ChannelFact, ChannelFacts } from "../../contracts/channels/platform.ts";

export interface AccountFacts {
  get(key: string): Promise<string | null>;
  /** Durable when it resolves. */
  put(key: string, value: string): Promise<void>;
  forget(key: string): Promise<void>;
  list(prefix: string): Promise<readonly ChannelFact[]>;
}

export function accountFacts(facts: ChannelFacts, channel: string, account: string): AccountFacts {
  return {
    get: (key) => facts.get(channel, account, key),
    put: (key, value) => facts.put(channel, account, key, value),
    forget: (key) => facts.forget(channel, account, key),
    list: (prefix) => facts.list(channel, account, prefix),
  };
}
