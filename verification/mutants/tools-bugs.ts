/** Seeded bugs in the tool gate, plugins and the tools of agent processes. */
import type { SeededBug } from "./seeded-bug.ts";

export const TOOLS_BUGS: readonly SeededBug[] = [
  {
    what: "A delegated turn runs a tool for owners without a grant.",
    file: "src/tools/policy.ts",
    in: "UNATTENDED",
    find: '"webhook", "delegate", "mcp"]',
    replace: '"webhook", "mcp"]',
    tests: ["src/tools/policy.test.ts"],
  },
  {
    what: "A secret inside a refusal is stored.",
    file: "src/tools/audit/record.ts",
    in: "refused",
    find: "await deps.store.refuse(intent(call, false), { status, output: deps.scrub(message) });",
    replace: "await deps.store.refuse(intent(call, false), { status, output: message });",
    tests: ["src/tools/audit/record.test.ts"],
  },
  {
    what: "A secret inside a refusal after an approval is stored.",
    file: "src/tools/audit/record.ts",
    in: "refused",
    find: "settle(deniedEnd(code, deps.scrub(message)))",
    replace: "settle(deniedEnd(code, message))",
    tests: ["src/tools/audit/record.test.ts"],
  },
  {
    what: "An expired approval can be given after the machine slept.",
    file: "src/tools/approvals.ts",
    in: "decide",
    find: "if (deps.clock.now() >= entry.shown.expiresAt) {",
    replace: "if (deps.clock.elapsed() >= entry.shown.expiresAt) {",
    tests: ["src/tools/approvals.test.ts"],
  },
  {
    what: "A sequential slot is never free again.",
    file: "src/tools/run/slots.ts",
    in: "occupy",
    find: "sequential: now.sequential && !sequential",
    replace: "sequential: now.sequential",
    tests: ["src/tools/run/slots.test.ts"],
  },
  {
    what: "A call that waited for a slot runs for a caller without access.",
    file: "src/tools/stages/stages.ts",
    in: "takeSlot",
    find: "if (slot) return stillPermitted(deps, { ...draft, slot });",
    replace: "if (slot) return { ...draft, slot };",
    tests: ["src/tools/stages/rights.test.ts"],
  },
  {
    what: "A plugin's routes are public unless they say otherwise.",
    file: "src/plugins/run/plugin.ts",
    in: "mounted",
    find: 'access: route.access ?? "owner"',
    replace: 'access: route.access ?? "public"',
    tests: ["src/plugins/plugins.test.ts"],
  },
  {
    what: "The token of an agent process works for its last caller after the lease.",
    file: "src/agents/tools/agent-tokens.ts",
    in: "serve",
    find: "entry.context = context;",
    replace: "entry.context = context ?? entry.context;",
    tests: ["src/agents/tools/agent-tokens.test.ts"],
  },
];
