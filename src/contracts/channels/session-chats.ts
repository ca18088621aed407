/** The chat behind a session: where people are told what nobody asked for in a message. */
import type { Job } from "../automation/job.ts";
import type { ChatAddress } from "../chat.ts";
import type { AgentId, SessionKey } from "../ids.ts";

export interface SessionChat {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly to: ChatAddress;
  readonly scope: "dm" | "group";
}

export interface SessionChats {
  /** Where a job was made, else where its creator or an owner was active last. */
  of(job: Pick<Job, "to" | "sessionKey" | "createdBy" | "agentId">): Promise<SessionChat>;
  /** Where an owner is told what concerns the gateway itself. */
  ofOwner(): Promise<SessionChat>;
  /** The chat of this session; null when it has none. */
  at(sessionKey: SessionKey): Promise<SessionChat | null>;
}
