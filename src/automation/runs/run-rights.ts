/** With whose rights a run works, and what is known against it before anything is spent. Decides from what holds now; changes nothing. */
import type { Config } from "../../config/index.ts";
import type { Caller } from "../../contracts/agent.ts";
import type { Job } from "../../contracts/automation/job.ts";
import type { Budget } from "../../contracts/budget.ts";
import type { SessionChat } from "../../contracts/channels/session-chats.ts";
import { type AgentId, DEFAULT_AGENT, type Role, type SessionKey, type TurnId } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import { intervalProblem, type JobLimits } from "../job-limits.ts";
import type { Times } from "../times/times.ts";
import type { RunRights } from "./starter.ts";

export interface RunRightsDeps {
  readonly clock: Clock;
  readonly times: Times;
  readonly config: () => Config;
  readonly budget: Pick<Budget, "ask">;
  /** The lesser of what its creator had then and has now in this chat; null: access is lost. */
  readonly roleOf: RunRights["roleOf"];
  readonly sessionOf: RunRights["sessionOf"];
  readonly channels: { get(id: string): unknown };
  /** Why no agent starts; null: nothing is known. */
  agentTrouble(): string | null;
  /** Which API key is missing for this agent's model; null: none that is known. */
  missingKey(agentId: AgentId): string | null;
  /** Why this caller could not use a tool; null: nothing is known against it. */
  unusable(tool: string, caller: Caller): string | null;
}

export interface JobRights extends RunRights {
  /** A webhook or tool that the job names and cannot have; null: none. */
  missing(job: Job, chat: SessionChat): string | null;
}

export function createRunRights(deps: RunRightsDeps): JobRights {
  const { config, roleOf, sessionOf } = deps;
  return {
    roleOf,
    sessionOf,
    missing: (job, chat) => missing(deps, job, chat),
    unpaid({ agentId, createdBy }) {
      const verdict = deps.budget.ask({ agentId, principal: createdBy, origin: "cron" });
      return verdict.may ? null : verdict.because;
    },
    unable(job, chat) {
      const trouble = deps.agentTrouble();
      if (trouble !== null) return trouble;
      if (!isAgent(config(), job.agentId)) return `There is no agent called ${job.agentId} any more.`;
      const needsChat = job.mode === "main" || job.delivery !== "silent";
      if (needsChat && !deps.channels.get(chat.to.channel))
        return `Its words go to ${chat.to.channel}, and that channel is not open.`;
      const lacking = deps.missingKey(job.agentId) ?? missing(deps, job, chat);
      const role = roleOf(job, chat);
      if (lacking !== null || role === null || job.source === "config") return lacking;
      return intervalProblem(deps.times, job, { limits: jobLimits(config(), role), now: deps.clock.now() });
    },
  };
}

export function isAgent({ agents }: Pick<Config, "agents">, id: string): boolean {
  return id === DEFAULT_AGENT || agents.some((agent) => agent.id === id);
}

export function jobLimits({ cron }: Pick<Config, "cron">, role: Role): JobLimits {
  return role === "owner" ? cron.limits.owner : cron.limits.member; // guests make no jobs
}

/** Tools are asked for with the rights that the run will have. */
function missing({ config, unusable, roleOf, sessionOf }: RunRightsDeps, job: Job, chat: SessionChat): string | null {
  if (job.webhook && !Object.hasOwn(config().hooks.targets, job.webhook))
    return `Its result is to be posted to ${job.webhook}, and there is no such webhook in hooks.targets.`;
  const role = roleOf(job, chat);
  if (role === null) return null; // it is refused for that
  const isolated = job.mode === "isolated";
  const sessionKey: SessionKey = isolated ? sessionOf(job.agentId, job.id, "check") : chat.sessionKey;
  const caller: Caller = {
    principal: job.createdBy,
    role,
    cause: "cron",
    origin: chat.to,
    turnId: `check-${job.id}` as TurnId,
    agentId: isolated ? job.agentId : chat.agentId,
    sessionKey,
  };
  for (const tool of job.needs ?? []) {
    const because = unusable(tool, caller);
    if (because !== null) return `It needs the tool ${tool}, and cannot have it: ${because}.`;
  }
  return null;
}
