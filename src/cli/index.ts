/**
 * The command `pi-gw`: starts a gateway, talks to a running one, and looks after its files.
 * A running gateway is found through the state directory. Commands are loaded when they are called, so that
 * small ones stay fast. Nothing here prints a token, and text from elsewhere is made safe for terminals.
 */
export { runCli } from "./run.ts";
export type { CliWorld } from "./world.ts";
export { createLastingOutput, isTerminal } from "./standard-output.ts";
