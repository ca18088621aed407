/** Browser sign-ins by digest. Those that have expired are dropped whenever a new one is added, so the table stays small. */
import type { Principal } from "../../contracts/ids.ts";
import type { SignInStore } from "../../contracts/store/sign-ins.ts";
import { type AuditLog, createAuditedWrite } from "../audit/entries.ts";
import type { Params } from "../sql.ts";
import { fromColumns, toColumns } from "./named-columns.ts";
import type { RowDeps } from "./row-deps.ts";
import { newValues } from "./terms.ts";

export interface SignInTable {
  digest: string;
  principal: Principal;
  created_at: number;
  expires_at: number;
  auth_digest: string;
  /** Null: it has not said, or signed in before this was kept. */
  browser: string | null;
}

const FOUND = ["principal", "expires_at", "auth_digest"] as const;
const MAX_LISTED = 100;
const COLUMNS = ["digest", "created_at", "browser", ...FOUND] as const;

export function createSignIns({ sql, read, write, clock }: RowDeps, audit: AuditLog): SignInStore {
  const add = sql.prepare((db, p: Params<SignInTable>) =>
    db
      .insertInto("sign_ins")
      .values(p.row(...COLUMNS))
      .onConflict((conflict) => conflict.column("digest").doUpdateSet(newValues("created_at", "browser", ...FOUND))),
  );
  const dropExpired = sql.prepare((db, p: Params<{ now: number }>) =>
    db.deleteFrom("sign_ins").where("expires_at", "<=", p("now")),
  );
  const byDigest = sql.prepare((db, p: Params<{ digest: string }>) =>
    db.selectFrom("sign_ins").select(FOUND).where("digest", "=", p("digest")),
  );
  const listed = sql.prepare((db, p: Params<{ now: number }>) =>
    db
      .selectFrom("sign_ins")
      .select(COLUMNS)
      .where("expires_at", ">", p("now"))
      .orderBy("expires_at", "desc")
      .limit(MAX_LISTED),
  );
  const drop = sql.prepare((db, p: Params<{ digest: string }>) =>
    db.deleteFrom("sign_ins").where("digest", "=", p("digest")),
  );

  const writeAudited = createAuditedWrite(write, audit);

  return {
    async put(signIn) {
      const { digest, principal, createdAt: at, expiresAt } = signIn;
      await writeAudited(function* () {
        yield* dropExpired.run({ now: at });
        yield* add.run(toColumns(COLUMNS, signIn));
        return yield* audit.append({
          kind: "sign_in",
          at,
          actor: principal,
          subject: shortDigest(digest),
          detail: { expiresAt },
        });
      });
    },
    find: (digest) =>
      read(function* () {
        const row = yield* byDigest.first({ digest });
        return row && fromColumns(FOUND, row);
      }),
    list: (now) =>
      read(function* () {
        return (yield* listed.all({ now })).map((row) => fromColumns(COLUMNS, row));
      }),
    async remove(digest) {
      await writeAudited(function* () {
        const known = yield* byDigest.first({ digest });
        yield* drop.run({ digest });
        const ended = { at: clock.now(), subject: shortDigest(digest), detail: {} };
        return known && (yield* audit.append({ kind: "sign_out", actor: known.principal, ...ended }));
      });
    },
  };
}

const SHORT_CHARS = 16;

/** Enough to find the end of a sign-in, and of no use to whoever reads it. */
function shortDigest(digest: string): string {
  return digest.slice(0, SHORT_CHARS);
}
