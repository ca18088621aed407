/** Work that is put off: it runs once after a pause, however often it was asked for in between. */
const timers = new Map<string, ReturnType<typeof setTimeout>>();

export function soon(name: string, ms: number, run: () => void): void {
  clearTimeout(timers.get(name));
  timers.set(name, setTimeout(run, ms));
}
