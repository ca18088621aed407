/** How far the outbox has been read: from its newest part on, or once more from the first one on when older parts came. No part is found twice. */
import type { PendingPart } from "../contracts/delivery.ts";

const PAGE_ROWS = 200;

interface Reading {
  after: number;
  /** Parts that left the outbox since this reading began: they may still be among what it reads. */
  readonly gone: Set<string>;
}

interface PartReading {
  /** The number of the newest part that was found. */
  newest(): number;
  /** A part was found in another way. */
  found(seq: number): void;
  /** The next reading begins with the first part. */
  beginAgain(): void;
  /** Parts were stored, with these numbers; null: nobody said which. `waiting`: how many parts are known. */
  stored(numbers: readonly number[] | null, waiting: number): void;
  /** A part has ended, or is another gateway's. */
  gone(id: string): void;
  /** `read` takes as many parts as fit on a page and the number after which they begin; null: it gave up. */
  page(read: PageReader, isKnown: (id: string) => boolean): Promise<Page | null>;
}

type PageReader = (limit: number, after: number) => Promise<{ readonly value: readonly PendingPart[] } | null>;

interface Page {
  readonly parts: readonly PendingPart[];
  readonly isLast: boolean;
}

export function createPartReading(): PartReading {
  let newest = 0;
  let again: Reading | null = null;
  let wanted = false;
  return {
    newest: () => newest,
    found(seq) {
      newest = Math.max(newest, seq);
    },
    beginAgain() {
      wanted = true;
    },
    stored(numbers, waiting) {
      // SQLite uses the numbers of the newest parts again when their conversation was deleted; looking costs little while few parts wait
      if (numbers?.some((seq) => seq <= newest) ?? waiting < PAGE_ROWS) wanted = true;
    },
    gone(id) {
      again?.gone.add(id);
    },
    async page(read, isKnown) {
      if (wanted) again = { after: 0, gone: new Set() };
      wanted = false;
      const reading = again ?? { after: newest, gone: new Set() };
      const rows = (await read(PAGE_ROWS, reading.after))?.value;
      if (!rows) return null;
      reading.after = rows.at(-1)?.seq ?? reading.after;
      newest = Math.max(newest, reading.after);
      const parts = rows.filter(({ id }) => !isKnown(id) && !reading.gone.has(id));
      const isLast = rows.length < PAGE_ROWS;
      if (isLast) again = null;
      return { parts, isLast };
    },
  };
}
