/** Keys of programs over a store in memory, and a way to make one for a test. */
import type { ApiKey, ApiKeys, NewApiKey } from "../../contracts/api-keys.ts";
import type { Events } from "../../contracts/events.ts";
import { OPERATOR } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { createApiKeys } from "../../routing/index.ts";

interface TestKeyDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Pick<Events, "emit">;
}

export function testKeys({ clock, ids, log, events }: TestKeyDeps): ApiKeys {
  const store = {
    list: async () => [],
    put: async () => undefined,
    remove: async () => true,
    touch: async () => undefined,
  };
  const changed = () => events.emit("status", { what: "keys" });
  return createApiKeys({ clock, ids, log, store, changed, spread: async () => undefined });
}

interface TestKey {
  readonly key: ApiKey;
  readonly secret: string;
  /** The headers of a request with this key. */
  readonly headers: { readonly authorization: string };
}

/** A key without limits, but for those given. */
export async function makeKey(keys: ApiKeys, more: Partial<NewApiKey> = {}): Promise<TestKey> {
  const free = { dailyUsd: null, dailyTokens: null, requestsPerMinute: null, expiresAt: null } as const;
  const asked: NewApiKey = { name: "a program", scopes: ["chat"], agents: ["*"], tools: ["*"], ...free, ...more };
  const made = await keys.make(asked, { principal: OPERATOR, key: null });
  if (made.kind === "refused") throw new Error(made.say);
  return { key: made.key, secret: made.secret, headers: { authorization: `Bearer ${made.secret}` } };
}
