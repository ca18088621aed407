/** Routing rules as a checked configuration would give them, for tests of what asks for them. */
import type { RoutingConfig } from "../routing/index.ts";

export function routingConfig(changes: Partial<RoutingConfig> = {}): RoutingConfig {
  return {
    agents: [],
    bindings: [],
    roles: { owners: [], members: [] },
    session: { dmScope: "per-channel-peer", identityLinks: {} },
    ...changes,
  };
}
