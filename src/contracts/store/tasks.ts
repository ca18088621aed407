/** What people have to do. A task belongs to one person; for everybody else it does not exist. */
import type { Principal } from "../ids.ts";
import type { AskedBy, Kept } from "./notes.ts";

export interface TaskStore {
  /** `full`: the person has as many tasks as are kept for one. The same task added again by the same work is one task. */
  add(task: NewTask): Promise<Kept>;
  /** Pending ones first, by the date they are due; then completed ones, latest first. */
  list(owner: Principal, status: TaskStatus | "all", limit: number): Promise<readonly Task[]>;
  /** Null: this person has no such task. */
  change(owner: Principal, id: string, change: TaskChange, at: number): Promise<Task | null>;
}

export type TaskStatus = "pending" | "completed";
export type TaskPriority = "low" | "medium" | "high";

export interface Task {
  readonly id: string; // a UUID
  readonly title: string;
  /** ISO 8601, as it was given. */
  readonly dueDate: string | null;
  readonly priority: TaskPriority;
  readonly status: TaskStatus;
  readonly createdAt: number;
  readonly completedAt: number | null;
}

export interface NewTask extends Pick<Task, "id" | "title" | "dueDate" | "priority"> {
  readonly owner: Principal;
  readonly askedBy: AskedBy;
  readonly at: number;
}

/** What is left out stays as it is. */
export type TaskChange = Partial<Pick<Task, "title" | "dueDate" | "priority" | "status">>;
