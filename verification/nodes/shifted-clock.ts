/**
 * Runs before a gateway, in its process: its clock is as far off as a file says, which the test changes while it runs. The file is shared
 * memory: a number of milliseconds, and a count of how often a clock that is off was read.
 */
const path = process.env["NODES_CLOCK_FILE"] ?? "";
const shared = new Float64Array(Bun.mmap(path, { shared: true }).buffer);
const RealDate = Date;
const realNow = Date.now.bind(Date);

function now(): number {
  const offMs = shared[0] ?? 0;
  if (offMs !== 0) shared[1] = (shared[1] ?? 0) + 1;
  return realNow() + offMs;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values: [], newTarget) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
});
RealDate.now = now;

export {};
