/** Notes and tasks of linked ids, on a real store. */
import { expect, test } from "bun:test";
import type { Principal, TurnId } from "../../../contracts/ids.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { realStore } from "../../../testing/real-store.ts";
import { notesOfPeople, tasksOfPeople } from "./linked-people.ts";

const TELEGRAM = "telegram:user:1" as Principal;
const DISCORD = "discord:user:2" as Principal;
const STRANGER = "telegram:user:3" as Principal;
const idsOf = (who: Principal) => (who === STRANGER ? [who] : [TELEGRAM, DISCORD]);
const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const asked = (n: number) => ({ turnId: `t${n}` as TurnId, callId: `c${n}` });

test("a note that was saved under one id of a person is found under the others, and under nobody else's", async () => {
  await using real = await realStore(createFakeClock());
  const notes = notesOfPeople(real.store.notes, idsOf);
  const note = (n: number, owner: Principal, content: string) =>
    notes.save({ id: uuid(n), owner, title: `note ${n}`, content, tags: [], askedBy: asked(n), at: n });
  await note(1, TELEGRAM, "the key is under the mat");
  await note(2, DISCORD, "the spare key is with Bob");
  for (const who of [TELEGRAM, DISCORD])
    expect((await notes.search(who, "key", 5)).map(({ id }) => id).toSorted()).toEqual([uuid(1), uuid(2)]);
  expect(await notes.search(DISCORD, "key", 1)).toHaveLength(1);
  expect(await notes.search(STRANGER, "key", 5)).toEqual([]);
  expect((await notes.list(TELEGRAM, 5)).map(({ id }) => id)).toEqual([uuid(2), uuid(1)]); // the newest first
  expect((await notes.list(DISCORD, 1)).map(({ id }) => id)).toEqual([uuid(2)]);
  expect(await notes.list(STRANGER, 5)).toEqual([]);
  for (const who of [TELEGRAM, DISCORD]) expect((await notes.get(who, uuid(1)))?.id).toBe(uuid(1));
  expect(await notes.get(STRANGER, uuid(1))).toBeNull();
});

test("a task that was added under one id of a person is listed, in order, and completed under another", async () => {
  await using real = await realStore(createFakeClock());
  const tasks = tasksOfPeople(real.store.tasks, idsOf);
  const task = (n: number, owner: Principal, dueDate: string | null) =>
    tasks.add({ id: uuid(n), owner, title: `task ${n}`, dueDate, priority: "low", askedBy: asked(n), at: n });
  await task(1, TELEGRAM, null);
  await task(2, DISCORD, "2026-03-01");
  await task(3, TELEGRAM, "2026-02-01");
  const listed = async (who: Principal) => (await tasks.list(who, "all", 9)).map(({ id }) => id);
  expect(await listed(DISCORD)).toEqual([uuid(3), uuid(2), uuid(1)]);
  expect(await tasks.change(DISCORD, uuid(3), { status: "completed" }, 10)).toMatchObject({ status: "completed" });
  expect(await listed(TELEGRAM)).toEqual([uuid(2), uuid(1), uuid(3)]);
  expect((await tasks.list(TELEGRAM, "all", 2)).map(({ id }) => id)).toEqual([uuid(2), uuid(1)]);
  expect([await listed(STRANGER), await tasks.change(STRANGER, uuid(1), { title: "mine" }, 11)]).toEqual([[], null]);
});

test("tasks of two ids stand as those of one: due alike by their age, completed ones with the latest first", async () => {
  await using real = await realStore(createFakeClock());
  const tasks = tasksOfPeople(real.store.tasks, idsOf);
  const owners = [DISCORD, TELEGRAM, TELEGRAM, DISCORD];
  for (const [n, owner] of owners.entries())
    await tasks.add({
      id: uuid(n),
      owner,
      title: `task ${n}`,
      dueDate: "2026-03-01",
      priority: "low",
      askedBy: asked(n),
      at: n,
    });
  const listed = async () => (await tasks.list(TELEGRAM, "all", 9)).map(({ id }) => id);
  expect(await listed()).toEqual([0, 1, 2, 3].map(uuid));
  for (const [at, n] of [0, 2, 3].entries()) await tasks.change(TELEGRAM, uuid(n), { status: "completed" }, 10 + at);
  expect(await listed()).toEqual([1, 3, 2, 0].map(uuid));
});
