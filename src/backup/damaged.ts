/** The error of a backup that is not whole. */
import { GatewayError } from "../contracts/errors.ts";

/** `because` fits after "The backup cannot be used:". */
export function backupDamaged(because: string): GatewayError {
  return new GatewayError("backup_damaged", because, { say: `The backup cannot be used: ${because}.` });
}
