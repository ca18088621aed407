/**
 * The sandbox door: the wall around agent processes. `createSandbox` finds out what this machine can build and starts programs behind it;
 * `launcher/` is a program of its own that puts itself behind the wall and becomes the agent. No way of this module runs a program half confined.
 */
export { type AgentCgroups, openCgroups } from "./cgroups.ts";
export { createSandbox } from "./sandbox.ts";
