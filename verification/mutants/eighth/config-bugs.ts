/** Eighth fresh list of config bugs, all written before the first of them was tried: links, modes of files, passwords in addresses, byte order marks, hooks, nesting, proposals, rows of settings, the status after a start, skills, keys for Azure. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/config"] as const;
const reload = ["src/reload.test.ts", "test/reload.test.ts"] as const;

export const EIGHTH_CONFIG_BUGS: readonly SeededBug[] = [
  {
    what: "The editor puts a file in the place of a link, and the file behind the link is never changed.",
    file: "src/config/file/edit-file.ts",
    in: "replaceConfig",
    find: "const target = await realpath(path).catch(() => path);",
    replace: "const target = path;",
    tests: [...room],
  },
  {
    what: "The last good settings are read through a link that somebody has put in their place.",
    file: "src/config/file/read-file.ts",
    in: "readConfigText",
    find: 'links === "refuse" ? constants.O_NOFOLLOW : 0',
    replace: 'links === "refuse" ? constants.O_NOCTTY : 0',
    tests: [...room],
  },
  {
    what: "A copy of the last good settings that the group may read stays so.",
    file: "src/config/file/load.ts",
    in: "OTHERS_MODE_BITS",
    find: "0o077",
    replace: "0o007",
    tests: [...room],
  },
  {
    what: "Of two addresses in one setting, the password of the second is shown.",
    file: "src/config/public.ts",
    in: "withoutUserInfo",
    find: "/(:\\/\\/)[^/?#\\s]*@/g",
    replace: "/(:\\/\\/)[^/?#\\s]*@/",
    tests: [...room],
  },
  {
    what: "In a file that begins with a byte order mark, the end of a secret is shown.",
    file: "src/config/hidden-secrets.ts",
    in: "secretPlaces",
    find: "given.length - text.length",
    replace: "text.length - given.length",
    tests: [...room],
  },
  {
    what: "A hook with a secret of its own is refused while there is none for all hooks.",
    file: "src/config/check/hook-rules.ts",
    in: "hookNameRules",
    find: "[mapping, hooks].some(",
    replace: "[hooks].some(",
    tests: [...room],
  },
  {
    what: "Brackets that are nested exactly as deep as allowed are refused.",
    file: "src/config/check/tree.ts",
    in: "tooDeepAt",
    find: "depth > MAX_CONFIG_DEPTH",
    replace: "depth >= MAX_CONFIG_DEPTH",
    tests: [...room],
  },
  {
    what: "A proposed change is compared with what runs, and not with the file that it changes.",
    file: "src/config/proposal.ts",
    in: "proposeConfig",
    find: "checkConfigText(before, variables).config ?? inForce",
    replace: "inForce",
    tests: [...room],
  },
  {
    what: "A setting that the file writes as a group of others is shown as one that nobody wrote.",
    file: "src/config/setting-rows.ts",
    in: "overlap",
    find: "|| one.startsWith(`${other}.`)",
    replace: "",
    tests: [...room],
  },
  {
    what: "After a start with the last good settings the status says that the file is in force.",
    file: "src/reload.ts",
    in: "createReloader",
    find: 'first.source === "last-good" ? notices : []',
    replace: 'first.source === "last-good" ? [] : notices',
    tests: [...reload],
  },
  {
    what: "Agents are replaced for skills that have changed back meanwhile.",
    file: "src/reload.ts",
    in: "renewAgents",
    find: "if (!targets.skills.hasChanged()) return;",
    replace: "",
    tests: [...reload],
  },
  {
    what: "A name of an Azure resource with a slash in it sends the key to another host.",
    file: "src/config/environment/provider-endpoints.ts",
    in: "azureBase",
    find: "resource !== undefined && /^[a-z0-9-]+$/i.test(resource)",
    replace: "resource !== undefined",
    tests: [...room],
  },
];
