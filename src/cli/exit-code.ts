/** Exit codes: 0 done, 1 failed, 74 the disk or the database failed, 75 try again later, 78 the configuration is wrong. Service managers read them. */
import { type ErrorCode, isGatewayError } from "../contracts/errors.ts";

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
const EXIT_STORE_FAILED = 74;
const EXIT_TRY_AGAIN = 75;
export const EXIT_CONFIG = 78;

const SPECIAL: Partial<Record<ErrorCode, number>> = {
  port_taken: EXIT_TRY_AGAIN,
  home_taken: EXIT_TRY_AGAIN,
  store_taken: EXIT_TRY_AGAIN,
  superseded: EXIT_TRY_AGAIN,
  update_failed: EXIT_TRY_AGAIN,
  update_restart: EXIT_TRY_AGAIN,
  store_failed: EXIT_STORE_FAILED,
  config_invalid: EXIT_CONFIG,
};

export function exitCodeFor(error: unknown): number {
  return isGatewayError(error) ? (SPECIAL[error.code] ?? EXIT_FAILED) : EXIT_FAILED;
}
