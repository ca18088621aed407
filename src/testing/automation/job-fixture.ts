/** A job as most tests need it. */
import type { Job } from "../../contracts/automation/job.ts";
import type { AgentId, Principal, SessionKey } from "../../contracts/ids.ts";

export function job(more: Partial<Job> = {}): Job {
  return {
    id: "water",
    schedule: { kind: "every", expr: "10m" },
    task: "water the plants",
    agentId: "default" as AgentId,
    mode: "isolated",
    delivery: "announce",
    deleteAfterRun: false,
    catchUp: "once",
    overlap: "skip",
    timeoutMs: null,
    source: "person",
    createdBy: "operator" as Principal,
    role: "owner",
    to: { channel: "webchat", account: "default", chat: "1" },
    sessionKey: "agent:default:webchat:dm:1" as SessionKey,
    state: "active",
    because: null,
    createdAt: 0,
    anchorAt: 0,
    nextAt: 600_000,
    failures: 0,
    revision: 1,
    ...more,
  };
}
