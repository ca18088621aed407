/** Browser sign-ins by digest. Those that have expired are dropped whenever a new one is added, so the table stays small. */
import type { SignInStore } from "../../contracts/store.ts";
import type { AuditLog } from "../audit/entries.ts";
import type { SignInTable } from "../schema.ts";
import type { Params } from "../sql.ts";
import type { RowDeps } from "./row-deps.ts";

export function createSignIns({ sql, read, write, clock }: RowDeps, audit: AuditLog): SignInStore {
  const add = sql.prepare((db, p: Params<SignInTable>) =>
    db.replaceInto("sign_ins").values(p.row("digest", "principal", "created_at", "expires_at", "auth_digest")),
  );
  const dropExpired = sql.prepare((db, p: Params<{ now: number }>) =>
    db.deleteFrom("sign_ins").where("expires_at", "<=", p("now")),
  );
  const byDigest = sql.prepare((db, p: Params<{ digest: string }>) =>
    db.selectFrom("sign_ins").select(["principal", "expires_at", "auth_digest"]).where("digest", "=", p("digest")),
  );
  const drop = sql.prepare((db, p: Params<{ digest: string }>) =>
    db.deleteFrom("sign_ins").where("digest", "=", p("digest")),
  );

  return {
    async put(signIn) {
      const link = await write(() => {
        dropExpired.run({ now: signIn.createdAt });
        add.run({
          digest: signIn.digest,
          principal: signIn.principal,
          created_at: signIn.createdAt,
          expires_at: signIn.expiresAt,
          auth_digest: signIn.authDigest,
        });
        const { createdAt, expiresAt, principal, digest } = signIn;
        return audit.append({
          kind: "sign_in",
          at: createdAt,
          actor: principal,
          subject: shortDigest(digest),
          detail: { expiresAt },
        });
      });
      audit.noticed(link);
    },
    find: (digest) =>
      read(() => {
        const row = byDigest.first({ digest });
        return row && { principal: row.principal, expiresAt: row.expires_at, authDigest: row.auth_digest };
      }),
    async remove(digest) {
      const link = await write(() => {
        const known = byDigest.first({ digest });
        drop.run({ digest });
        const ended = { at: clock.now(), subject: shortDigest(digest), detail: {} };
        return known && audit.append({ kind: "sign_out", actor: known.principal, ...ended });
      });
      if (link) audit.noticed(link);
    },
  };
}

const SHORT_CHARS = 16;

/** Enough to find the end of a sign-in, and of no use to whoever reads it. */
function shortDigest(digest: string): string {
  return digest.slice(0, SHORT_CHARS);
}
