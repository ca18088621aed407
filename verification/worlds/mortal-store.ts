/** A process that may die with any call of its store: before the work of the call is done, or after and before it hears of it. */
export interface Mortality {
  alive(): boolean;
  die(): void;
  /** Whether the process dies with this call. */
  fate(): "before" | "after" | null;
}

/** A dead process learns nothing: its calls stay open for ever. */
export function deadly<S extends object>(store: S, { alive, die, fate }: Mortality): S {
  const never = () => new Promise<never>(() => undefined);
  return new Proxy(store, {
    get(target, name) {
      const call = target[name as keyof S] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        if (!alive()) return never();
        const end = fate();
        if (end === "before") die();
        if (!alive()) return never();
        try {
          const answer = await call(...args);
          if (end === "after") die();
          return alive() ? answer : await never();
        } catch (error) {
          if (!alive()) return never();
          throw error;
        }
      };
    },
  });
}
