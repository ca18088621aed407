/** Ninth fresh list of config bugs, all written before the first of them was tried: ranges, addresses of databases, empty groups, kinds of keys, saves at the same moment, names of key files, files that a group reads, hidden texts, named secrets, headers with padding, heartbeats, speakers in groups. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/config"] as const;
const reload = ["src/reload.test.ts", "test/reload.test.ts"] as const;

export const NINTH_CONFIG_BUGS: readonly SeededBug[] = [
  {
    what: "A range of IPv4 addresses with more bits than an address has is accepted.",
    file: "src/config/check/address.ts",
    in: "parseRange",
    find: "Number(bitsText) > most",
    replace: "Number(bitsText) > 128",
    tests: [...room],
  },
  {
    what: "An address of a database that begins with postgresql:// is refused.",
    file: "src/config/check/rules.ts",
    in: "storeRule",
    find: "/^postgres(?:ql)?:$/",
    replace: "/^postgres:$/",
    tests: [...room],
  },
  {
    what: "A group without settings that is named in the file, such as a server of Discord that is allowed, takes no effect until the next start.",
    file: "src/config/diff.ts",
    in: "collectChanges",
    find: "if (keys.size === 0 && !(left && right)) changed.push(path);",
    replace: "",
    tests: [...room],
  },
  {
    what: "A key of Anthropic from a file is handed to pi as a token of another kind.",
    file: "src/config/environment/provider-endpoints.ts",
    in: "providerEndpoint",
    find: "secrets.at(-1)",
    replace: "secrets.at(0)",
    tests: [...room, "test/providers.test.ts"],
  },
  {
    what: "Of two changes saved at the same moment, the second undoes the first.",
    file: "src/config/file/config-editor.ts",
    in: "openConfigEditor",
    find: "queue = saved.catch(() => undefined);",
    replace: "",
    tests: [...room],
  },
  {
    what: "A key is written outside of the folder for keys when the name of its provider leads there.",
    file: "src/config/file/key-file.ts",
    in: "PROVIDER",
    find: "/^[a-z0-9][a-z0-9_-]{0,63}$/",
    replace: "/^[a-z0-9][a-z0-9_-]{0,63}/",
    tests: [...room],
  },
  {
    what: "A configuration file with secrets that its group can read is not reported.",
    file: "src/config/file/public-file.ts",
    in: "OTHERS_CAN_READ",
    find: "0o044",
    replace: "0o004",
    tests: [...room],
  },
  {
    what: "A secret that begins with a variable is shown in the editor.",
    file: "src/config/hidden-secrets.ts",
    in: "VARIABLE",
    find: "/^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$/",
    replace: "/^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}/",
    tests: [...room],
  },
  {
    what: "What stands in the place of a group of named secrets is repeated in the problem that reports it.",
    file: "src/config/schema-node.ts",
    in: "holdsSecret",
    find: ", ...Object.values(schema.patternProperties ?? {})]",
    replace: "]",
    tests: [...room],
  },
  {
    what: "A header for spans whose value has a = in it is left out.",
    file: "src/config/otel-settings.ts",
    in: "headersIn",
    find: 'pair.indexOf("=")',
    replace: 'pair.lastIndexOf("=")',
    tests: [...room],
  },
  {
    what: "A changed heartbeat takes effect at the next start only.",
    file: "src/reload.ts",
    in: "apply",
    find: 'touches("cron") || touches("heartbeat")',
    replace: 'touches("cron")',
    tests: [...reload, "test/heartbeat.test.ts", "test/live-settings.test.ts"],
  },
  {
    what: "A reply to somebody in a group who has lost access is sent as long as whoever spoke there last has it.",
    file: "src/rights.ts",
    in: "createReceiverCheck",
    find: "(await sessionChatStore.speakerOf(turnId)) ?? chat",
    replace: "chat",
    tests: ["src/rights.test.ts", "test/revoked-rights.test.ts"],
  },
];
