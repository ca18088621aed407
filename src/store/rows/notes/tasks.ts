/** Tasks: added once, listed in the order in which they matter, changed only by the person they belong to. */
import type { Principal } from "../../../contracts/ids.ts";
import type { Kept } from "../../../contracts/store/notes.ts";
import type { NewTask, Task, TaskChange, TaskStatus, TaskStore } from "../../../contracts/store/tasks.ts";
import type { TaskTable } from "../../schema.ts";
import type { Params, Sql } from "../../sql.ts";
import type { Steps } from "../../steps.ts";
import type { Selectable } from "kysely";
import { fromColumns } from "../named-columns.ts";
import { createOnce } from "./once.ts";
import type { RowDeps } from "../row-deps.ts";

const MAX_TASKS_PER_PERSON = 10_000;
const NO_DATE = Number.MAX_SAFE_INTEGER;

type Row = Selectable<TaskTable>;
const SHOWN = ["id", "title", "due_date", "priority", "status", "created_at", "completed_at"] as const;
type Mutable = Pick<TaskTable, "title" | "due_date" | "priority" | "status" | "place" | "completed_at">;

export function createTasks({ sql, read, write }: RowDeps): TaskStore {
  const once = createOnce(sql);
  const { known, newest, add, one, inOrder, update } = statements(sql);

  function* keep(task: NewTask): Steps<Kept> {
    const { id, owner, title, dueDate, priority, at } = task;
    const key = { owner, once: yield* once(task.askedBy, [title, dueDate, priority]) };
    const before = yield* known.first(key);
    if (before) return { kind: "kept", id: before.id };
    const number = ((yield* newest.first({ owner }))?.number ?? 0) + 1;
    if (number > MAX_TASKS_PER_PERSON) return { kind: "full", max: MAX_TASKS_PER_PERSON };
    const row = { ...key, number, id, title, due_date: dueDate, priority, created_at: at, completed_at: null };
    yield* add.run({ ...row, status: "pending", place: placeOf("pending", dueDate, null) });
    return { kind: "kept", id };
  }

  function* list(owner: Principal, status: TaskStatus | "all", limit: number): Steps<readonly Task[]> {
    if (status !== "all") return (yield* inOrder.all({ owner, status, limit })).map(toTask);
    const pending = yield* inOrder.all({ owner, status: "pending", limit });
    const completed = yield* inOrder.all({ owner, status: "completed", limit: limit - pending.length });
    return [...pending, ...completed].map(toTask);
  }

  function* change(owner: Principal, id: string, wanted: TaskChange, at: number): Steps<Task | null> {
    const row = yield* one.first({ owner, id });
    if (!row) return null;
    const next = changed(row, wanted, at);
    yield* update.run({ owner, id, ...next });
    return toTask({ ...row, ...next });
  }

  return {
    add: (task) => write(() => keep(task)),
    list: (owner, status, limit) => read(() => list(owner, status, limit)),
    change: (owner, id, wanted, at) => write(() => change(owner, id, wanted, at)),
  };
}

function statements(sql: Sql) {
  return {
    known: sql.prepare((db, p: Params<Pick<TaskTable, "owner" | "once">>) =>
      db.selectFrom("tasks").select("id").where("owner", "=", p("owner")).where("once", "=", p("once")),
    ),
    newest: sql.prepare((db, p: Params<{ owner: Principal }>) =>
      db.selectFrom("tasks").select("number").where("owner", "=", p("owner")).orderBy("number", "desc").limit(1),
    ),
    add: sql.prepare((db, p: Params<Omit<TaskTable, "seq">>) =>
      db.insertInto("tasks").values(p.row(...SHOWN, "owner", "number", "once", "place")),
    ),
    one: sql.prepare((db, p: Params<{ owner: Principal; id: string }>) =>
      db.selectFrom("tasks").selectAll().where("id", "=", p("id")).where("owner", "=", p("owner")),
    ),
    inOrder: sql.prepare((db, p: Params<{ owner: Principal; status: TaskStatus; limit: number }>) =>
      db
        .selectFrom("tasks")
        .selectAll()
        .where("owner", "=", p("owner"))
        .where("status", "=", p("status"))
        .orderBy("place")
        .orderBy("seq")
        .limit(p("limit")),
    ),
    update: sql.prepare((db, p: Params<Mutable & { owner: Principal; id: string }>) =>
      db
        .updateTable("tasks")
        .set(p.row("title", "due_date", "priority", "status", "place", "completed_at"))
        .where("id", "=", p("id"))
        .where("owner", "=", p("owner")),
    ),
  };
}

function changed(row: Row, wanted: TaskChange, at: number): Mutable {
  const title = wanted.title ?? row.title;
  const dueDate = wanted.dueDate === undefined ? row.due_date : wanted.dueDate;
  const priority = wanted.priority ?? row.priority;
  const status = wanted.status ?? row.status;
  const completedAt = status === "completed" ? (row.completed_at ?? at) : null;
  const place = placeOf(status, dueDate, completedAt);
  return { title, due_date: dueDate, priority, status, place, completed_at: completedAt };
}

function placeOf(status: TaskStatus, dueDate: string | null, completedAt: number | null): number {
  if (status === "completed") return -(completedAt ?? 0);
  const due = dueDate === null ? Number.NaN : Date.parse(dueDate);
  return Number.isSafeInteger(due) ? due : NO_DATE;
}

function toTask(row: Row): Task {
  return fromColumns(SHOWN, row);
}
