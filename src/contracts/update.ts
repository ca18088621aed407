/** Updates as an operator sees them: which version runs, whether a newer one is known, and how an update goes on. Types only. */

export interface KnownVersion {
  readonly version: string;
  /** Newer than the one that runs. */
  readonly isNewer: boolean;
  /** When the registry was asked. */
  readonly at: number;
}

/** How the last update ended. */
export interface UpdateOutcome {
  readonly from: string;
  readonly to: string;
  readonly at: number;
  readonly kind: "updated" | "returned";
  /** Why the new version did not serve; null: it ended without a word. */
  readonly why: string | null;
}

export interface UpdateReport {
  /** The one that runs. */
  readonly version: string;
  /** Why this installation is updated in another way, as a sentence; null: it can be updated from here. */
  readonly because: string | null;
  /** Null: nobody has asked since the start. The gateway never asks by itself. */
  readonly newest: KnownVersion | null;
  readonly isRunning: boolean;
  /** What `pi-gw update` has said so far, or said the last time. */
  readonly steps: readonly string[];
  /** The last update of this process failed before it switched, and nothing was changed. */
  readonly hasFailed: boolean;
  readonly last: UpdateOutcome | null;
}

export interface Updater {
  report(): UpdateReport;
  /** Asks the registry, as `pi-gw update --check` does. Throws `update_failed`. */
  look(signal: AbortSignal): Promise<KnownVersion>;
  /** Runs `pi-gw update` in a process of its own, which outlives this one. Throws `conflict`, `bad_request`. */
  start(): void;
}
