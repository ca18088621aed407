/**
 * Errors that nobody caught: when the stack leads into a plugin, the plugin is to blame and not the gateway. What nobody takes ends the process
 * as it would have without this.
 */

/** A promise that failed with nobody to handle it, or an error that nobody caught. */
export type StrayKind = "rejection" | "exception";

/** `blame` says whether somebody took it. */
export function watchStrayErrors(blame: (error: unknown, how: StrayKind) => boolean): Disposable {
  const take = (error: unknown, how: StrayKind): void => {
    if (blame(error, how)) return;
    listening[Symbol.dispose]();
    queueMicrotask(() => {
      throw error; // with nobody listening any more, this is the end it would have had
    });
  };
  const thrown = (error: unknown): void => take(error, "exception");
  const rejected = (error: unknown): void => take(error, "rejection");
  const listening = {
    [Symbol.dispose]() {
      process.off("uncaughtException", thrown);
      process.off("unhandledRejection", rejected);
    },
  };
  process.on("uncaughtException", thrown);
  process.on("unhandledRejection", rejected);
  return listening;
}

/** The id of the plugin whose staged files the stack names first; null when it names none. */
export function pluginInStack(error: unknown, copies: string): string | null {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const at = stack.indexOf(`${copies}/`);
  if (at < 0) return null;
  return /^[a-z0-9-]+/.exec(stack.slice(at + copies.length + 1))?.[0] ?? null;
}
