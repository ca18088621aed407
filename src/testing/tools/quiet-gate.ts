/** Registries and gates for tests that are not about rules: every tool is allowed, nobody is asked, nothing is hooked in. */
import type { Events } from "../../contracts/events.ts";
import type { ToolCallStore } from "../../contracts/store.ts";
import type { Tool, ToolFactory } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { createRedactor } from "../../observe/index.ts";
import {
  createToolGate,
  createToolRegistry,
  type LiveToolRegistry,
  noApprovals,
  fixedRights,
  noHooks,
  type ToolPolicy,
} from "../../tools/index.ts";
import { recordingLog } from "../recording-log.ts";
import { policy } from "./tool-world.ts";

export function registryOf(tools: readonly (Tool | ToolFactory)[], log: Log = recordingLog()): LiveToolRegistry {
  const registry = createToolRegistry({ log });
  for (const tool of tools) registry.register(tool, "gateway");
  return registry;
}

interface QuietGateDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly store: ToolCallStore;
}

export function quietGate(deps: QuietGateDeps, tools: readonly Tool[], rules: Partial<ToolPolicy> = {}) {
  const now = policy(rules);
  const { scrub } = createRedactor();
  const guards = {
    policy: () => now,
    hooks: noHooks,
    rights: fixedRights,
    approvals: noApprovals,
    backgroundEnded: () => undefined,
  };
  return createToolGate({ ...deps, ...guards, scrub, registry: registryOf(tools, deps.log) });
}
