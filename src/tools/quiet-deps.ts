/** What the gate works with while nobody registers hooks and nobody can be asked: nothing to observe, and no owner's word, so what needs it is refused. */
import type { Hooks } from "../contracts/plugin-hooks.ts";
import type { Rights } from "../contracts/channels/rights.ts";
import type { Approvals } from "../contracts/tools/approval.ts";

export const noHooks: Hooks = {
  on: () => ({ [Symbol.dispose]: () => undefined }),
  of: () => [],
  deciding: () => [],
  tell: () => undefined,
};

export const noApprovals: Approvals = {
  ask: async () => "deny",
  pending: () => [],
  decide: async () => "unknown",
};

/** Where rights never change: everybody keeps the role that their work began with. */
export const fixedRights: Rights = {
  now: async ({ role }) => ({ kind: "held", role }),
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};
