/** Failures that nobody handled while a test ran: each of them would be told to the whole process. */

export async function unhandledIn(run: () => Promise<unknown>): Promise<readonly unknown[]> {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  try {
    await run();
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", note);
  }
  return unhandled;
}
