/** A gate without surroundings: no hooks, nobody who could be asked, so that calls that need an owner are refused, and limits as usual. */
import { type Config, defaultConfig } from "../../config/index.ts";
import type { Hooks } from "../../contracts/plugin-hooks.ts";
import type { Rights } from "../../contracts/channels/rights.ts";
import type { SessionTools } from "../../tools/index.ts";
import type { Approvals } from "../../contracts/tools/approval.ts";

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

/** Where no rule allows anything. */
export const NO_RULES = { allow: async () => false, made: () => undefined };

/** Where rights never change: everybody keeps the role that their work began with. */
export const fixedRights: Rights = {
  now: async ({ role }) => ({ kind: "held", role }),
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};

/** Where nothing is searched for. */
export const noSessionTools: SessionTools = {
  of: async () => [],
  switchOn: async () => undefined,
  noteUse: () => undefined,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};

export const USUAL_LIMITS: Config["tools"]["execution"] = defaultConfig().tools.execution;
