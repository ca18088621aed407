/** Third fresh list of tool bugs, all written before the first of them was tried: places that are given back twice or never, timers, ids that stay taken, watched folders, copies, pauses. */
import type { SeededBug } from "../seeded-bug.ts";

const gate = ["src/tools"] as const;
const agentTools = ["src/agents/tools", "src/agents/talk"] as const;
const bridge = ["bridge", "src/agents/tools", "src/agents/talk"] as const;
const plugins = ["src/plugins"] as const;

export const THIRD_TOOLS_BUGS: readonly SeededBug[] = [
  {
    what: "Whoever gave up waiting for a call is told its progress all the same.",
    file: "src/tools/stages/once.ts",
    in: "waitFor",
    find: "if (onUpdate) entry.listeners.delete(onUpdate);",
    replace: "",
    tests: gate,
  },
  {
    what: "A tool that has gone on in the background gives its place back twice, so that too many tools run at once.",
    file: "src/tools/run/slots.ts",
    in: "occupy",
    find: "if (!held) return;",
    replace: "",
    tests: gate,
  },
  {
    what: "A background tool that has ended quickly says later that it goes on, and is counted as running for ever.",
    file: "src/tools/run/execute.ts",
    in: "yieldAfterWhile",
    find: '() => over.abort(new Error("it has ended"))',
    replace: "() => undefined",
    tests: gate,
  },
  {
    what: "Tools that have ended in the background are counted for ever, until no more may run there.",
    file: "src/tools/run/run-call.ts",
    in: "runCall",
    find: "if (yielded) parts.background.running--;",
    replace: "",
    tests: gate,
  },
  {
    what: "An operator who keeps tool calls for ever loses all of them.",
    file: "src/retention/retention.ts",
    in: "dropOld",
    find: "if (keepDays === 0) return;",
    replace: "",
    tests: ["src/retention"],
  },
  {
    what: "The id of a call of pi that was refused stays taken for ever.",
    file: "src/tools/admit.ts",
    in: "admit",
    find: "held?.[Symbol.dispose](); return admitted;",
    replace: "return admitted;",
    tests: gate,
  },
  {
    what: "pi runs a tool that was allowed in the moment in which its turn was stopped.",
    file: "src/agents/tools/pi-tool-calls.ts",
    in: "judge",
    find: "if (signal.aborted)",
    replace: "if (false)",
    tests: agentTools,
  },
  {
    what: "The token of every agent process that is gone is looked for in every text for ever.",
    file: "src/agents/tools/agent-tokens.ts",
    in: "createAgentTokens",
    find: "hidden?.[Symbol.dispose]();",
    replace: "",
    tests: agentTools,
  },
  {
    what: "A folder of plugins that is made, or comes back, later is not looked into.",
    file: "src/plugins/watch.ts",
    in: "watchOne",
    find: "if (missed) touch();",
    replace: "",
    tests: plugins,
  },
  {
    what: "After a reload the folders that held plugins before are watched for ever.",
    file: "src/plugins/host.ts",
    in: "startPlugins",
    find: "roots = next; await watching[Symbol.asyncDispose]();",
    replace: "roots = next;",
    tests: plugins,
  },
  {
    what: "The copy of a plugin that could not start stays on the disk until the gateway starts again.",
    file: "src/plugins/run/slot.ts",
    in: "start",
    find: "await goal.cleanUp().catch(() => undefined);",
    replace: "",
    tests: plugins,
  },
  {
    what: "A turn that is stopped while its provider wants a pause sits the pause out.",
    file: "bridge/provider-waits.ts",
    in: "keepProviderWaits",
    find: "sleep(leftMs, ctx.signal)",
    replace: "sleep(leftMs, undefined)",
    tests: bridge,
  },
];
