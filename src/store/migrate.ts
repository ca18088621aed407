/** Brings a database to the newest shape, one transaction per step; the number of steps done is its `user_version`. Never steps back. */
import type { Database } from "bun:sqlite";
import { firstMessage } from "./migrations/early/001-first-message.ts";
import { turnSpans } from "./migrations/early/002-turn-spans.ts";
import { outboxStates } from "./migrations/early/003-outbox-states.ts";
import { queueModes } from "./migrations/early/004-queue-modes.ts";
import { sessionSettings } from "./migrations/early/005-session-settings.ts";
import { toolCallChain } from "./migrations/early/007-tool-call-chain.ts";
import { notesAndTasks } from "./migrations/early/009-notes-and-tasks.ts";
import { postsAndFiles } from "./migrations/early/010-posts-and-files.ts";
import { jobs } from "./migrations/early/011-jobs.ts";
import { approvals } from "./migrations/early/012-approvals.ts";
import { systemEvents } from "./migrations/014-system-events.ts";
import { jobHomes } from "./migrations/015-job-homes.ts";
import { channels } from "./migrations/020-channels.ts";
import { leftoversOfJobs } from "./migrations/021-leftovers-of-jobs.ts";
import { usage } from "./migrations/022-usage.ts";
import { hooks } from "./migrations/023-hooks.ts";
import { jobNeeds } from "./migrations/024-job-needs.ts";
import { slotZones } from "./migrations/025-slot-zones.ts";
import { quotedText } from "./migrations/026-quoted-text.ts";
import { partMessages } from "./migrations/027-part-messages.ts";
import { turnCrashes } from "./migrations/028-turn-crashes.ts";
import { auditEntries } from "./migrations/029-audit-entries.ts";
import { askedInput } from "./migrations/030-asked-input.ts";
import { messageIds } from "./migrations/031-message-ids.ts";
import { reactionsThatWake } from "./migrations/032-reactions-that-wake.ts";
import type { Migration } from "./migrations/migration.ts";

const STEPS: readonly Migration[] = [
  firstMessage,
  turnSpans,
  outboxStates,
  queueModes,
  sessionSettings,
  toolCallChain,
  notesAndTasks,
  postsAndFiles,
  jobs,
  approvals,
  systemEvents,
  jobHomes,
  channels,
  leftoversOfJobs,
  usage,
  hooks,
  jobNeeds,
  slotZones,
  quotedText,
  partMessages,
  turnCrashes,
  auditEntries,
  askedInput,
  messageIds,
  reactionsThatWake,
];

/** What this build writes. A file with a higher number belongs to a newer build. */
export const NEWEST_VERSION = STEPS.length;

/** Marks the file as ours ("piGW"), so that a stranger's SQLite file is refused and not filled with our tables. */
export const APPLICATION_ID = 0x70694757;

export function migrate(db: Database, from: number): readonly string[] {
  const applied: string[] = [];
  for (const [index, step] of STEPS.entries()) {
    if (index < from) continue;
    db.transaction(() => {
      db.exec(step.sql);
      db.exec(`pragma application_id = ${APPLICATION_ID}`);
      db.exec(`pragma user_version = ${index + 1}`);
    }).immediate();
    applied.push(step.name);
  }
  return applied;
}
