/** Seeded bugs of the search for tools, the client and the plugin SDK: each finds, keeps, sends or tells something else than promised. */
import type { SeededBug } from "./seeded-bug.ts";

const search = ["src/tools/search"];
const index = ["src/store/tool-index.test.ts"];
const client = ["src/client"];
const sdk = ["src/sdk"];

export const SEARCH_AND_SDK_BUGS: readonly SeededBug[] = [
  {
    what: "A search finds tools that its caller may not use.",
    file: "src/tools/usable.ts",
    in: "usableTools",
    find: ".filter(({ tool }) => judge(tool).may)",
    replace: "",
    tests: search,
  },
  {
    what: "One tool too many is still offered whole.",
    file: "src/tools/search/choose.ts",
    in: "chooseTools",
    find: "others.length <= searchAbove",
    replace: "others.length <= searchAbove + 1",
    tests: search,
  },
  {
    what: "A caller who may not search is offered only the built-in tools.",
    file: "src/tools/search/choose.ts",
    in: "chooseTools",
    find: "if (others.length === tools.length) return all(`${TOOL_SEARCH} may not be used`);",
    replace: "",
    tests: search,
  },
  {
    what: "Tools of a session come in the order of registration, which changes what providers have cached.",
    file: "src/tools/search/choose.ts",
    in: "chooseTools",
    find: "[...new Set(session)].filter((name) => brought.has(name))",
    replace: "[...brought].filter((name) => session.includes(name))",
    tests: search,
  },
  {
    what: "A tool that was found again gets another place in the list.",
    file: "src/tools/search/session-tools.ts",
    in: "switchedOn",
    find: "known.get(tool)?.position ?? ++last",
    replace: "++last",
    tests: search,
  },
  {
    what: "A full session switches off the tools that were just found.",
    file: "src/tools/search/session-tools.ts",
    in: "switchedOn",
    find: "all.filter(({ tool }) => !wanted.includes(tool))",
    replace: "all.filter(({ tool }) => wanted.includes(tool))",
    tests: search,
  },
  {
    what: "Found tools are forgotten with the process.",
    file: "src/tools/search/session-tools.ts",
    in: "createSessionTools",
    find: "await store.save(key, { on, off });",
    replace: "",
    tests: search,
  },
  {
    what: "A tool is not found by the plugin that brings it.",
    file: "src/tools/search/tool-text.ts",
    in: "toolText",
    find: "label: label === name ? plugin : `${label} ${plugin}`,",
    replace: "label,",
    tests: search,
  },
  {
    what: "A tool with the exact name comes behind better matches of its words.",
    file: "src/tools/search/find.ts",
    in: "createToolFinder",
    find: "new Set([...exact, ...ranked.flatMap((text) => byText.get(text) ?? [])])",
    replace: "new Set([...ranked.flatMap((text) => byText.get(text) ?? []), ...exact])",
    tests: search,
  },
  {
    what: "A word of the question is read as an operator of the index.",
    file: "src/store/tool-index.ts",
    in: "matchOf",
    find: `\`"\${word.replaceAll('"', '""')}"\${word.length >= MIN_PREFIX_CHARS ? "*" : ""}\``,
    replace: "word",
    tests: index,
  },
  {
    what: "A route's path part is sent as it is.",
    file: "src/client/client.ts",
    in: "addressOf",
    find: "encodeURIComponent(value)",
    replace: "value",
    tests: client,
  },
  {
    what: "A second loop over events takes away those of the first.",
    file: "src/client/socket.ts",
    in: "openSocket",
    find: "new Set([...readers].flatMap((reader) => reader.names))",
    replace: "new Set(names)",
    tests: client,
  },
  {
    what: "The harness approves what nobody approved.",
    file: "src/sdk/harness.ts",
    in: "runInHarness",
    find: 'options.approve ?? "deny"',
    replace: '"once"',
    tests: sdk,
  },
  {
    what: "The harness gives a plugin its secrets as plain text.",
    file: "src/sdk/harness.ts",
    in: "configOf",
    find: "wrapSecrets(manifest, checked.config, () => undefined)",
    replace: "checked.config",
    tests: sdk,
  },
];
