/** A look at the whole outbox, page by page, while newer parts are known already. */
import { expect, test } from "bun:test";
import type { PendingPart } from "../contracts/delivery.ts";
import { createPartReading } from "./part-reading.ts";

const PAGE_ROWS = 200;
const partAt = (seq: number) => ({ id: `part-${seq}`, seq }) as PendingPart; // nothing else of it is read

test("a second look at the outbox goes on where its first page ended, and the next one begins behind the newest part", async () => {
  const reading = createPartReading();
  reading.found(900);
  const after: number[] = [];
  const older = Array.from({ length: PAGE_ROWS + 5 }, (_, at) => partAt(at + 1));
  const page = () =>
    reading.page(
      async (limit, from) => {
        after.push(from);
        return { value: older.filter(({ seq }) => seq > from).slice(0, limit) };
      },
      () => false,
    );
  reading.beginAgain();
  const found = [await page(), await page(), await page()].map((one) => [one?.parts.length, one?.isLast]);
  expect(found).toEqual([
    [PAGE_ROWS, false],
    [5, true],
    [0, true],
  ]);
  expect(after).toEqual([0, PAGE_ROWS, 900]);
});

test("a part that was found in another way moves the beginning of the next look forward, and never back", async () => {
  const reading = createPartReading();
  reading.found(7);
  reading.found(3);
  const after: number[] = [];
  await reading.page(
    async (_limit, from) => (after.push(from), { value: [] }),
    () => false,
  );
  expect([reading.newest(), after]).toEqual([7, [7]]);
});

test.each([
  ["has a number that was used before", [8, 7], 0, true],
  ["is newer than all that are known", [8, 9], 0, false],
  ["nobody knows of, while few parts wait", null, PAGE_ROWS - 1, true],
  ["nobody knows of, while many parts wait", null, PAGE_ROWS, false],
])("a part that %s lets the next look begin with the first part, or not", async (_how, numbers, waiting, again) => {
  const reading = createPartReading();
  reading.found(7);
  reading.stored(numbers, waiting);
  const after: number[] = [];
  await reading.page(
    async (_limit, from) => (after.push(from), { value: [] }),
    () => false,
  );
  expect(after).toEqual([again ? 0 : 7]);
});

test("a look that was given up finds nothing, and the next one begins where it did", async () => {
  const reading = createPartReading();
  reading.beginAgain();
  const after: number[] = [];
  const look = (answer: { value: PendingPart[] } | null) =>
    reading.page(
      async (_limit, from) => (after.push(from), answer),
      () => false,
    );
  expect(await look(null)).toBeNull();
  expect(await look({ value: [partAt(1)] })).toMatchObject({ isLast: true, parts: [{ seq: 1 }] });
  expect(after).toEqual([0, 0]);
});

test("a look that is asked for in the middle of another begins with the first part, and a page of known parts is not the last", async () => {
  const reading = createPartReading();
  reading.found(900);
  const parts = Array.from({ length: PAGE_ROWS + 5 }, (_, at) => partAt(at + 1));
  const after: number[] = [];
  const look = (isKnown: (id: string) => boolean) =>
    reading.page(async (limit, from) => {
      after.push(from);
      return { value: parts.filter(({ seq }) => seq > from).slice(0, limit) };
    }, isKnown);
  reading.beginAgain();
  expect(await look(() => true)).toEqual({ parts: [], isLast: false });
  reading.beginAgain();
  expect(await look((id) => id !== "part-1")).toEqual({ parts: [partAt(1)], isLast: false });
  expect(await look(() => true)).toEqual({ parts: [], isLast: true });
  expect(after).toEqual([0, 0, PAGE_ROWS]);
});

test("a part that left the outbox since a second look began is not found by it, and one that left before may be", async () => {
  const reading = createPartReading();
  const look = (meanwhile = () => {}) =>
    reading.page(
      async () => (meanwhile(), { value: [partAt(1), partAt(2)] }),
      () => false,
    );
  reading.gone("part-1");
  reading.beginAgain();
  expect((await look(() => reading.gone("part-2")))?.parts).toEqual([partAt(1)]);
});
