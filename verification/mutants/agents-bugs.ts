/** Seeded bugs in agent processes and what is kept about their calls. */
import type { SeededBug } from "./seeded-bug.ts";

export const AGENTS_BUGS: readonly SeededBug[] = [
  {
    what: "Answered requests to an agent are kept for ever.",
    file: "src/agents/process/wire.ts",
    in: "request",
    find: ".finally(() => waiting.delete(id))",
    replace: "",
    tests: ["src/agents/process/wire.test.ts"],
  },
  {
    what: "The id of a call that the gateway has let pass, or run, stays among the running ones.",
    file: "src/agents/talk/tool-pipe.ts",
    in: "begin",
    find: "if (running.get(call.callId) === stop) running.delete(call.callId);",
    replace: "",
    tests: ["src/agents/talk/tool-pipe.test.ts"],
  },
  {
    what: "A call that pi has given up keeps its place among the running ones.",
    file: "src/agents/talk/tool-pipe.ts",
    in: "ended",
    find: "running.delete(callId);",
    replace: "",
    tests: ["src/agents/talk/tool-pipe.test.ts"],
  },
  {
    what: "A program that detaches itself and clears its environment outlives its turn.",
    file: "src/agents/process/process.ts",
    in: "spawn",
    find: "setLimitMark(child.pid, options.id);",
    replace: "",
    tests: ["src/agents/left-running.test.ts"],
  },
  {
    what: "A turn that used a shell leaves its programs running.",
    file: "src/agents/lease.ts",
    in: "close",
    find: "if (trusted) await pipe.endLeftRunning();",
    replace: "",
    tests: ["src/agents/left-running.test.ts"],
  },
  {
    what: "A session file with noise before its header is taken for a whole one.",
    file: "src/agents/setup/damaged-session.ts",
    in: "take",
    find: "return void (flaw = NO_HEADER);",
    replace: "return;",
    tests: ["src/agents/setup/damaged-session.test.ts"],
  },
];
