/** Appends links inside the transaction that writes their row. The head is read from the database each time: a transaction that is rolled back takes its links with it. */
import type { AuditMarkTable } from "../schema.ts";
import type { Params, Sql } from "../sql.ts";
import type { Steps } from "../steps.ts";
import { type ChainKey, type Link, type LinkKind, storableContent } from "./links.ts";

export interface Chain {
  /** The next link; only inside a transaction. */
  append(kind: LinkKind, content: readonly unknown[]): Steps<Link>;
  head(): Steps<Link>;
  /** Everything up to here has been taken away on purpose. */
  startAfter(last: Link): Steps<void>;
}

const NONE: Link = { no: 0, hash: "" };

export function createChain(sql: Sql, key: ChainKey): Chain {
  const mark = sql.prepare((db, p: Params<Pick<AuditMarkTable, "name">>) =>
    db.selectFrom("audit_marks").select(["no", "hash"]).where("name", "=", p("name")),
  );
  /** Two gateways that append at the same time do so one after the other. */
  const lockedMark = sql.prepare((db, p: Params<Pick<AuditMarkTable, "name">>) => {
    const found = db.selectFrom("audit_marks").select(["no", "hash"]).where("name", "=", p("name"));
    return sql.dialect.locksRows ? found.forUpdate() : found;
  });
  const move = sql.prepare((db, p: Params<AuditMarkTable>) =>
    db
      .updateTable("audit_marks")
      .set(p.row("no", "hash", "mac"))
      .where("name", "=", p("name")),
  );
  function* head(): Steps<Link> {
    return (yield* mark.first({ name: "head" })) ?? NONE;
  }
  function* set(name: AuditMarkTable["name"], at: Link): Steps<void> {
    yield* move.run({ name, ...at, mac: key.markMac(name, at) });
  }
  return {
    head,
    *append(kind, content) {
      const before = (yield* lockedMark.first({ name: "head" })) ?? NONE;
      const no = before.no + 1;
      const link = { no, hash: key.linkHash(before.hash, { no, kind }, storableContent(content)) };
      yield* set("head", link);
      return link;
    },
    startAfter: (last) => set("start", last),
  };
}
