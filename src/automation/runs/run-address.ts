/** The address of the reply of a run: the gateway itself, with all that is needed to hand the reply on when the job is gone. */
import type { Job } from "../../contracts/automation/job.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { SessionKey } from "../../contracts/ids.ts";

export const CRON_CHANNEL = "cron";
/** Turns that incoming webhooks began answer into this one. */
export const HOOK_CHANNEL = "hook";
export type RunChannel = typeof CRON_CHANNEL | typeof HOOK_CHANNEL;

/** Instead of a job's id: replies of heartbeats go the same way. */
export const HEARTBEAT = "heartbeat";

export interface RunAddress {
  /** Of the job, or the name of the hook. */
  readonly jobId: string;
  readonly delivery: Job["delivery"];
  readonly session: SessionKey;
  /** A webhook target that the reply is posted to as well. */
  readonly webhook?: string;
}

const THREAD = /^(announce|direct|silent):([a-z0-9-]{1,64})(?::([a-z0-9-]{1,64}))?$/;

export function toRunAddress({ jobId, delivery, session, webhook }: RunAddress, channel: RunChannel): ChatAddress {
  const target = webhook === undefined ? "" : `:${webhook}`;
  return { channel, account: "default", chat: session, thread: `${delivery}:${jobId}${target}` };
}

/** Null: nobody made this here. */
export function readRunAddress({ channel, chat, thread = "" }: ChatAddress): RunAddress | null {
  const [, delivery, jobId, webhook] = THREAD.exec(thread) ?? [];
  if (channel !== CRON_CHANNEL && channel !== HOOK_CHANNEL) return null;
  if (delivery === undefined || jobId === undefined) return null;
  const target = webhook === undefined ? {} : { webhook };
  return { jobId, delivery: delivery as Job["delivery"], session: chat as SessionKey, ...target };
}
