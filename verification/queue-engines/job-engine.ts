/** The contract that both queue engines are measured by: jobs of a key run one after the other, in the order in which they were sent. */

export interface Claimed {
  readonly key: string;
  readonly number: number;
  /** Whether this claim still counted: false means that somebody else has taken the job over. */
  complete(): Promise<boolean>;
  /** It can never be done. */
  fail(): Promise<void>;
}

export interface JobEngine extends AsyncDisposable {
  send(key: string, number: number): Promise<void>;
  /** Up to so many that may run now; none is no error. */
  claim(most: number): Promise<readonly Claimed[]>;
  /** Says that the jobs of this process are still being worked on. Called every `heartbeatMs`. */
  beat(): Promise<void>;
  readonly heartbeatMs: number;
}

export interface EngineOptions {
  readonly url: string;
  /** Told that there may be something to claim. */
  wake(): void;
  /** Whether jobs are claimed here, or only sent. */
  readonly isWorker: boolean;
}

export type EngineName = "own claims" | "pg-boss" | "pg-boss without FIFO";

export const ENGINE_NAMES: readonly EngineName[] = ["own claims", "pg-boss", "pg-boss without FIFO"];
