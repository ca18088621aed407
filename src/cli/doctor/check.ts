/** One line of the report that `doctor` prints. */
export interface Check {
  readonly check: string;
  /** `fixed`: was not in order, and is now. `note`: works, but worth knowing. `broken`: the gateway would not work well like this. */
  readonly state: "ok" | "fixed" | "note" | "broken";
  readonly say: string;
  /** The gateway's own words in `say`: a notice that holds them is not printed again. */
  readonly about?: string;
}
