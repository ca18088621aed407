/**
 * What takes the place of pi in a simulation: how a process starts, how a conversation is opened in it, and what a lease of it is. The pool
 * around it, with its line, its choices, its pauses and its replacements, is the shipped one.
 */
import type { AgentLease, LeaseRequest } from "../../contracts/agent.ts";
import type { LeaseOptions } from "../lease.ts";
import type { ReadyAgent, StartSettings } from "../setup/start.ts";
import type { Opened, OpenSession } from "../talk/session.ts";

export interface PlayedAgents {
  /** Rejects like a start that failed; an abort of `signal` ends it. */
  start(settings: StartSettings, signal: AbortSignal): Promise<ReadyAgent>;
  /** `now`: what the process has open, as far as the pool knows. */
  open(agent: ReadyAgent, now: OpenSession | null, request: LeaseRequest): Promise<Opened>;
  lease(agent: ReadyAgent, options: LeaseOptions): AgentLease;
}
