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
