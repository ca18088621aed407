/** What a target knows about the move to it: from which source, and how far each table has come. The same table on both engines, gone when the move is complete. */
import type { AskRows } from "../ask-rows.ts";
import { parseJson } from "../../kit/json.ts";
import type { KeyValues } from "./pieces.ts";

export const MARK_TABLE = "store_move";

/** Which store is moved. A gateway that ran on the source since has raised the number of starts, and may have changed any row. */
export interface SourceIdentity {
  readonly source: string;
  readonly epoch: number;
}

export interface TableProgress {
  /** The key of the last row that was copied; null: none was. */
  readonly after: KeyValues | null;
  readonly rows: number;
  readonly isComplete: boolean;
}

export const NOTHING_COPIED: TableProgress = { after: null, rows: 0, isComplete: false };
/** Of a copy that was found to differ: no store was started so often. */
const NEVER = -1;
const LIMITS = { maxChars: 1024 * 1024, maxDepth: 4 };

/** `again`: what was copied is old. `foreign`: it came from elsewhere. */
export function judgeMark(mark: SourceIdentity | null, now: SourceIdentity): "new" | "resume" | "again" | "foreign" {
  if (mark === null) return "new";
  if (mark.source !== now.source) return "foreign";
  return mark.epoch === now.epoch ? "resume" : "again";
}

/** The table is there. */
export async function readMark(ask: AskRows): Promise<SourceIdentity | null> {
  const source = await valueOf(ask, "source");
  const epoch = await valueOf(ask, "epoch");
  return source === null ? null : { source, epoch: Number(epoch ?? NEVER) };
}

/** Runs inside a transaction. */
export async function writeMark(ask: AskRows, { source, epoch }: SourceIdentity): Promise<void> {
  await ask(`create table ${MARK_TABLE} (name text primary key, value text not null)`);
  await setValue(ask, "source", source);
  await setValue(ask, "epoch", String(epoch));
}

/** The next run begins anew. */
export function spoilMark(ask: AskRows): Promise<void> {
  return setValue(ask, "epoch", String(NEVER));
}

/** By table. */
export async function readProgress(ask: AskRows): Promise<ReadonlyMap<string, TableProgress>> {
  const rows = await ask<{ name: string; value: string }>(`select name, value from ${MARK_TABLE} where name like $1`, [
    progressName("%"),
  ]);
  return new Map(rows.map(({ name, value }) => [name.slice(progressName("").length), parseProgress(name, value)]));
}

function parseProgress(name: string, text: string): TableProgress {
  const parsed = parseJson(text, LIMITS);
  if (!parsed.ok) throw new Error(`the progress of ${name} cannot be read`);
  return parsed.value as TableProgress; // written below
}

/** Runs inside the transaction that adds the rows. */
export function writeProgress(ask: AskRows, table: string, progress: TableProgress): Promise<void> {
  return setValue(ask, progressName(table), JSON.stringify(progress));
}

function progressName(table: string): string {
  return `table ${table}`;
}

async function valueOf(ask: AskRows, name: string): Promise<string | null> {
  const [row] = await ask<{ value: string }>(`select value from ${MARK_TABLE} where name = $1`, [name]);
  return row?.value ?? null;
}

async function setValue(ask: AskRows, name: string, value: string): Promise<void> {
  const text = `insert into ${MARK_TABLE} (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`;
  await ask(text, [name, value]);
}
