/** Browser sign-ins by digest. Those that have expired are dropped whenever a new one is added, so the table stays small. */
import type { SignInStore } from "../../contracts/store.ts";
import type { SignInTable } from "../schema.ts";
import type { Params } from "../sql.ts";
import type { RowDeps } from "./row-deps.ts";

export function createSignIns({ sql, read, write }: RowDeps): SignInStore {
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
    put: (signIn) =>
      write(() => {
        dropExpired.run({ now: signIn.createdAt });
        add.run({
          digest: signIn.digest,
          principal: signIn.principal,
          created_at: signIn.createdAt,
          expires_at: signIn.expiresAt,
          auth_digest: signIn.authDigest,
        });
      }),
    find: (digest) =>
      read(() => {
        const row = byDigest.first({ digest });
        return row && { principal: row.principal, expiresAt: row.expires_at, authDigest: row.auth_digest };
      }),
    remove: (digest) => write(() => void drop.run({ digest })),
  };
}
