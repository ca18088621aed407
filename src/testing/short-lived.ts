/**
 * How Bun runs in gateways and agents that tests start by the hundred: without the compilers that make code faster that runs for long, because these
 * processes end before it is worth it. The code is the same, and so is what it does. Where nothing was compiled for tests, Bun runs as for users.
 */
export const SHORT_LIVED: Readonly<Record<string, string>> = { BUN_JSC_useDFGJIT: "0" };

/** For agents of a test's own process. `pi`: the one that was compiled for tests, if it was. */
export function bunEnvFor(pi: string | undefined): Readonly<Record<string, string>> {
  return pi ? SHORT_LIVED : {};
}
