/** Work that goes on outside of this process, such as a statement that a Postgres server has: a clock that a test moves waits until there is none. */
import { systemClock } from "../kit/clock.ts";
import { deferred } from "../kit/deferred.ts";

/** A call that waits for the clock itself would wait for ever. */
const LONGEST_WAIT_MS = 5_000;

const open = new Set<Promise<unknown>>();

/** Resolves when nothing is under way, at once when nothing was. */
export async function outsideWorkEnded(): Promise<boolean> {
  if (open.size === 0) return false;
  const until = systemClock.elapsed() + LONGEST_WAIT_MS;
  const gaveUp = deferred<void>();
  const timer = setTimeout(gaveUp.resolve, LONGEST_WAIT_MS);
  while (open.size > 0 && systemClock.elapsed() < until) await Promise.race([Promise.allSettled(open), gaveUp.promise]);
  clearTimeout(timer);
  return true;
}

/**
 * The same object with other functions: their promises, and those of the objects in it, count as work until they are settled. It is no proxy, so
 * that a test can put a function of its own in the place of one.
 */
export function counted<T extends object>(target: T): T {
  const copy: object = Object.create(Object.getPrototypeOf(target));
  for (const name of Reflect.ownKeys(target)) {
    const property = Object.getOwnPropertyDescriptor(target, name);
    if (!property) continue;
    const { value } = property;
    Object.defineProperty(
      copy,
      name,
      "value" in property ? { ...property, value: countedValue(value, target) } : property,
    );
  }
  return copy as T;
}

function countedValue(value: unknown, owner: object): unknown {
  if (typeof value === "function")
    return (...args: unknown[]): unknown => {
      const result: unknown = Reflect.apply(value, owner, args);
      return result instanceof Promise ? count(result) : result;
    };
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? counted(value as object) : value;
}

function count<T>(work: Promise<T>): Promise<T> {
  open.add(work);
  const forget = (): void => void open.delete(work);
  work.then(forget, forget);
  return work;
}
