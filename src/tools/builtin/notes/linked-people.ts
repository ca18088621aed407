/** Notes and tasks of a person who has several ids: each is kept under the id that made it, and found under all of them. */
import type { Principal } from "../../../contracts/ids.ts";
import type { NoteHit, NoteStore } from "../../../contracts/store/notes.ts";
import type { Task, TaskStore } from "../../../contracts/store/tasks.ts";

/** Every id of the person behind this one, itself included. Asked with each call: links change with the configuration. */
type IdsOf = (who: Principal) => readonly Principal[];

export function notesOfPeople(notes: NoteStore, idsOf: IdsOf): NoteStore {
  return {
    save: (note) => notes.save(note),
    async search(owner, words, limit) {
      const found = await Promise.all(idsOf(owner).map((id) => notes.search(id, words, limit)));
      return inTurns(found).slice(0, limit);
    },
    async list(owner, limit) {
      const found = (await Promise.all(idsOf(owner).map((id) => notes.list(id, limit)))).flat();
      return found.toSorted((one, other) => other.createdAt - one.createdAt).slice(0, limit);
    },
    async get(owner, id) {
      const found = await Promise.all(idsOf(owner).map((one) => notes.get(one, id)));
      return found.find((note) => note !== null) ?? null;
    },
  };
}

export function tasksOfPeople(tasks: TaskStore, idsOf: IdsOf): TaskStore {
  return {
    add: (task) => tasks.add(task),
    async list(owner, status, limit) {
      const ids = idsOf(owner);
      const found = (await Promise.all(ids.map((id) => tasks.list(id, status, limit)))).flat();
      return (ids.length === 1 ? found : found.toSorted(byUrgency)).slice(0, limit);
    },
    async change(owner, id, change, at) {
      for (const one of idsOf(owner)) {
        const task = await tasks.change(one, id, change, at);
        if (task) return task;
      }
      return null;
    },
  };
}

/** The best of each list, then the second of each: how well they fit is known within a list only. */
function inTurns(lists: readonly (readonly NoteHit[])[]): readonly NoteHit[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, rank) => lists.flatMap((list) => list.slice(rank, rank + 1))).flat();
}

/** As the store orders them for one id: pending ones by the date they are due, then completed ones, latest first. */
function byUrgency(one: Task, other: Task): number {
  if (one.status !== other.status) return one.status === "pending" ? -1 : 1;
  if (one.status === "completed") return (other.completedAt ?? 0) - (one.completedAt ?? 0);
  if (one.dueDate !== other.dueDate)
    return one.dueDate === null ? 1 : other.dueDate === null ? -1 : one.dueDate < other.dueDate ? -1 : 1;
  return one.createdAt - other.createdAt;
}
