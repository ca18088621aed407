/**
 * Work on the database, written once for both engines. SQLite answers a query at once; Postgres answers over a connection, and somebody has
 * to wait for it. Row code is therefore a generator function that says `const row = yield* part.first({ id })`: where an answer has to be
 * waited for, the query goes out to the engine that runs the work, and the answer comes back to the same place.
 *
 * Row code is not `async`, because SQLite's transaction is open for the whole process: a pause in the middle of it would let the writes of
 * others in. Over SQLite no step ever pauses, so a batch of writes runs in one go.
 *
 * A call without `yield*` asks nothing, on either engine. The compiler notices where its result is used, `test/house-steps.ts` elsewhere.
 */
export type Steps<T> = Generator<Query, T, Answer>;

/** A query that cannot be answered at once. */
export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Of a statement that is asked often; null: it is asked once. */
  readonly name: string | null;
}

export interface Answer {
  readonly rows: readonly unknown[];
  /** How many rows it changed, or how many it found. */
  readonly count: number;
}

/** Runs work whose queries are all answered at once, as SQLite's are. */
export function runAtOnce<T>(steps: Steps<T>): T {
  const { done, value } = steps.next();
  if (done) return value;
  throw new Error(`a query was not answered at once: ${value.text}`);
}

/** Runs work whose queries have to be waited for: `ask` has the connection. The work hears of a failure at the place where it asked. */
export async function runWaiting<T>(steps: Steps<T>, ask: (query: Query) => Promise<Answer>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    const [asked] = await Promise.allSettled([ask(step.value)]);
    step = asked.status === "fulfilled" ? steps.next(asked.value) : steps.throw(asked.reason);
  }
  return step.value;
}
