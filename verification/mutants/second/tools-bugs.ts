/** Second fresh list of tool bugs, all written before the first of them was tried: limits, listeners, late factories, grants, ids of calls, plugins that come back. */
import type { SeededBug } from "../seeded-bug.ts";

const gate = ["src/tools"] as const;
const agentTools = ["src/agents/tools", "src/agents/talk"] as const;
const plugins = ["src/plugins"] as const;

export const SECOND_TOOLS_BUGS: readonly SeededBug[] = [
  {
    what: "Whoever calls a tool most often is the first whose calls are forgotten when many people call, so that their limit begins anew.",
    file: "src/tools/stages/rate.ts",
    in: "put",
    find: "known.delete(key);",
    replace: "",
    tests: gate,
  },
  {
    what: "Every call that has run leaves a listener for changed rights behind.",
    file: "src/tools/stages/rights.ts",
    in: "watchPermission",
    find: "[Symbol.dispose]: () => watching[Symbol.dispose]()",
    replace: "[Symbol.dispose]: () => void watching",
    tests: gate,
  },
  {
    what: "Progress of a tool that pi runs is told after its end.",
    file: "src/tools/admit.ts",
    in: "updated",
    find: "if (over || parts.clock",
    replace: "if (parts.clock",
    tests: gate,
  },
  {
    what: "A stop does not wait until rejected calls are written down.",
    file: "src/tools/audit/rejected-calls.ts",
    in: "createRejectedCalls",
    find: "while (writing.size > 0) await Promise.all(writing);",
    replace: "",
    tests: gate,
  },
  {
    what: "A tool that a factory makes late is offered beside the registered one of the same name, and providers refuse the whole list.",
    file: "src/tools/registry.ts",
    in: "allUsable",
    find: "if (late.has(key) || byName.alike(made.tool.name)) return [];",
    replace: "if (late.has(key)) return [];",
    tests: gate,
  },
  {
    what: "A grant for a conversation holds although whoever gave it is no owner any more.",
    file: "src/tools/approvals.ts",
    in: "ask",
    find: "if (grantedBy !== null && (await deps.mayDecide(grantedBy, null))) return",
    replace: "if (grantedBy !== null) return",
    tests: gate,
  },
  {
    what: "The refusal of a call of an earlier turn is told for a call of a later one with the same id.",
    file: "src/agents/tools/unasked-calls.ts",
    in: "clear",
    find: "refusals.clear();",
    replace: "",
    tests: agentTools,
  },
  {
    what: "One error of an extension makes every later list of tools fail.",
    file: "src/agents/tools/offering.ts",
    in: "send",
    find: "bridgeError = null;",
    replace: "",
    tests: agentTools,
  },
  {
    what: "What a plugin kept out of a tool's result is sent to the model again in later turns.",
    file: "bridge/kept-results.ts",
    in: "keepOtherTexts",
    find: "results.clear(); state.kept.clear();",
    replace: "state.kept.clear();",
    tests: ["bridge", "test/kept-results.test.ts"],
  },
  {
    what: "Two calls in one answer keep the same id, so that the second one is told the result of the first.",
    file: "bridge/call-ids.ts",
    in: "separateCallIds",
    find: "taken.add(id);",
    replace: "",
    tests: ["bridge", "test/call-ids.test.ts"],
  },
  {
    what: "A plugin whose folder is back before it has stopped runs on, and is in no list.",
    file: "src/plugins/host.ts",
    in: "refresh",
    find: "if (slot.running) return;",
    replace: "",
    tests: plugins,
  },
  {
    what: "Nothing waits for a plugin that is being replaced, so that calls and replies slip past its checks.",
    file: "src/plugins/run/slot.ts",
    in: "work",
    find: "using _ = slot.now && slot.deps.hooks.hold(slot.id);",
    replace: "",
    tests: plugins,
  },
];
