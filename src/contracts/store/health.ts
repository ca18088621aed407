/** Whether the database can be trusted with the next write, and what its owner should know about it. */
import type { GatewayError } from "../errors.ts";

export interface StoreHealth {
  /** Sentences for the owner; empty when all is well. */
  notices(): readonly string[];
  /** Whether a write would be acknowledged now. While writes fail for lack of space it tries one. */
  isWritable(): Promise<boolean>;
  /** True from the moment on when nothing is acknowledged any more. */
  hasFailed(): boolean;
  /** Resolves when an I/O error has ended acknowledging: the process must end, because only a new one reads what is really on the disk. */
  readonly failed: Promise<GatewayError>;
}
