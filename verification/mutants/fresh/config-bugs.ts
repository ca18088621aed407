/** Second list of config bugs, all written before the first of them was tried: reload, migration, strictness, secrets that are checked. */
import type { SeededBug } from "../seeded-bug.ts";

const file = ["src/config/file"] as const;
const check = ["src/config/check/check.test.ts", "src/config/check/rules.test.ts"] as const;
const reload = ["src/reload.test.ts"] as const;

export const FRESH_CONFIG_BUGS: readonly SeededBug[] = [
  {
    what: "A reload that trusts every sender as a proxy is taken over by a running gateway.",
    file: "src/config/diff.ts",
    in: "weakens",
    find: "reach(after) > reach(before) || (!believesAll(before) && believesAll(after))",
    replace: "reach(after) > reach(before)",
    tests: ["src/config/diff.test.ts", ...reload],
  },
  {
    what: "Plugins are refreshed with the settings of before the reload.",
    file: "src/reload.ts",
    in: "reloadNow",
    find: "current = next; if (targets && changed.length > 0) await follow(targets, changed);",
    replace: "if (targets && changed.length > 0) await follow(targets, changed); current = next;",
    tests: reload,
  },
  {
    what: "The notice that a setting needs a restart is gone after the next reload.",
    file: "src/reload.ts",
    in: "reloadNow",
    find: "...restartNotices(first.config, next.config)]",
    replace: "...needsRestart.map((key) => `${key} was changed; it takes effect at the next start.`)]",
    tests: reload,
  },
  {
    what: "A reload that failed half way is shown as applied.",
    file: "src/reload.ts",
    in: "reload",
    find: "tell(world, problems, problems);",
    replace: "",
    tests: reload,
  },
  {
    what: "Agents are replaced for new skills after the gateway has stopped following them.",
    file: "src/reload.ts",
    in: "followSkills",
    find: "following[Symbol.dispose](); settling.abort();",
    replace: "following[Symbol.dispose]();",
    tests: reload,
  },
  {
    what: "A configuration file that is read-only is rewritten.",
    file: "src/config/file/migrate.ts",
    in: "migrateConfig",
    find: 'if ((read.mode & ANY_WRITE_BIT) === 0) return leave("it is read-only");',
    replace: "",
    tests: file,
  },
  {
    what: "A link to the configuration file is replaced by a file when old names are rewritten.",
    file: "src/config/file/migrate.ts",
    in: "migrateConfig",
    find: "const target = await realpath(path).catch(() => path);",
    replace: "const target = path;",
    tests: file,
  },
  {
    what: "A misspelt key in a group inside a security section is a warning.",
    file: "src/config/check/read-tree.ts",
    in: "readObject",
    find: "const strict = spot.strict || below.security === true;",
    replace: "const strict = below.security === true;",
    tests: check,
  },
  {
    what: "The previous secret of a webhook may be weak, or the token itself.",
    file: "src/config/check/hook-rules.ts",
    in: "signing",
    find: '["previousSecret", previousSecret] as const,',
    replace: "",
    tests: ["src/config/check/hook-rules.test.ts"],
  },
  {
    what: "An old password key overwrites the sign-in mode that the owner set.",
    file: "src/config/check/old-keys.ts",
    in: "moveOldKeys",
    find: 'if (from === PASSWORD_KEY && !target.entries.has("mode")) {',
    replace: "if (from === PASSWORD_KEY) {",
    tests: [...check, ...file],
  },
  {
    what: "A rule looks into a group that is itself wrong, and the check throws instead of answering.",
    file: "src/config/check/rules.ts",
    in: "brokenRules",
    find: "isWithin(path, read) || isWithin(read, path)",
    replace: "isWithin(path, read)",
    tests: [...check, "src/config/check/properties.test.ts"],
  },
  {
    what: "A reload that is in force is reported as failed when the audit log cannot be written.",
    file: "src/reload.ts",
    in: "noteReload",
    find: 'log.error("reload could not be written to the audit log", { error });',
    replace: "log.debug(kind); throw error;",
    tests: reload,
  },
];
