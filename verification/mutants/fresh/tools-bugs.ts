/** Second list of tools bugs, all written before the first of them was tried: shared calls, approvals, slots, plugins, paths, the bridge. */
import type { SeededBug } from "../seeded-bug.ts";

const gate = ["src/tools/gate.test.ts", "src/tools/run", "src/tools/stages"] as const;
const plugins = ["src/plugins"] as const;
const agentTools = ["src/agents/tools"] as const;

export const FRESH_TOOLS_BUGS: readonly SeededBug[] = [
  {
    what: "A tool in the background is cancelled when a second caller with the same id leaves.",
    file: "src/tools/stages/once.ts",
    in: "waitFor",
    find: "if (entry.waiting > 0 || entry.goesOn)",
    replace: "if (entry.waiting > 0)",
    tests: gate,
  },
  {
    what: "The id of a call is free before its end is on record, so that a repeat can run the tool again.",
    file: "src/tools/stages/once.ts",
    in: "begin",
    find: ".then(({ written }) => written)",
    replace: ".then(() => undefined)",
    tests: gate,
  },
  {
    what: "An approval is shown before it is stored, so that a crash loses what somebody saw.",
    file: "src/tools/approvals.ts",
    in: "createApprovals",
    find: "[...open.values()].filter(({ stored }) => stored).map(({ shown }) => shown)",
    replace: "[...open.values()].map(({ shown }) => shown)",
    tests: ["src/tools/approvals.test.ts"],
  },
  {
    what: "An approval that could not be stored counts as open for ever.",
    file: "src/tools/approvals.ts",
    in: "wait",
    find: "forget();",
    replace: "",
    tests: ["src/tools/approvals.test.ts"],
  },
  {
    what: "A call that gave up its wait still gets the next slot, and nobody ever frees it.",
    file: "src/tools/run/slots.ts",
    in: "stop",
    find: "leave();",
    replace: "",
    tests: ["src/tools/run"],
  },
  {
    what: "A plugin can change the parameters of a call after they were checked, by the object it was shown.",
    file: "src/tools/stages/tool-hooks.ts",
    in: "askHooks",
    find: "const own = ownCopy(said.change ? said.change.params : params);",
    replace: "const own = said.change ? ownCopy(said.change.params) : { params };",
    tests: gate,
  },
  {
    what: "A second plugin without an opinion cancels the approval that the first one asked for.",
    file: "src/tools/stages/tool-hooks.ts",
    in: "askHooks",
    find: "...(said.asks ? { askBecause: `${plugin} wants it` } : {}) };",
    replace: "askBecause: said.asks ? `${plugin} wants it` : null };",
    tests: gate,
  },
  {
    what: "An agent can edit a skill outside of its workspace.",
    file: "src/agents/tools/confine.ts",
    in: "confine",
    find: "CHANGES.has(tool) ? writable : readable",
    replace: "readable",
    tests: agentTools,
  },
  {
    what: "Two different plugin folders can have the same digest, because the length of a file is not part of it.",
    file: "src/plugins/folder/read-folder.ts",
    in: "digestOf",
    find: "hash.update(`${path}\\0${content.byteLength}\\0`)",
    replace: "hash.update(`${path}\\0`)",
    tests: plugins,
  },
  {
    what: "A plugin reads back a value that could not be saved.",
    file: "src/plugins/run/storage.ts",
    in: "createStorage",
    find: "throw tooLarge(`more than ${MAX_KEYS} keys`); await save(file, next); values = next;",
    replace: "throw tooLarge(`more than ${MAX_KEYS} keys`); values = next; await save(file, next);",
    tests: plugins,
  },
  {
    what: "After a list of tools that did not arrive only the difference to it is sent.",
    file: "src/agents/tools/offering.ts",
    in: "send",
    find: "given = null;",
    replace: "",
    tests: agentTools,
  },
  {
    what: "A parameter that a plugin removed is still there when pi runs its tool.",
    file: "bridge/pi-tools.ts",
    in: "replaceIn",
    find: "for (const key of Object.keys(target)) if (!Object.hasOwn(next, key)) delete target[key];",
    replace: "",
    tests: [...agentTools, "test/real-tools.test.ts"],
  },
];
