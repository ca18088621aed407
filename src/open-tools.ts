/** Puts the tools together: which there are, the rules of the configuration, the gate, and the record with its retention. */
import { builtinTools } from "./builtin.ts";
import type { Config } from "./config/index.ts";
import type { Receiver } from "./contracts/channel.ts";
import type { Events } from "./contracts/events.ts";
import type { ToolCallStore } from "./contracts/store.ts";
import { backgroundEndMessage } from "./flow/index.ts";
import type { Clock } from "./kit/clock.ts";
import type { Ids } from "./kit/ids.ts";
import type { Lifetime } from "./kit/lifetime.ts";
import type { Log } from "./kit/log.ts";
import {
  type BackgroundEnd,
  createToolGate,
  createToolRegistry,
  noApprovals,
  noHooks,
  originOf,
  startRetention,
  type ToolPolicy,
  type ToolProfile,
} from "./tools/index.ts";

export interface OpenToolsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly events: Events;
  readonly store: ToolCallStore;
  scrub(text: string): string;
  /** Where the end of a background tool is told; made later than the tools. */
  receiver(): Receiver;
}

export function openTools(life: Lifetime, deps: OpenToolsDeps, config: () => Config) {
  const registry = createToolRegistry(deps);
  for (const tool of builtinTools()) registry.register(tool, "gateway");
  const guards = { policy: () => toolPolicyOf(config()), hooks: noHooks, approvals: noApprovals };
  const backgroundEnded = (end: BackgroundEnd) => void tellEnd(deps, end);
  const gate = life.own("tools", createToolGate({ ...deps, ...guards, registry, backgroundEnded }));
  const retention = startRetention(deps, () => config().tools.keepDays);
  life.own("retention of tool calls", retention);
  return { registry, gate, list: () => registry.list() };
}

/** Read for every call, so a changed file counts from the next one on. An agent's own profile wins over that of all agents. */
export function toolPolicyOf({ tools, agent, agents }: Config): ToolPolicy {
  return {
    ...tools,
    profile: (agentId) => profileOf(agents.find(({ id }) => id === agentId)) ?? profileOf(agent) ?? "chat",
  };
}

/** `tools` of an agent, where the configuration has it. */
function profileOf(agent: object | undefined): ToolProfile | undefined {
  return agent && "tools" in agent ? (agent.tools as ToolProfile | undefined) : undefined;
}

/** Whoever called a tool from outside of chats asks for its end again, with the same call id. */
async function tellEnd({ clock, log, receiver }: OpenToolsDeps, end: BackgroundEnd): Promise<void> {
  const origin = originOf(end.caller);
  if (origin === "api" || origin === "mcp") return;
  const message = backgroundEndMessage(end, origin === "group" ? "group" : "dm", clock.now());
  const untold = (because: unknown) =>
    log.warn("end of a background tool not told", { tool: end.tool, toolCallId: end.id, because });
  try {
    const receipt = await receiver().receive(message, new AbortController().signal);
    if (receipt.kind === "refused") untold(receipt.because);
  } catch (error) {
    untold(error);
  }
}
