/**
 * The arithmetic of the chain: each call has two links, one written before it runs and one at its end, numbered without a gap over all calls.
 * A link's hash is keyed and covers the link before it, so nothing can be changed, left out, added or moved without the key.
 */
import type { Selectable } from "kysely";
import { storableText } from "../storable-text.ts";
import type { AuditEntryTable, AuditMarkTable, ToolCallTable } from "../schema.ts";

export type LinkKind = "intent" | "end" | "entry";
export type CallRow = Selectable<ToolCallTable>;

export interface Link {
  readonly no: number;
  readonly hash: string;
}

export interface ChainKey {
  linkHash(before: string, link: { readonly no: number; readonly kind: LinkKind }, content: readonly unknown[]): string;
  markMac(name: AuditMarkTable["name"] | "file", at: Link): string;
}

export function createChainKey(key: Uint8Array): ChainKey {
  const mac = (text: string): string => new Bun.CryptoHasher("sha256", key).update(text).digest("hex");
  return {
    linkHash: (before, { no, kind }, content) => mac(JSON.stringify([before, no, kind, content])),
    markMac: (name, { no, hash }) => mac(JSON.stringify(["mark", name, no, hash])),
  };
}

type IntentRow = Pick<
  CallRow,
  | ("seq" | "id" | "call_id" | "scope" | "turn_id" | "session_key" | "principal" | "tool")
  | ("origin" | "path" | "params_hash" | "idempotent" | "at" | "input" | "asked")
>;

/** The fields of a call that are known before it runs, `seq` included. */
export function intentContent(row: IntentRow): readonly unknown[] {
  return [...intentContentWithoutSeq(row), row.seq];
}

/** As earlier versions linked it. A hash made of one form never fits the other, so accepting both opens nothing. */
export function intentContentWithoutSeq(row: Omit<IntentRow, "seq">): readonly unknown[] {
  return [
    ...[row.id, row.call_id, row.scope, row.turn_id, row.session_key, row.principal, row.tool],
    ...[row.origin, row.path, row.params_hash, row.idempotent, row.at, row.input],
    ...(row.asked === null ? [] : [row.asked]), // rows from before there was this column keep their hashes
  ];
}

/** As every engine keeps it: a link is about what is stored, and Postgres does not store every character that a tool may answer with. */
export function storableContent(content: readonly unknown[]): readonly unknown[] {
  return content.map((field) => (typeof field === "string" ? storableText(field) : field));
}

/** All fields of an entry that is no call, `seq` included. */
export function entryContent(row: Omit<AuditEntryTable, "no" | "hash">): readonly unknown[] {
  return [row.seq, row.kind, row.at, row.actor, row.subject, row.detail];
}

/** The fields that the end of a call adds. */
export function endContent(row: Pick<CallRow, "id" | "status" | "ms" | "output" | "reply">): readonly unknown[] {
  return [row.id, row.status, row.ms, row.output, row.reply];
}
