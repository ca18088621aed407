/** Agents as their owner looks at them: what each is set up with, what it may do for whom, and the processes that run now. Types only. */
import type { AgentProcess } from "./agent.ts";
import type { Role } from "./ids.ts";
import type { SandboxSetting } from "./sandbox.ts";
import type { ToolOrigin } from "./tools/tool.ts";

export interface AgentSummary {
  readonly id: string;
  /** For whoever chooses among agents; empty: none is set. */
  readonly description: string;
  /** As far as it is known before pi was asked; null: pi chooses. */
  readonly model: string | null;
  /** Why this model. */
  readonly modelBecause: string;
  readonly fallbacks: readonly string[];
  /** `off`, `low` …; null: pi's own. */
  readonly thinking: string | null;
  /** The folder it works in. */
  readonly workspace: string;
  readonly sandbox: SandboxSetting;
  /** Of plugins too. */
  readonly skills: readonly string[];
  readonly extensions: readonly string[];
  readonly promptTemplates: readonly string[];
  /** Why it cannot answer, as a sentence; null: nothing is known against it. */
  readonly trouble: string | null;
}

export interface AgentList {
  readonly items: readonly AgentSummary[];
  readonly processes: readonly AgentProcess[];
}

/** For one role: an agent may have other instructions and tools for others. */
export interface AgentDetails extends AgentSummary {
  readonly role: Role;
  /** The instructions as they are given to pi, which adds its list of skills and the working folder. */
  readonly prompt: string;
  readonly permissions: readonly ToolPermissions[];
}

/** `ask`: each call waits for an owner. */
export type Permission = "yes" | "ask" | "no";

/** What one tool may do for each role, from each origin. */
export interface ToolPermissions {
  readonly tool: string;
  /** pi runs it, inside of the agent's process. */
  readonly byPi: boolean;
  readonly cells: readonly PermissionCell[];
}

export interface PermissionCell {
  readonly role: Role;
  readonly origin: ToolOrigin;
  readonly may: Permission;
  /** A part of a sentence. */
  readonly because: string;
}

/** Agents for people who look. */
export interface AgentsLook {
  list(): AgentList;
  /** Null: there is no such agent. */
  show(id: string, role: Role): AgentDetails | null;
}
