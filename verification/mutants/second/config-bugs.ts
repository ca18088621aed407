/** Second fresh list of config bugs, all written before the first of them was tried: what a reload reaches, rights of now, half-written files, names and keys. */
import type { SeededBug } from "../seeded-bug.ts";

const file = ["src/config/file"] as const;
const check = ["src/config"] as const;
const reload = ["src/reload.test.ts"] as const;
const rights = ["src/rights.test.ts"] as const;

export const SECOND_CONFIG_BUGS: readonly SeededBug[] = [
  {
    what: "A new token of webhooks takes effect at the next start only, and nobody is told.",
    file: "src/reload.ts",
    in: "apply",
    find: 'touches("gateway") || touches("hooks")',
    replace: 'touches("gateway")',
    tests: reload,
  },
  {
    what: "A plugin in a folder that is an agent's workspace from now on keeps running.",
    file: "src/reload.ts",
    in: "PLUGIN_SETTINGS",
    find: '["plugins", ...WORKSPACES,',
    replace: '["plugins",',
    tests: reload,
  },
  {
    what: "What a webhook has begun keeps the role that the webhook had then.",
    file: "src/rights.ts",
    in: "now",
    find: "return inChat(deps, { ...caller, role: lesserRole(caller.role, role) });",
    replace: "return inChat(deps, caller);",
    tests: rights,
  },
  {
    what: "A delegated turn keeps the rights that whoever asked for it has lost.",
    file: "src/rights.ts",
    in: "delegated",
    find: "role: lesserRole(role, lesserRole(asking.role, cap))",
    replace: "role: lesserRole(role, cap)",
    tests: rights,
  },
  {
    what: "A reload that gives up encryption is taken over by a running gateway.",
    file: "src/config/diff.ts",
    in: "weakens",
    find: "(!before.insecure && after.insecure) ||",
    replace: "",
    tests: check,
  },
  {
    what: "A file with a misspelt section becomes the last good one.",
    file: "src/config/file/load.ts",
    in: "loadConfig",
    find: "if (!checked.warnings.some(({ unknownSection }) => unknownSection))",
    replace: "if (checked.config)",
    tests: file,
  },
  {
    what: "A file that is not UTF-8 is read with other characters in the place of those that cannot be read.",
    file: "src/config/file/read-file.ts",
    in: "decode",
    find: "{ fatal: true, ignoreBOM: true }",
    replace: "{ fatal: false, ignoreBOM: true }",
    tests: file,
  },
  {
    what: "A file that could not be written whole stays behind, secrets included.",
    file: "src/config/file/write-file.ts",
    in: "writeNew",
    find: "await unlink(path).catch(() => undefined);",
    replace: "",
    tests: file,
  },
  {
    what: "A file that an editor writes in steps is read after each step.",
    file: "src/kit/debounce.ts",
    in: "debounced",
    find: 'waiting.abort(new Error("changed again"));',
    replace: "",
    tests: file,
  },
  {
    what: "A misspelt key in a named entry inside a security section is a warning.",
    file: "src/config/check/read-tree.ts",
    in: "readRecord",
    find: "{ ...spot, schema: record.value, path }",
    replace: "{ ...spot, schema: record.value, path, strict: false }",
    tests: check,
  },
  {
    what: "One webhook may have any number of keys, each of which every request is tried with.",
    file: "src/config/check/hook-rules.ts",
    in: "hookNameRules",
    find: "yield* countRule(`${at}.keys`, mapping.keys);",
    replace: "",
    tests: check,
  },
  {
    what: "A key that anybody can sign for is accepted when the sign of its point is set.",
    file: "src/config/check/credentials.ts",
    in: "isSmallOrderKey",
    find: "last & ~SIGN",
    replace: "last",
    tests: check,
  },
];
