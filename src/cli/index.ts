/**
 * The command `pi-gw`: starts a gateway, talks to a running one, and looks after its files.
 * A running gateway is found through the state directory. Commands are loaded when they are called, so that
 * small ones stay fast. Nothing here prints a token, and text from elsewhere is made safe for terminals.
 */
export { exitCodeFor } from "./exit-code.ts";
export { runCli } from "./run.ts";
export type { DoctorProbes, ProbeResult } from "./doctor/probes.ts";
export type { AgentRun, CliWorld, StartOptions } from "./world.ts";
