/** How long a gateway counts as live without renewing, and what one that starts makes of the others. Decisions without state. */
import type { NodeState } from "../contracts/store/nodes.ts";

/** After so long without a renewal others may take over. Within 12 s of a death another gateway is to be at work, and it has to start first. */
export const NODE_LEASE_MS = 6_000;
/** Two renewals may fail in a row. */
export const RENEW_MS = 2_000;

interface KnownNode {
  readonly state: NodeState;
  readonly state_directory: string;
  readonly expires_at: number | null;
}

interface Opening {
  readonly stateDirectory: string;
  /** By the clock of the database. */
  readonly now: number;
}

/**
 * `former`: it held the state directory that this gateway holds now, so its process has ended. `expired`: it did not renew in time. A row
 * without an expiry is SQLite's: whoever opens the file is alone with it.
 */
export function judgeNode(node: KnownNode, { stateDirectory, now }: Opening): "gone" | "former" | "expired" | "live" {
  if (node.state === "gone") return "gone";
  if (node.state_directory === stateDirectory) return "former";
  return node.expires_at === null || node.expires_at <= now ? "expired" : "live";
}
