/** `add_task`, `list_tasks`, `complete_task`, `update_task`: a person's own list. Another person's task does not exist for them. */
import { Type } from "typebox";
import type { Task, TaskChange, TaskStore } from "../../../contracts/store/tasks.ts";
import type { PersonTimes } from "../../../contracts/automation/when.ts";
import type { Principal } from "../../../contracts/ids.ts";
import type { Tool } from "../../../contracts/tools/tool.ts";
import type { Clock } from "../../../kit/clock.ts";
import type { Ids } from "../../../kit/ids.ts";
import { isUuid, uuid } from "../../../kit/uuid.ts";
import { answer, closed, defineTool, MINUTE_MS, type ToolCall } from "../define.ts";
import { dueDate } from "./due-date.ts";

export interface TaskToolDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tasks: TaskStore;
  readonly people: Pick<PersonTimes, "read">;
}

const MAX_TITLE_CHARS = 500;
const MAX_DATE_CHARS = 40;
const MAX_LISTED = 100;
const DEFAULT_LISTED = 10;

const title = () => Type.String({ minLength: 1, maxLength: MAX_TITLE_CHARS, description: "What is to be done" });
const taskId = () => Type.String({ minLength: 1, maxLength: 64, description: "The task's id, from list_tasks" });
const due = () =>
  Type.Union([Type.String({ maxLength: MAX_DATE_CHARS }), Type.Null()], {
    description:
      "When it is due: a date or date and time in ISO 8601, or words such as tomorrow, friday 17:00; null for no date",
  });
const priority = () =>
  Type.Union([Type.Literal("low"), Type.Literal("medium"), Type.Literal("high")], {
    description: "How much it matters",
  });
const limits = { timeoutMs: 10_000, flags: { idempotent: true } } as const;

export function addTask({ clock, ids, tasks, people }: TaskToolDeps): Tool {
  return defineTool({
    ...limits, // the same task of a turn that runs again is added once
    name: "add_task",
    label: "Add task",
    description: "Adds a task to this person's list.",
    parameters: Type.Object(
      { title: title(), due_date: Type.Optional(due()), priority: Type.Optional(priority()) },
      closed,
    ),
    limit: { calls: 30, perMs: MINUTE_MS },
    async run(params, { callId, context }) {
      const kept = await tasks.add({
        id: uuid(ids),
        owner: context.principal,
        title: titleOf(params.title),
        dueDate: dateOf(people, context.principal, params.due_date ?? null),
        priority: params.priority ?? "medium",
        askedBy: { turnId: context.turnId, callId },
        at: clock.now(),
      });
      if (kept.kind === "full") throw new Error(`The task was not added: ${kept.max} tasks are kept for one person.`);
      return answer({ task_id: kept.id, created: true });
    },
  });
}

export function listTasks({ tasks }: Pick<TaskToolDeps, "tasks">): Tool {
  const status = (["all", "pending", "completed"] as const).map((value) => Type.Literal(value));
  return defineTool({
    ...limits,
    name: "list_tasks",
    label: "List tasks",
    description: "Lists this person's tasks: pending ones by the date they are due, then completed ones, latest first.",
    parameters: Type.Object(
      {
        status: Type.Optional(Type.Union(status, { default: "all", description: "Which ones" })),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MAX_LISTED, default: DEFAULT_LISTED, description: "Tasks at most" }),
        ),
      },
      closed,
    ),
    limit: { calls: 60, perMs: MINUTE_MS },
    async run(params, { context }) {
      const found = await tasks.list(context.principal, params.status ?? "all", params.limit ?? DEFAULT_LISTED);
      return answer({ tasks: found.map(shown) });
    },
  });
}

export function completeTask(deps: TaskToolDeps): Tool {
  return defineTool({
    ...limits,
    name: "complete_task",
    label: "Complete task",
    description: "Marks one of this person's tasks as completed.",
    parameters: Type.Object({ task_id: taskId() }, closed),
    limit: { calls: 30, perMs: MINUTE_MS },
    async run({ task_id: id }, call) {
      await change(deps, { id, change: { status: "completed" } }, call);
      return answer({ task_id: id, completed: true });
    },
  });
}

export function updateTask(deps: TaskToolDeps): Tool {
  const status = Type.Union([Type.Literal("pending"), Type.Literal("completed")], {
    description: "pending takes a completed task back",
  });
  return defineTool({
    ...limits,
    name: "update_task",
    label: "Update task",
    description: "Changes the title, due date, priority or status of one of this person's tasks.",
    parameters: Type.Object(
      {
        task_id: taskId(),
        title: Type.Optional(title()),
        due_date: Type.Optional(due()),
        priority: Type.Optional(priority()),
        status: Type.Optional(status),
      },
      closed,
    ),
    limit: { calls: 30, perMs: MINUTE_MS },
    async run(params, call) {
      const wanted: TaskChange = {
        ...(params.title === undefined ? {} : { title: titleOf(params.title) }),
        ...(params.due_date === undefined
          ? {}
          : { dueDate: dateOf(deps.people, call.context.principal, params.due_date) }),
        ...(params.priority === undefined ? {} : { priority: params.priority }),
        ...(params.status === undefined ? {} : { status: params.status }),
      };
      if (Object.keys(wanted).length === 0)
        throw new Error("Nothing was changed: give at least one of title, due_date, priority and status.");
      const task = await change(deps, { id: params.task_id, change: wanted }, call);
      return answer({ task_id: task.id, updated: true, task: shown(task) });
    },
  });
}

async function change(
  { clock, tasks }: TaskToolDeps,
  { id, change: wanted }: { readonly id: string; readonly change: TaskChange },
  { context }: ToolCall,
): Promise<Task> {
  const task = isUuid(id) ? await tasks.change(context.principal, id.toLowerCase(), wanted, clock.now()) : null;
  if (!task) throw new Error("This person has no task with that id. list_tasks tells the ids.");
  return task;
}

function shown({ id, title: text, dueDate: date, priority: level, status }: Task) {
  return { id, title: text, due_date: date, priority: level, status };
}

function titleOf(text: string): string {
  const clean = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  if (clean === "") throw new Error("The title is empty. Say what is to be done.");
  return clean;
}

function dateOf(people: TaskToolDeps["people"], who: Principal, text: string | null): string | null {
  if (text === null || text.trim() === "") return null;
  const date = dueDate(text);
  if (date !== null) return date;
  const reading = people.read(text, who);
  if (reading.kind === "unclear" || /^\s*\d{4}-/.test(text))
    throw new Error(
      'due_date is not clear. Use a form such as "2026-03-01", "2026-03-01T09:30:00Z", "tomorrow" or "friday 17:00".',
    );
  return reading.kind === "day" ? reading.date : new Date(reading.at).toISOString();
}
