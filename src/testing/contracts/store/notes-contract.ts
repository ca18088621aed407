/** What every store promises about notes and tasks. Each promise is a test; a store passes them all or is not one. */
import { describe, expect, test } from "bun:test";
import type { Principal, TurnId } from "../../../contracts/ids.ts";
import type { NewNote } from "../../../contracts/store/notes.ts";
import type { NewTask } from "../../../contracts/store/tasks.ts";
import { OPERATOR, row, type StoreWorld, turn } from "./store-world.ts";

const OTHER = "telegram:user:7" as Principal;
/** Everything the search engine below could take for syntax, and what breaks naive quoting of it. */
const HOSTILE = [
  '"',
  '"" OR ""',
  "milk AND",
  "milk OR OR",
  "NOT milk",
  "NEAR(milk, 2)",
  "title : milk",
  "owner_key : *",
  "{title content} : milk",
  "^milk",
  "milk*",
  "-milk +bread",
  "(milk",
  "milk)",
  "mi\0lk",
  "'; drop table notes; --",
  "\ud800",
  "%_%",
  "*",
  "\\",
];

let counter = 0;

export function note(more: Partial<NewNote> = {}): NewNote {
  const id = `00000000-0000-4000-8000-${String(++counter).padStart(12, "0")}`;
  const askedBy = { turnId: "t" as TurnId, callId: `c${counter}` };
  return { id, owner: OPERATOR, title: "Shopping", content: "Buy milk and bread", tags: [], askedBy, at: 5, ...more };
}

function task(title: string, more: Partial<NewTask> = {}): NewTask {
  const { id, owner, askedBy, at } = note();
  return { id, owner, askedBy, at, title, dueDate: null, priority: "medium", ...more };
}

export function notesContract(name: string, open: () => Promise<StoreWorld>): void {
  describe(name, () => {
    notePromises(open);
    taskPromises(open);
  });
}

function notePromises(open: () => Promise<StoreWorld>): void {
  test("a note is found by its words, in any case, by their beginnings and without their endings, after a restart too", async () => {
    await using world = await open();
    const saved = note({ title: "Wi-Fi", content: "The password of the café is hunter2.", tags: ["home", "network"] });
    expect(await world.store.notes.save(saved)).toEqual({ kind: "kept", id: saved.id });
    const { notes } = await world.reopen();
    const hit = {
      id: saved.id,
      title: "Wi-Fi",
      snippet: "The password of the café is hunter2.",
      tags: ["home", "network"],
      createdAt: 5,
    };
    for (const words of ["PASSWORD", "passwords", "hunt", "cafe", "network", "wi-fi", "what is the password?"])
      expect([words, await notes.search(OPERATOR, words, 5)]).toEqual([words, [hit]]);
    expect(await notes.search(OPERATOR, "umbrella", 5)).toEqual([]);
  });

  test("notes come back best first: a title counts more than a word in passing", async () => {
    await using world = await open();
    const { notes } = world.store;
    await notes.save(note({ title: "Diary", content: "Went out. Saw a heron. Then the bicycle had a flat tyre." }));
    await notes.save(note({ title: "Bicycle", content: "Frame number 4711." }));
    await notes.save(note({ title: "Garden", content: "Tomatoes." }));
    const found = await notes.search(OPERATOR, "bicycle", 5);
    expect(found.map(({ title }) => title)).toEqual(["Bicycle", "Diary"]);
    expect((await notes.search(OPERATOR, "bicycle", 1)).map(({ title }) => title)).toEqual(["Bicycle"]);
  });

  test("a long note is shown at the place that fits", async () => {
    await using world = await open();
    const content = `${"word ".repeat(400)}the secret garden ${"more ".repeat(400)}`;
    await world.store.notes.save(note({ content }));
    const [hit] = await world.store.notes.search(OPERATOR, "garden", 5);
    expect(hit?.snippet).toContain("the secret garden");
    expect([hit?.snippet.startsWith("…"), hit?.snippet.endsWith("…"), (hit?.snippet.length ?? 0) < 300]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("text without words in it is found by any part of it", async () => {
    await using world = await open();
    await world.store.notes.save(note({ title: "东京旅行", content: "明天去东京看樱花, C++ 100%" }));
    for (const words of ["樱花", "去东京", "C++", "100%"])
      expect([words, (await world.store.notes.search(OPERATOR, words, 5)).length]).toEqual([words, 1]);
    expect(await world.store.notes.search(OPERATOR, "   ", 5)).toEqual([]);
  });

  test.each(HOSTILE)("the search text %j is plain text", async (words) => {
    await using world = await open();
    await world.store.notes.save(note());
    await world.store.notes.save(note({ owner: OTHER, content: "Buy milk, secretly" }));
    const found = await world.store.notes.search(OPERATOR, words, 5);
    expect(found.every(({ snippet }) => snippet === "Buy milk and bread")).toBe(true);
    expect((await world.store.notes.search(OPERATOR, "milk", 5)).length).toBe(1);
  });

  test("notes are listed newest first and read whole, by their owner alone", async () => {
    await using world = await open();
    const { notes } = world.store;
    const [first, second] = [note({ title: "first", at: 1 }), note({ title: "second", content: "all of it", at: 2 })];
    for (const one of [first, second, note({ owner: OTHER, title: "theirs" })]) await notes.save(one);
    expect((await notes.list(OPERATOR, 5)).map(({ title }) => title)).toEqual(["second", "first"]);
    expect(await notes.list(OPERATOR, 1)).toEqual([{ id: second.id, title: "second", createdAt: 2 }]);
    const { id, title, content, tags } = second;
    expect(await notes.get(OPERATOR, id)).toEqual({ id, title, content, tags, createdAt: 2 });
    expect([await notes.get(OTHER, id), await notes.get(OPERATOR, "none")]).toEqual([null, null]);
  });

  test("nobody finds what another person saved, whatever is searched for", async () => {
    await using world = await open();
    const { notes } = world.store;
    await notes.save(note({ content: "mine: apple" }));
    await notes.save(note({ owner: OTHER, content: "theirs: apple" }));
    expect((await notes.search(OPERATOR, "apple", 50)).map(({ snippet }) => snippet)).toEqual(["mine: apple"]);
    expect((await notes.search(OTHER, "apple", 50)).map(({ snippet }) => snippet)).toEqual(["theirs: apple"]);
    expect((await notes.search(OPERATOR, "pple", 50)).map(({ snippet }) => snippet)).toEqual(["mine: apple"]);
    expect(await notes.search("stranger" as Principal, "apple", 50)).toEqual([]);
  });

  test("a turn that runs again after a crash keeps one note; a second call outside of a turn keeps another", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a"));
    await world.store.turns.begin(turn("t1", "a", ["in1"]));
    const inTurn = (callId: string) => note({ askedBy: { turnId: "t1" as TurnId, callId } });
    const first = inTurn("call-1");
    expect(await world.store.notes.save(first)).toEqual({ kind: "kept", id: first.id });
    expect(await world.store.notes.save(inTurn("call-2"))).toEqual({ kind: "kept", id: first.id });
    const outside = (callId: string) => note({ askedBy: { turnId: "none" as TurnId, callId } });
    await world.store.notes.save(outside("call-1"));
    await world.store.notes.save(outside("call-1"));
    await world.store.notes.save(outside("call-2"));
    expect((await world.store.notes.search(OPERATOR, "milk", 50)).length).toBe(3);
  });
}

function taskPromises(open: () => Promise<StoreWorld>): void {
  test("tasks are listed by the date they are due, and completed ones after them, latest first", async () => {
    await using world = await open();
    const { tasks } = world.store;
    const someday = task("someday");
    const later = task("later", { dueDate: "2026-03-02T08:00:00+01:00" });
    const soon = task("soon", { dueDate: "2026-03-01", priority: "high" });
    const [done, doneLast] = [task("done"), task("done last")];
    for (const one of [someday, later, soon, done, doneLast]) await tasks.add(one);
    await tasks.change(OPERATOR, done.id, { status: "completed" }, 50);
    await tasks.change(OPERATOR, doneLast.id, { status: "completed" }, 60);
    const again = (await world.reopen()).tasks;
    const titles = async (status: "all" | "pending" | "completed", limit = 10) =>
      (await again.list(OPERATOR, status, limit)).map(({ title }) => title);
    expect(await titles("all")).toEqual(["soon", "later", "someday", "done last", "done"]);
    expect(await titles("pending")).toEqual(["soon", "later", "someday"]);
    expect(await titles("completed")).toEqual(["done last", "done"]);
    expect(await titles("all", 4)).toEqual(["soon", "later", "someday", "done last"]);
    expect((await again.list(OPERATOR, "pending", 1))[0]).toEqual({
      id: soon.id,
      title: "soon",
      dueDate: "2026-03-01",
      priority: "high",
      status: "pending",
      createdAt: 5,
      completedAt: null,
    });
  });

  test("a change touches what it names and nothing else", async () => {
    await using world = await open();
    const { tasks } = world.store;
    const one = task("call the plumber", { dueDate: "2026-03-01", priority: "low" });
    await tasks.add(one);
    expect(await tasks.change(OPERATOR, one.id, { priority: "high" }, 9)).toMatchObject({
      title: "call the plumber",
      dueDate: "2026-03-01",
      priority: "high",
    });
    expect(await tasks.change(OPERATOR, one.id, { dueDate: null, title: "call" }, 9)).toMatchObject({
      title: "call",
      dueDate: null,
      status: "pending",
    });
    expect(await tasks.change(OPERATOR, one.id, { status: "completed" }, 10)).toMatchObject({ completedAt: 10 });
    expect(await tasks.change(OPERATOR, one.id, { status: "completed" }, 11)).toMatchObject({ completedAt: 10 });
    expect(await tasks.change(OPERATOR, one.id, { status: "pending" }, 12)).toMatchObject({ completedAt: null });
  });

  test("nobody sees, completes or changes the task of another person, also by its id", async () => {
    await using world = await open();
    const { tasks } = world.store;
    const mine = task("mine");
    await tasks.add(mine);
    await tasks.add(task("theirs", { owner: OTHER }));
    expect((await tasks.list(OTHER, "all", 50)).map(({ title }) => title)).toEqual(["theirs"]);
    expect(await tasks.change(OTHER, mine.id, { status: "completed", title: "stolen" }, 9)).toBeNull();
    expect(await tasks.change(OPERATOR, "no-such-id", { status: "completed" }, 9)).toBeNull();
    expect(await tasks.list(OPERATOR, "all", 50)).toMatchObject([{ title: "mine", status: "pending" }]);
  });

  test("a turn that runs again after a crash adds its task once", async () => {
    await using world = await open();
    await world.store.inbox.accept(row("in1", "a"));
    await world.store.turns.begin(turn("t1", "a", ["in1"]));
    const inTurn = (title: string, callId: string) => task(title, { askedBy: { turnId: "t1" as TurnId, callId } });
    const first = inTurn("milk", "call-1");
    expect(await world.store.tasks.add(first)).toEqual({ kind: "kept", id: first.id });
    expect(await world.store.tasks.add(inTurn("milk", "call-2"))).toEqual({ kind: "kept", id: first.id });
    await world.store.tasks.add(inTurn("bread", "call-3"));
    expect((await world.store.tasks.list(OPERATOR, "all", 50)).map(({ title }) => title)).toEqual(["milk", "bread"]);
  });
}
