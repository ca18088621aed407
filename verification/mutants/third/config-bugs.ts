/** Third fresh list of config bugs, all written before the first of them was tried: reloads, rights that were lost, handles, spellings, weak credentials, how far a port reaches. */
import type { SeededBug } from "../seeded-bug.ts";

const check = ["src/config"] as const;
const reload = ["src/reload.test.ts"] as const;
const rights = ["src/rights.test.ts"] as const;

export const THIRD_CONFIG_BUGS: readonly SeededBug[] = [
  {
    what: "After a reload files of a new workspace cannot be sent, and those of the old one can.",
    file: "src/reload.ts",
    in: "apply",
    find: '["media", ...WORKSPACES].some(touches)',
    replace: 'touches("media")',
    tests: reload,
  },
  {
    what: "Skills that changed before the gateway began to follow them do not reach its agents.",
    file: "src/reload.ts",
    in: "followSkills",
    find: "if (skills.hasChanged()) changed();",
    replace: "",
    tests: reload,
  },
  {
    what: "A tool that runs goes on after its caller's pairing was revoked.",
    file: "src/rights.ts",
    in: "createRights",
    find: "RIGHTS_CHANGE.includes(what) && listener()",
    replace: 'what === "config" && listener()',
    tests: rights,
  },
  {
    what: "Somebody who is to hear nothing any more is still sent notices.",
    file: "src/rights.ts",
    in: "createReceiverCheck",
    find: 'now.tell && message.kind === "notice"',
    replace: 'message.kind === "notice"',
    tests: rights,
  },
  {
    what: "Each written file leaves a handle of its folder open.",
    file: "src/config/file/write-file.ts",
    in: "syncFolder",
    find: "await folder.close();",
    replace: "",
    tests: check,
  },
  {
    what: "A rewrite of old names that changes a setting is written.",
    file: "src/config/file/migrate.ts",
    in: "migrateConfig",
    find: "&& diffConfig(before.config, after.config).changed.length === 0",
    replace: "",
    tests: check,
  },
  {
    what: "The address of all IPv6 addresses in its long spelling counts as a single one, so that a reload may open the port with it.",
    file: "src/config/check/address.ts",
    in: "isUnspecified",
    find: 'canonicalV6(address) === "::"',
    replace: 'address === "::"',
    tests: check,
  },
  {
    what: "Half of all IPv4 addresses as trusted proxies is no warning.",
    file: "src/config/check/address.ts",
    in: "coversEverything",
    find: "bits <= WIDEST_V4_BITS;",
    replace: "bits < WIDEST_V4_BITS;",
    tests: check,
  },
  {
    what: "A reload that takes the password away is taken over by a running gateway.",
    file: "src/config/diff.ts",
    in: "weakens",
    find: "(before.auth.password !== undefined && after.auth.password === undefined) ||",
    replace: "",
    tests: check,
  },
  {
    what: "Of a password with an @ in an address the second half is shown.",
    file: "src/config/public.ts",
    in: "withoutUserInfo",
    find: "/(:\\/\\/)[^/?#\\s]*@/g",
    replace: "/(:\\/\\/)[^/?#\\s@]*@/g",
    tests: check,
  },
  {
    what: "A placeholder in capital letters is taken for a good token.",
    file: "src/config/check/credentials.ts",
    in: "isPlaceholder",
    find: 'value.toLowerCase().replace(/[^a-z0-9]/g, "")',
    replace: 'value.replace(/[^a-z0-9]/g, "")',
    tests: check,
  },
  {
    what: "A port on one address that other machines reach needs neither a credential nor encryption.",
    file: "src/config/check/rules.ts",
    in: "reachRules",
    find: 'reachOf(bind) === "loopback"',
    replace: 'reachOf(bind) !== "all"',
    tests: check,
  },
];
