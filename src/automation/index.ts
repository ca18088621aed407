/**
 * Work that no person begins: jobs with schedules, each slot of which gets exactly one row, and the heartbeat. It decides when and whether; the
 * work itself is put into the same inbox as everything else (`runs/starter.ts`), and its reply comes back through a channel of its own
 * (`runs/cron-channel.ts`). `webhooks/` lets other programs begin something, and posts answers to them.
 */
export { alertText } from "./alert-text.ts";
export { type Engine, startEngine } from "./engine.ts";
export { createJobs } from "./jobs.ts";
export { createLookAhead, MAX_CALENDAR_DAYS } from "./look-ahead.ts";
export { createJobService, type JobService } from "./job-service.ts";
export { type Heartbeat, startHeartbeat } from "./heartbeat/heartbeat.ts";
export { heartbeatsOf, refusalId, refusalText } from "./heartbeat/settings.ts";
export { createIncomingWebhooks } from "./webhooks/incoming-webhooks.ts";
export { createWebhookAdmin } from "./webhooks/webhook-admin.ts";
export { webhookRole } from "./webhooks/rules.ts";
export type { WebhookNames } from "./webhooks/begin.ts";
export { createTargetChannel } from "./webhooks/target-channel.ts";
export { createCronChannel } from "./runs/cron-channel.ts";
export { INTERNAL_PRIORITY, internalMessage } from "./runs/internal-message.ts";
export { pruneRunSessions } from "./runs/prune-sessions.ts";
export { HOOK_CHANNEL, readRunAddress } from "./runs/run-address.ts";
export { createRunRights, isAgent, jobLimits, type JobRights } from "./runs/run-rights.ts";
export { type RunRights, startRuns } from "./runs/starter.ts";
export { createSystemEvents } from "./runs/system-events.ts";
export { createPersonTimes, openPersonTimes } from "./times/person-times.ts";
export { createTimes, type Times } from "./times/times.ts";
export { sayWhen } from "./times/words/say-schedule.ts";
export { createTellMain, createWake } from "./wake.ts";
