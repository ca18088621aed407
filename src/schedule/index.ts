/**
 * What begins by itself: jobs with schedules, each slot of which gets exactly one row. It decides when and whether; what a run does is
 * handed to a `RunStarter`, which puts it into the same inbox as everything else.
 */
export { type RunOutcome } from "./after-run.ts";
export { type Engine, type JobNews, startEngine } from "./engine.ts";
export { createJobs } from "./jobs.ts";
export { readRelative } from "./times/relative.ts";
export { createTimes, type Times } from "./times/times.ts";
