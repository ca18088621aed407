/** A clock for gateways whose time on Postgres a test ends by hand: a renewal in between would make the test depend on the moment. */
import { type Clock, systemClock } from "../../kit/clock.ts";
import { RENEW_MS } from "../../store/node-expiry.ts";

const NEVER_IN_A_TEST_MS = 600_000;

export const clockWithoutRenewals: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === RENEW_MS ? NEVER_IN_A_TEST_MS : ms, signal),
};
