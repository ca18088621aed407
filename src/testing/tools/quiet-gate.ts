/** Registries and gates for tests that are not about rules: every tool is allowed, nobody is asked, no hook is registered. */
import type { Events } from "../../contracts/events.ts";
import type { ToolCallStore } from "../../contracts/store.ts";
import type { Tool, ToolFactory } from "../../contracts/tools/tool.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { NO_MASK } from "../../kit/secret.ts";
import { createRedactor } from "../../observe/index.ts";
import { createToolGate, createToolRegistry, type LiveToolRegistry, type ToolPolicy } from "../../tools/index.ts";
import { recordingLog } from "../recording-log.ts";
import { policy } from "./tool-world.ts";
import { fixedRights, noApprovals, noHooks, noSessionTools, USUAL_LIMITS } from "./quiet-deps.ts";

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
    sessionTools: noSessionTools,
    approvals: noApprovals,
    backgroundEnded: () => undefined,
    mask: NO_MASK,
    runLimits: () => USUAL_LIMITS,
  };
  return createToolGate({ ...deps, ...guards, scrub, registry: registryOf(tools, deps.log) });
}
