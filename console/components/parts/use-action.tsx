/** Asking the gateway to do something: busy until it answers, and its reason when it refuses. */
import { useSignal } from "@preact/signals";

interface Action {
  readonly busy: boolean;
  /** Why the gateway refused; null: it did not. */
  readonly problem: string | null;
  /** `ask` gives null when it is done, otherwise why not. True: it is done. Does nothing while the last one is on its way. */
  run(ask: () => Promise<string | null>): Promise<boolean>;
}

export function useAction(): Action {
  const busy = useSignal(false);
  const problem = useSignal<string | null>(null);
  return {
    busy: busy.value,
    problem: problem.value,
    async run(ask) {
      if (busy.value) return false;
      busy.value = true;
      problem.value = await ask();
      busy.value = false;
      return problem.value === null;
    },
  };
}

export function Problem({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <p class="form-problem" role="alert">
      {text}
    </p>
  );
}
