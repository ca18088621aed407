/** What a scenario reports: one line per figure, with its budget if it has one. */
export interface Line {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly budget?: Budget;
}

export interface Budget {
  readonly limit: number;
  readonly sense: "at most" | "at least";
}

export interface Scenario {
  /** For `--only`. */
  readonly name: string;
  /** `scale` 1 is the whole of it; less is for a first look. */
  measure(scale: number): Promise<readonly Line[]>;
}

export const atMost = (limit: number): { readonly budget: Budget } => ({ budget: { limit, sense: "at most" } });
export const atLeast = (limit: number): { readonly budget: Budget } => ({ budget: { limit, sense: "at least" } });

export function withinBudget({ value, budget }: Line): boolean {
  if (!budget) return true;
  return budget.sense === "at most" ? value <= budget.limit : value >= budget.limit;
}

export function render(table: readonly Line[]): string {
  const width = Math.max(...table.map(({ what }) => what.length));
  return table
    .map((line) => {
      const budget = line.budget ? `${line.budget.sense} ${line.budget.limit} ${line.unit}` : "";
      const verdict = line.budget ? (withinBudget(line) ? "met" : "MISSED") : "";
      return `${line.what.padEnd(width)}  ${`${line.value} ${line.unit}`.padStart(14)}  ${budget.padEnd(18)} ${verdict}`.trimEnd();
    })
    .join("\n");
}
