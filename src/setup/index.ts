/**
 * The setup door: what `pi-gw init` and the web console share. `setupEdits` and `setupChecks` are pure; `testModel` and `testChannel` ask
 * providers and platforms, and spend nothing. Nothing here writes: the configuration does.
 */
export { setupChecks } from "./checks.ts";
export { modelChosen, setupEdits } from "./edits.ts";
export { testChannel, testModel } from "./live-tests.ts";
