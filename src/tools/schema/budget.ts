/** How much work one check may be. Counted, not timed: the same call always ends the same way, on any machine. */
export interface Budget {
  /** Throws TooMuchWork when nothing is left. */
  spend(steps: number): void;
  renew(): void;
}

/** A step is about one subschema looked at, or one character scanned. All of them take some 50 ms. */
export const MAX_CHECK_STEPS = 600_000;

export class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}

export function createBudget(maxSteps: number): Budget {
  let left = maxSteps;
  return {
    spend(steps) {
      left -= steps;
      if (left < 0) throw new TooMuchWork(`more than ${maxSteps} steps`);
    },
    renew() {
      left = maxSteps;
    },
  };
}
