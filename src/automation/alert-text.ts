/** Notices for an owner about a job that fails, is switched off, or works again. */
import type { JobAlert } from "../contracts/automation/job.ts";

export function alertText({ jobId, kind, failures, because }: JobAlert): string {
  if (kind === "recovered") return `The scheduled job ${jobId} works again.`;
  const failed = `The scheduled job ${jobId} failed ${failures === 1 ? "once" : `${failures} times in a row`}`;
  if (kind === "disabled")
    return `${failed} and is switched off. The last reason: ${because} When that is mended, \`/cron resume ${jobId}\` starts it again.`;
  return `${failed}: ${because} \`/cron runs ${jobId}\` shows its runs, \`/cron pause ${jobId}\` stops it.`;
}
