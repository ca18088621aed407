/** Changes of a session by people: model, thinking level, title, whether it is pinned or archived. */
import { sql as raw } from "kysely";
import type { SessionKey } from "../../../contracts/ids.ts";
import type { SessionStore } from "../../../contracts/store.ts";
import type { SessionTable } from "../../schema.ts";
import type { Params } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import type { RowDeps } from "../row-deps.ts";
import { createNewSessions } from "../new-session.ts";
import { searchTextOf, titleOf } from "../one-line.ts";
import { storedTitle } from "../opening.ts";

type Titled = Pick<SessionTable, "title" | "search_text"> & { readonly key: SessionKey; readonly named: 0 | 1 };

type SessionChanges = Pick<SessionStore, "open" | "configure" | "rename" | "mark">;

export function createSessionChanges({ sql, write, ids }: RowDeps): SessionChanges {
  const add = createNewSessions(sql, ids);
  const settings = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db.selectFrom("sessions").select(["model", "thinking", "title"]).where("key", "=", p("key")),
  );
  const configure = sql.prepare((db, p: Params<Pick<SessionTable, "key" | "model" | "thinking">>) =>
    db.updateTable("sessions").set(p.row("model", "thinking")).where("key", "=", p("key")),
  );
  const entitle = sql.prepare((db, p: Params<Titled>) =>
    db
      .updateTable("sessions")
      .set(p.row("title", "search_text", "named"))
      .where("key", "=", p("key")),
  );
  const marked = sql.prepare((db, p: Params<{ key: SessionKey }>) =>
    db.selectFrom("sessions").select(["pinned_at", "archived_at"]).where("key", "=", p("key")),
  );
  const mark = sql.prepare((db, p: Params<Pick<SessionTable, "key" | "pinned_at" | "archived_at">>) =>
    db.updateTable("sessions").set(p.row("pinned_at", "archived_at")).where("key", "=", p("key")),
  );
  /** The first message that is (`commands` 1) or is not a command. */
  const opening = sql.prepare((db, p: Params<{ key: SessionKey; commands: 0 | 1 }>) =>
    db
      .selectFrom("turns")
      .innerJoin("inbox", "inbox.turn_id", "turns.id")
      .select(["inbox.text", "inbox.quoted", "inbox.attachments"])
      .where("turns.session_key", "=", p("key"))
      .where(raw<number>`case when substr(inbox.text, 1, 1) = '/' then 1 else 0 end`, "=", p("commands"))
      .orderBy("turns.seq")
      .limit(1),
  );

  function* ownTitle(key: SessionKey): Steps<string | null> {
    const said = (yield* opening.first({ key, commands: 0 })) ?? (yield* opening.first({ key, commands: 1 }));
    return said && storedTitle(said);
  }

  return {
    open: (session) =>
      write(function* () {
        if (!(yield* settings.first({ key: session.key }))) yield* add({ ...session, title: "", messages: 0 });
      }),
    configure: (key, changes) =>
      write(function* () {
        const before = yield* settings.first({ key });
        if (!before) return false;
        const { model, thinking } = { ...before, ...changes };
        return (yield* configure.run({ key, model, thinking })) > 0;
      }),
    mark: (key, { pinned, archived }, at) =>
      write(function* () {
        const before = yield* marked.first({ key });
        if (!before) return false;
        const pinned_at = pinned === undefined ? before.pinned_at : pinned ? (before.pinned_at ?? at) : null;
        const archived_at = archived === undefined ? before.archived_at : archived ? (before.archived_at ?? at) : null;
        return (yield* mark.run({ key, pinned_at, archived_at })) > 0;
      }),
    rename: (key, name) =>
      write(function* () {
        const before = yield* settings.first({ key });
        if (!before) return false;
        const given = titleOf({ text: name ?? "", attachments: [] });
        const title = given || ((yield* ownTitle(key)) ?? before.title);
        return (yield* entitle.run({ key, title, search_text: searchTextOf(title, key), named: given ? 1 : 0 })) > 0;
      }),
  };
}
