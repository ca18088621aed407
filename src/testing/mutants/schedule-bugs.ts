/** Bugs in what begins by itself: clocks that move, runs that are begun twice, timers that outlive their run. */
import type { SeededBug } from "./seeded-bug.ts";

export const SCHEDULE_BUGS: readonly SeededBug[] = [
  {
    what: "A moved clock is noticed an hour late.",
    file: "src/schedule/engine.ts",
    find: "const MAX_SLEEP_MS = 30_000;",
    replace: "const MAX_SLEEP_MS = 3_600_000;",
    tests: ["src/schedule/engine.test.ts"],
  },
  {
    what: "A run that waits for another attempt is begun twice.",
    file: "src/schedule/engine.ts",
    find: 'if (!(await world.store.begin(run.id, "failed", world.clock.now()))) return;',
    replace: 'await world.store.begin(run.id, "failed", world.clock.now());',
    tests: ["src/schedule/engine.test.ts"],
  },
  {
    what: "The stop of the engine does not wait for the deletion of old runs.",
    file: "src/schedule/engine.ts",
    find: "await pruning;",
    replace: "",
    tests: ["src/schedule/engine.test.ts"],
  },
  {
    what: "A failed deletion of old runs ends the engine with an unhandled rejection.",
    file: "src/schedule/engine.ts",
    find: 'log.warn("old runs could not be dropped", { error });',
    replace: "throw error;",
    tests: ["src/schedule/engine.test.ts"],
  },
  {
    what: "Next slots stay where they were when the zone of the machine changes.",
    file: "src/schedule/engine.ts",
    find: "await followHostZone(world);",
    replace: "",
    tests: ["src/schedule/zone-change.test.ts"],
  },
  {
    what: "A slot that passed before its job was changed has no row.",
    file: "src/schedule/config-jobs.ts",
    find: "await store.change(changed, known.revision, left);",
    replace: "await store.change(changed, known.revision);",
    tests: ["src/schedule/zone-change.test.ts"],
  },
  {
    what: "The time limit of a run that is over stops whatever its session does next.",
    file: "src/schedule/runs/starter.ts",
    find: 'known?.timer.abort(new Error("the run is over"));',
    replace: "",
    tests: ["src/schedule/runs"],
  },
  {
    what: "A run that was taken away while it stood in line begins all the same.",
    file: "src/schedule/runs/starter.ts",
    find: 'if ((await world.jobs.run(run.id))?.status !== "running") return;',
    replace: "",
    tests: ["src/schedule/runs"],
  },
  {
    what: "A heartbeat run begins while the one before has not ended.",
    file: "src/schedule/heartbeat/heartbeat.ts",
    find: "if ([...world.running.values()].includes(agentId)) return;",
    replace: "",
    tests: ["src/schedule/heartbeat"],
  },
  {
    what: "A heartbeat that fell into a sleep is made up for, run after run.",
    file: "src/schedule/heartbeat/heartbeat.ts",
    find: "pulse.dueAt += every * Math.max(1, Math.ceil((now - pulse.dueAt + 1) / every));",
    replace: "pulse.dueAt += every;",
    tests: ["src/schedule/heartbeat"],
  },
  {
    what: "The heartbeat still listens to turns after it has stopped.",
    file: "src/schedule/heartbeat/heartbeat.ts",
    find: "listening[Symbol.dispose]();",
    replace: "",
    tests: ["src/schedule/heartbeat"],
  },
  {
    what: "A signature is forgotten while it can still be used again.",
    file: "src/schedule/hooks/door.ts",
    find: "const SIGNED_MS = 3 * SIGNATURE_WINDOW_MS;",
    replace: "const SIGNED_MS = SIGNATURE_WINDOW_MS / 2;",
    tests: ["src/schedule/hooks"],
  },
];
