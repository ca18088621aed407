/** The tools for notes and tasks, called through the gate on a real store. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Principal } from "../../../contracts/ids.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { BENCH_CONTEXT, builtinBench, type BuiltinBench } from "../../../testing/tools/builtin-bench.ts";
import { addTask, completeTask, listTasks, updateTask } from "./tasks.ts";
import { testPersonTimes } from "../../../testing/automation/person-times.ts";
import { saveNote, searchNotes } from "./notes.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
let bench: BuiltinBench;

beforeAll(async () => {
  bench = await builtinBench((deps) => [
    saveNote({ ...deps, notes: deps.store.notes }),
    searchNotes({ notes: deps.store.notes }),
    ...[addTask, completeTask, updateTask].map((tool) =>
      tool({ ...deps, tasks: deps.store.tasks, people: testPersonTimes(deps.clock) }),
    ),
    listTasks({ tasks: deps.store.tasks }),
  ]);
});
afterAll(() => bench[Symbol.asyncDispose]());

const as = (name: string) => ({ principal: `telegram:user:${name}` as Principal });

describe("notes", () => {
  test("a note is saved under a UUID and found again by its words", async () => {
    const saved = await bench.json("save_note", { title: "Wi-Fi", content: "hunter2", tags: ["home  net", " "] });
    expect(saved).toEqual({ note_id: expect.stringMatching(UUID), saved: true });
    expect(await bench.json("search_notes", { query: "wi-fi" })).toEqual({
      notes: [
        {
          id: saved.note_id,
          title: "Wi-Fi",
          snippet: "hunter2",
          tags: ["home net"],
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        },
      ],
    });
  });

  test("a note whose title is nothing but spaces is called Note", async () => {
    await bench.json("save_note", { title: "  ", content: "an untitled thought" }, as("untitled"));
    expect(await bench.json("search_notes", { query: "untitled" }, as("untitled"))).toMatchObject({
      notes: [{ title: "Note" }],
    });
  });

  test("two people never find each other's notes", async () => {
    await bench.json("save_note", { title: "t", content: "the treasure is in the garden" }, as("1"));
    expect(await bench.json("search_notes", { query: "treasure" }, as("2"))).toEqual({ notes: [] });
    expect((await bench.json("search_notes", { query: "treasure" }, as("1"))).notes).toHaveLength(1);
  });

  test.each([
    ["save_note", {}],
    ["save_note", { title: "t" }],
    ["save_note", { title: "", content: "x" }],
    ["save_note", { title: "t", content: "x", owner: "operator" }],
    ["save_note", { title: "t".repeat(201), content: "x" }],
    ["save_note", { title: "t", content: "x".repeat(50_001) }],
    ["save_note", { title: "t", content: "x", tags: Array.from({ length: 21 }, String) }],
    ["save_note", { title: "t", content: "x", tags: "home" }],
    ["search_notes", { query: "" }],
    ["search_notes", { query: "x".repeat(501) }],
    ["search_notes", { query: "x", limit: 21 }],
    ["search_notes", { query: "x", limit: 0 }],
    ["search_notes", { query: "x", principal: "operator" }],
  ])("%s refuses %j", async (tool, params) => {
    expect(await bench.call(tool, params)).toMatchObject({ kind: "refused", code: "invalid_params" });
  });
});

describe("tasks", () => {
  test("are added, listed, changed and completed, in the forms a script can rely on", async () => {
    const me = as("list");
    const added = await bench.json("add_task", { title: " call\nmum ", due_date: "2026-03-01", priority: "high" }, me);
    expect(added).toEqual({ task_id: expect.stringMatching(UUID), created: true });
    const task = { id: added.task_id, title: "call mum", due_date: "2026-03-01", priority: "high", status: "pending" };
    expect(await bench.json("list_tasks", {}, me)).toEqual({ tasks: [task] });
    const changed = await bench.json("update_task", { task_id: added.task_id, due_date: null, title: "ring mum" }, me);
    const after = { ...task, title: "ring mum", due_date: null };
    expect(changed).toEqual({ task_id: added.task_id, updated: true, task: after });
    expect(await bench.json("complete_task", { task_id: String(added.task_id).toUpperCase() }, me)).toMatchObject({
      completed: true,
    });
    expect(await bench.json("list_tasks", { status: "pending" }, me)).toEqual({ tasks: [] });
    expect(await bench.json("list_tasks", { status: "completed", limit: 1 }, me)).toMatchObject({
      tasks: [{ title: "ring mum", status: "completed" }],
    });
  });

  test("of another person cannot be listed, completed or changed, also by id", async () => {
    const { task_id } = await bench.json("add_task", { title: "mine" }, as("owner"));
    expect(await bench.json("list_tasks", {}, as("thief"))).toEqual({ tasks: [] });
    for (const [tool, params] of [
      ["complete_task", { task_id }],
      ["update_task", { task_id, title: "stolen" }],
    ] as const)
      expect(await bench.call(tool, params, as("thief"))).toMatchObject({
        kind: "failed",
        message: "This person has no task with that id. list_tasks tells the ids.",
      });
    expect(await bench.json("list_tasks", {}, as("owner"))).toMatchObject({ tasks: [{ title: "mine" }] });
  });

  test("matter as much as most, unless something else is said", async () => {
    await bench.json("add_task", { title: "water the plants" }, as("usual"));
    expect(await bench.json("list_tasks", {}, as("usual"))).toMatchObject({ tasks: [{ priority: "medium" }] });
  });

  test("are due in the time of the person whose they are", async () => {
    const asked: unknown[] = [];
    const people = {
      read(text: string, who: Principal) {
        asked.push([text, who]);
        return { kind: "day", date: "2026-03-01" } as const;
      },
    };
    const tool = addTask({ ...bench, tasks: bench.store.tasks, people: people as never });
    const context = { ...BENCH_CONTEXT, ...as("berlin") };
    await tool.execute(
      "c1",
      { title: "t", due_date: "tomorrow" },
      new AbortController().signal,
      () => undefined,
      context,
    );
    expect(asked).toEqual([["tomorrow", "telegram:user:berlin"]]);
  });

  test("are listed ten at a time unless more are asked for", async () => {
    const me = as("many");
    for (let n = 0; n < 12; n++) await bench.json("add_task", { title: `task ${n}` }, me);
    const count = async (params: object) => ((await bench.json("list_tasks", params, me)).tasks as unknown[]).length;
    expect([await count({}), await count({ limit: 100 })]).toEqual([10, 12]);
  });

  test.each([
    ["2026-03-01", true],
    ["2026-03-01T09:30", true],
    ["2026-03-01 09:30:00", true],
    ["2026-03-01T09:30:00.5+02:00", true],
    ["2024-02-29", true],
    ["2026-02-30", false],
    ["2026-13-01", false],
    ["2026-03-01T25:00", false],
    ["1.3.2026", false],
    ["2026-03-01T09:30Z; drop table", false],
    ["tomorrow", true],
    ["friday 17:00", true],
    ["in half an hour", true],
    ["at 9", false],
    ["03/04", false],
  ])("a due date of %j is taken: %p", async (due_date, taken) => {
    expect((await bench.call("add_task", { title: "t", due_date }, as("dates"))).kind).toBe(taken ? "ok" : "failed");
  });

  test.each([
    ["add_task", {}],
    ["add_task", { title: "x".repeat(501) }],
    ["add_task", { title: "x", priority: "urgent" }],
    ["add_task", { title: "x", due_date: true }],
    ["list_tasks", { status: "done" }],
    ["list_tasks", { limit: 101 }],
    ["complete_task", {}],
    ["update_task", { title: "x" }],
  ])("%s refuses %j", async (tool, params) => {
    expect(await bench.call(tool, params)).toMatchObject({ kind: "refused", code: "invalid_params" });
  });

  test("an update of nothing, an empty title and an id that is none are answered with a sentence", async () => {
    expect(await bench.call("update_task", { task_id: "x" })).toMatchObject({
      message: expect.stringContaining("at least one"),
    });
    expect(await bench.call("add_task", { title: " \n " })).toMatchObject({
      message: expect.stringContaining("empty"),
    });
    expect(await bench.call("complete_task", { task_id: "1 or 1=1" })).toMatchObject({
      message: expect.stringContaining("no task with that id"),
    });
  });
});

test("a due date that is empty is none, and one that looks like a day of the calendar and is none is not guessed at", async () => {
  const kept: (string | null)[] = [];
  const read = () => ({ kind: "day", date: "2030-01-01" }) as const; // would read anything
  const add = async (task: { readonly dueDate: string | null }) => (kept.push(task.dueDate), { kind: "kept", id: "1" });
  const deps = { clock: createFakeClock(), ids: createSeqIds(), tasks: { add }, people: { read } };
  const tool = addTask(deps as unknown as Parameters<typeof addTask>[0]);
  const call = (due_date: string | null) =>
    tool.execute("c1", { title: "t", due_date }, new AbortController().signal, () => undefined, BENCH_CONTEXT);
  for (const none of [null, "", "  \n"]) await call(none);
  await call("some day");
  expect(kept).toEqual([null, null, null, "2030-01-01"]);
  for (const wrong of ["2026-02-30", " 2026-13-01", "2026-1-1", "2026-02-30 next week"])
    await expect(call(wrong)).rejects.toThrow("due_date is not clear");
});
