/** How much there is of everything that grows, in the words of the settings that bound it. Only looks. */
import type { StorageReport, StoredKind } from "../contracts/storage.ts";
import type { RetentionStore, TableSize } from "../contracts/store/retention.ts";
import { MIN_USAGE_DAYS, type RetentionSettings } from "./kinds.ts";

interface ReportDeps {
  readonly retention: Pick<RetentionStore, "sizes">;
  settings(): RetentionSettings;
}

/** Which tables a kind is in, and the setting that says how long it is kept. */
interface Described {
  readonly kind: string;
  readonly tables: readonly string[];
  readonly setting?: string;
  readonly keepDays?: (settings: RetentionSettings) => number;
}

const MESSAGES = {
  setting: "retention.messagesDays",
  keepDays: ({ messagesDays }: RetentionSettings) => messagesDays,
};
const SESSIONS = {
  setting: "retention.sessionsDays",
  keepDays: ({ sessionsDays }: RetentionSettings) => sessionsDays,
};
const TOOL_CALLS = { setting: "tools.keepDays", keepDays: ({ toolCallsDays }: RetentionSettings) => toolCallsDays };

const KINDS: readonly Described[] = [
  { kind: "messages", tables: ["inbox", "platform_messages", "reactions"], ...MESSAGES },
  { kind: "replies", tables: ["outbox"], ...MESSAGES },
  { kind: "turns", tables: ["turns"], ...MESSAGES },
  { kind: "search index", tables: ["message_index"], ...MESSAGES },
  { kind: "sessions", tables: ["sessions", "conversations", "session_branches", "approval_grants"], ...SESSIONS },
  { kind: "files in the database", tables: ["files", "file_chunks"], ...SESSIONS },
  { kind: "media", tables: ["media"], setting: "retention.mediaDays", keepDays: ({ mediaDays }) => mediaDays },
  { kind: "tool calls", tables: ["tool_calls", "session_tools"], ...TOOL_CALLS },
  { kind: "audit log", tables: ["audit_entries"], ...TOOL_CALLS },
  { kind: "approvals", tables: ["approvals", "approval_rules"], ...TOOL_CALLS },
  {
    kind: "usage",
    tables: ["usage", "usage_days"],
    setting: "retention.usageDays",
    keepDays: ({ usageDays }) => (usageDays === 0 ? 0 : Math.max(usageDays, MIN_USAGE_DAYS)),
  },
  { kind: "job runs", tables: ["job_runs"] },
  { kind: "responses", tables: ["responses"] },
  { kind: "system events", tables: ["system_events"] },
  { kind: "transcripts of voice messages", tables: ["spoken_words"] },
  { kind: "answers for repeated requests", tables: ["idempotent_answers"] },
  { kind: "webhook marks", tables: ["hook_marks"] },
  { kind: "sign-ins", tables: ["sign_ins"] },
  { kind: "notes", tables: ["notes"] },
  { kind: "tasks", tables: ["tasks"] },
];

export async function storageReport({ retention, settings }: ReportDeps, signal: AbortSignal): Promise<StorageReport> {
  const { bytes, tables, folders } = await retention.sizes(signal);
  const found = new Map(tables.map((table) => [table.table, table]));
  const kinds = KINDS.filter((kind) => kind.tables.some((table) => found.has(table)));
  return { databaseBytes: bytes, kinds: kinds.map((kind) => storedKind(kind, found, settings())), folders };
}

/** Rows are those of its first table: the others only add to them. */
function storedKind(
  { kind, tables, setting, keepDays }: Described,
  found: ReadonlyMap<string, TableSize>,
  settings: RetentionSettings,
): StoredKind {
  const sizes = tables.flatMap((table) => found.get(table) ?? []);
  const [main] = sizes;
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  const days = keepDays === undefined ? null : keepDays(settings);
  return {
    kind,
    rows: main?.rows ?? 0,
    bytes,
    oldestAt: main?.oldestAt ?? null,
    keepDays: days,
    setting: setting ?? null,
  };
}
