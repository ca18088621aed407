/**
 * Errors that nobody caught: when the stack leads into a plugin, the plugin is to blame and not the gateway. Anything else ends the process as
 * it would have without this.
 */

/** `blame` says whether somebody took it. */
export function watchStrayErrors(blame: (error: unknown) => boolean): Disposable {
  const take = (error: unknown): void => {
    if (blame(error)) return;
    listening[Symbol.dispose]();
    queueMicrotask(() => {
      throw error; // with nobody listening any more, this is the end it would have had
    });
  };
  const listening = {
    [Symbol.dispose]() {
      process.off("uncaughtException", take);
      process.off("unhandledRejection", take);
    },
  };
  process.on("uncaughtException", take);
  process.on("unhandledRejection", take);
  return listening;
}

/** The id of the plugin whose staged files the stack names first; null when it names none. */
export function pluginInStack(error: unknown, stages: string): string | null {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const at = stack.indexOf(`${stages}/`);
  if (at < 0) return null;
  return /^[a-z0-9-]+/.exec(stack.slice(at + stages.length + 1))?.[0] ?? null;
}
