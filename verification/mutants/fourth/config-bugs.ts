/** Fourth fresh list of config bugs, all written before the first of them was tried: files, rules, the environment, differences and reloads. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/config", "src/reload.test.ts"] as const;

export const FOURTH_CONFIG_BUGS: readonly SeededBug[] = [
  {
    what: "A gateway does not start when the last good configuration cannot be kept.",
    file: "src/config/file/load.ts",
    in: "keepLastGood",
    find: 'log.warn("last good configuration could not be kept", { path, error });',
    replace: 'log.debug("last good configuration could not be kept", { path }); throw error;',
    tests: room,
  },
  {
    what: "A configuration in the working folder goes before the one in the state directory.",
    file: "src/config/file/paths.ts",
    in: "findConfigFile",
    find: "[join(home, CONFIG_FILE_NAME), resolve(cwd, CONFIG_FILE_NAME)]",
    replace: "[resolve(cwd, CONFIG_FILE_NAME), join(home, CONFIG_FILE_NAME)]",
    tests: room,
  },
  {
    what: "A reload takes the last secret of webhooks away without a restart.",
    file: "src/config/diff.ts",
    in: "weakensHooks",
    find: "if (signs(before) && !signs(after)) return true;",
    replace: "",
    tests: room,
  },
  {
    what: "A channel that is switched on without any setting counts as unchanged.",
    file: "src/config/diff.ts",
    in: "sameSettings",
    find: "if ((before === null) !== (after === null)) return false;",
    replace: "",
    tests: room,
  },
  {
    what: "A key of the environment goes to a provider that has a key of its own in the configuration.",
    file: "src/config/model-endpoint.ts",
    in: "modelEndpoint",
    find: "own.apiKey ?? anyKey(environment, provider)",
    replace: "anyKey(environment, provider) ?? own.apiKey ?? null",
    tests: room,
  },
  {
    what: "Messages about the configuration show values that came from the environment.",
    file: "src/config/check/substitute.ts",
    in: "substitute",
    find: "fromVariable = true;",
    replace: "",
    tests: room,
  },
  {
    what: "An agent's heartbeat with an unknown time zone passes the check.",
    file: "src/config/check/zone-rules.ts",
    in: "zoneRules",
    find: "...agents.map((agent, index) => ({ path: `agents[${index}].heartbeat`, hours: agent.heartbeat?.activeHours })),",
    replace:
      "...agents.slice(0, 0).map((agent, index) => ({ path: `agents[${index}].heartbeat`, hours: agent.heartbeat?.activeHours })),",
    tests: room,
  },
  {
    what: "A provider whose variable holds only a space counts as one with a key.",
    file: "src/config/environment/environment.ts",
    in: "readProviderKeys",
    find: "if (value?.trim())",
    replace: "if (value)",
    tests: room,
  },
  {
    what: "A path in the address of Azure becomes part of the address that calls have to begin with.",
    file: "src/config/environment/provider-endpoints.ts",
    in: "azureBase",
    find: "URL.canParse(address) ? new URL(address).origin : undefined",
    replace: "address",
    tests: room,
  },
  {
    what: "A reload does not notice a changed list of agents.",
    file: "src/reload.ts",
    in: "touching",
    find: "key === section ||",
    replace: "",
    tests: room,
  },
  {
    what: "Agents are replaced in the middle of a change of skills, and once more after it.",
    file: "src/reload.ts",
    in: "changed",
    find: "settling.abort(); settling = new AbortController();",
    replace: "",
    tests: room,
  },
  {
    what: "Programs of agents reach every public host unless the configuration says otherwise.",
    file: "src/config/sections/kinds.ts",
    in: "network",
    find: 'byDefault: NetworkSetting | null = "none"',
    replace: 'byDefault: NetworkSetting | null = "all"',
    tests: room,
  },
];
