/** Where the reply of a run goes: to the gateway itself, with all it needs to know to hand the words on when the job is gone. */
import type { Job } from "../../contracts/automation/job.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { SessionKey } from "../../contracts/ids.ts";

export const CRON_CHANNEL = "cron";

/** Instead of a job's id: what a look around says goes the same way. */
export const HEARTBEAT = "heartbeat";

export interface RunAddress {
  readonly jobId: string;
  readonly delivery: Job["delivery"];
  readonly home: SessionKey;
}

const THREAD = /^(announce|direct|silent):([a-z0-9-]{1,64})$/;

export function toRunAddress({ jobId, delivery, home }: RunAddress): ChatAddress {
  return { channel: CRON_CHANNEL, account: "default", chat: home, thread: `${delivery}:${jobId}` };
}

/** Null: nobody made this here. */
export function readRunAddress({ channel, chat, thread = "" }: ChatAddress): RunAddress | null {
  const [, delivery, jobId] = THREAD.exec(thread) ?? [];
  if (channel !== CRON_CHANNEL || delivery === undefined || jobId === undefined) return null;
  return { jobId, delivery: delivery as Job["delivery"], home: chat as SessionKey };
}
