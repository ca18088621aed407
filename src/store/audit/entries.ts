/** Entries of the audit log that are no tool calls. Each is written in the transaction of the change it tells of, so neither is there without the other. */
import type { AuditEntry, AuditKind, AuditTrail, NewAuditEntry } from "../../contracts/store/tool-calls.ts";
import { decodeJson, encodeJson } from "../rows/codec.ts";
import { numberBefore, pageOf, pageSize } from "../rows/paging.ts";
import type { RowDeps } from "../rows/row-deps.ts";
import type { AuditEntryTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import type { Chain } from "./chain.ts";
import type { HeadFile } from "./head-file.ts";
import { entryContent, type Link } from "./links.ts";

export interface AuditLog {
  /** Only inside a transaction. */
  append(entry: NewAuditEntry): Steps<Link>;
  /** The transaction of this link is on the disk. */
  noteCommitted(link: Link): void;
}

export function createAuditLog(sql: Sql, chain: Chain, headFile: HeadFile | null): AuditLog {
  const lastSeq = sql.prepare((db) => db.selectFrom("audit_entries").select((eb) => eb.fn.max("seq").as("seq")));
  const add = sql.prepare((db, p: Params<AuditEntryTable>) =>
    db.insertInto("audit_entries").values(p.row("seq", "kind", "at", "actor", "subject", "no", "hash", "detail")),
  );
  return {
    *append({ kind, at, actor, subject, detail }) {
      const seq = ((yield* lastSeq.first({}))?.seq ?? 0) + 1;
      const row = { seq, kind, at, actor, subject, detail: encodeJson(detail) };
      const link = yield* chain.append("entry", entryContent(row));
      yield* add.run({ ...row, ...link });
      return link;
    },
    noteCommitted: (link) => headFile?.noteCommitted(link),
  };
}

/** A write that appends an entry with what it changes. Resolves with false when it appended none. */
export function createAuditedWrite(write: RowDeps["write"], audit: AuditLog) {
  return async (run: () => Steps<Link | null>): Promise<boolean> => {
    const link = await write(run);
    if (link) audit.noteCommitted(link);
    return link !== null;
  };
}

export function createAuditTrail({ sql, read, write }: RowDeps, log: AuditLog): AuditTrail {
  const writeAudited = createAuditedWrite(write, log);
  const latest = sql.prepare((db, p: Params<{ before: number; limit: number }>) =>
    db.selectFrom("audit_entries").selectAll().where("seq", "<", p("before")).orderBy("seq", "desc").limit(p("limit")),
  );
  const ofKind = sql.prepare((db, p: Params<{ kind: AuditKind; before: number; limit: number }>) =>
    db
      .selectFrom("audit_entries")
      .selectAll()
      .where("kind", "=", p("kind"))
      .where("seq", "<", p("before"))
      .orderBy("seq", "desc")
      .limit(p("limit")),
  );
  return {
    note: async (entry) => void (await writeAudited(() => log.append(entry))),
    list: (page, kind) =>
      read(function* () {
        const limit = pageSize(page);
        const asked = { before: numberBefore(page), limit: limit + 1 };
        const rows = kind === undefined ? yield* latest.all(asked) : yield* ofKind.all({ ...asked, kind });
        return pageOf(rows, limit, toEntry, ({ seq }) => [seq]);
      }),
  };
}

function toEntry({ kind, at, actor, subject, no, detail }: AuditEntryTable): AuditEntry {
  return { no, kind, at, actor, subject, detail: decodeJson(detail) as AuditEntry["detail"] }; // written above
}
