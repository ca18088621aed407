/** The pi agents that answer: settings for all of them, and those of single ones. */
import { Type } from "typebox";
import {
  bridge,
  fallbacks,
  gatewayPrompts,
  modelName,
  ownGatewayPrompts,
  ownResources,
  resources,
  tools,
} from "./capabilities.ts";
import { ownHeartbeat } from "./heartbeat.ts";
import { choice, closed, duration, list, network, path, text, wholeNumber, workspace } from "./kinds.ts";
import { agentId, role } from "./routing.ts";

const thinkingLevel = (description: string) =>
  Type.Optional(choice({ of: ["off", "minimal", "low", "medium", "high", "xhigh", "max"] }, description));

function agentName() {
  return Type.String({ pattern: "^[a-z0-9-]{1,64}$", expects: "the id of an agent" });
}

const Delegation = Type.Object(
  {
    maxDepth: wholeNumber(
      { default: 2, minimum: 0, maximum: 8 },
      "How often one task may be handed on from agent to agent. 0: not at all.",
    ),
    maxPerTurn: wholeNumber({ default: 2, minimum: 1, maximum: 64 }, "Agents that work for one turn at the same time."),
    maxTotal: wholeNumber(
      { default: 4, minimum: 1, maximum: 64 },
      "Agents that work for other agents at the same time, in the whole gateway.",
    ),
    timeoutMs: duration(
      { default: 300_000, minimum: 1_000 },
      "An agent that was asked and takes longer is stopped. What is left of the asking turn's own time counts too.",
    ),
  },
  { ...closed, description: "Limits of delegate_to_agent, for all agents." },
);

const grantedFolder = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 4096, description: "The folder." }),
    access: choice({ of: ["read", "write"], default: "read" }, "What may be done there."),
    approval: choice(
      { of: ["ask", "never"], default: "ask" },
      "Whether write and edit wait for an owner before they change something there. A shell is not seen from outside, and asks nobody.",
    ),
  },
  { additionalProperties: false },
);

const Limits = Type.Object(
  {
    processes: wholeNumber(
      { default: 1_024, minimum: 16, maximum: 65_536 },
      "Processes that one agent process and its programs may have at the same time.",
    ),
    memoryMb: wholeNumber(
      { default: 4_096, minimum: 512, maximum: 1_048_576 },
      "Memory that each of its programs may have; where the gateway has a cgroup of its own, also all of them together. In MiB.",
    ),
    openFiles: wholeNumber({ default: 8_192, minimum: 256, maximum: 1_048_576 }, "Files that each may hold open."),
    cpuSecondsPerTurn: wholeNumber(
      { default: 1_800, minimum: 1, maximum: 1_000_000 },
      "Processor time that the programs of one turn may use together, in seconds; then the turn is stopped. Linux only.",
    ),
    workspaceMb: wholeNumber(
      { default: 10_240, minimum: 16, maximum: 104_857_600 },
      "What the agent's workspace, home and temporary files may take up together; a turn whose programs pass it is stopped. In MiB.",
    ),
    workspaceFiles: wholeNumber(
      { default: 1_000_000, minimum: 1_000, maximum: 1_000_000_000 },
      "How many files and folders there may be in them.",
    ),
    freeDiskMb: wholeNumber(
      { default: 512, minimum: 0, maximum: 104_857_600 },
      "What is left free on the disk of the state directory: a turn whose programs go on writing below it is stopped, so that the database never finds it full. In MiB.",
    ),
    cpus: Type.Optional(
      wholeNumber(
        { minimum: 1, maximum: 8_192 },
        "Processors that its programs may use at the same time. Default: where there are four or more all but one, which is left to the gateway; else all, and all but one for a turn with too many running programs. Linux only.",
      ),
    ),
    fileSizeMb: wholeNumber({ default: 4_096, minimum: 16, maximum: 1_048_576 }, "Size of a file it writes. In MiB."),
  },
  { ...closed, security: true, description: "What programs of an agent may use up, behind the wall." },
);

export const AgentSection = Type.Object(
  {
    model: modelName(
      'Model as "provider/model". Without it: the first model of models.providers, else the first provider whose key is in the environment, else the demo model.',
    ),
    thinking: thinkingLevel("How much the model thinks before it answers."),
    bridge: bridge(
      { default: "live" },
      "How gateway tools reach the agents: live, also in the middle of a turn; minimal, only at its beginning; off, not at all, and pi tools and those of extensions are off too.",
    ),
    systemPrompt: Type.Optional(text({ maxLength: 100_000 }, "Replaces the assistant's base instructions.")),
    appendSystemPrompt: Type.Optional(text({ maxLength: 100_000 }, "Added after the base instructions.")),
    workspace: workspace(
      'The agent\'s working folder. Default: workspace/ in the state directory. As {"path", "scope"} with the scope "person", each person has a folder of their own below it (people/), and no agent process of one person can open that of another.',
    ),
    tools: Type.Optional(
      tools(
        'Which tools the agents have: "chat" (the gateway\'s), "files" (also pi\'s read, write, edit, grep, find, ls), "workspace" (also pi\'s bash, inside the sandbox), "full" (the same, and each call of bash waits for an owner), or exactly those of a list. Default: "workspace" in a sandbox, else "chat". Only owners get pi tools this way; see roles.profiles.',
      ),
    ),
    folders: list(
      grantedFolder,
      64,
      "Folders besides the workspace that the agents may use, also behind the wall: to read, or to write as well. One that contains the state directory is refused.",
    ),
    limits: Limits,
    network: network(
      'Which hosts programs of the agents reach, when there is a wall around them: "none", "all" public hosts, or {"allow": [hosts]} such as "registry.npmjs.org", "*.example.org" or "example.org:8443". With "ask": true beside it an owner is asked about every other host, and the connection waits for the answer. Each connection goes through a proxy of the gateway and is in the audit log.',
    ),
    sandbox: Type.Union([Type.Literal("auto"), Type.Literal("required"), Type.Literal("off")], {
      default: "auto",
      description:
        "The wall around agent processes. auto: the best one that this machine can build; where there is none, pi tools are off. required: where there is none, agents do not start. off: none; a shell of an agent can then do whatever your user can.",
    }),
    ...resources,
    gatewayPrompts,
    agentDir: path(
      "An existing pi folder (for example ~/.pi/agent) whose login is used. Default: agent/ in the state directory. models.providers is not written there.",
    ),
    piPath: path("The pi to run: its executable, its package folder, or its rpc-entry.js."),
    timeoutMs: duration({ default: 600_000, minimum: 1_000 }, "A turn that takes longer is stopped and says so."),
    providerWaitMs: duration(
      { default: 60_000, minimum: 0 },
      "How long a turn waits at most when the model's provider refuses and says how long to wait. A longer wait ends the turn at once, and it says when to try again. 0: never.",
    ),
    fallbacks: fallbacks({ default: [] }),
    fallbackAfterMs: duration(
      { default: 60_000, minimum: 100 },
      "How long a model may take to its first word before the next one of fallbacks is asked.",
    ),
    delegates: list(
      agentName(),
      64,
      "Agents that the default agent may ask with delegate_to_agent. Others do not take this over.",
    ),
    delegation: Delegation,
    pool: Type.Object(
      {
        min: wholeNumber(
          { default: 1, minimum: 0, maximum: 64 },
          "Spare processes of the default agent that are kept ready for whoever comes next. In a full pool one is kept, for which the process that has been idle longest gives way, after two seconds without a turn. None where each person has a workspace of their own.",
        ),
        max: Type.Optional(
          wholeNumber(
            { minimum: 1, maximum: 64 },
            "Agent processes at most. Each takes about 90 MB. Default: what the machine can hold, measured at the start: one for each 100 MB of half of its free memory, at most 16 for each core, 2 to 64. `pi-gw status` shows the number.",
          ),
        ),
        idleMs: duration(
          { default: 300_000, minimum: 1_000 },
          "An unused process that is not one of the spares is stopped after this long.",
        ),
        maxSwitches: wholeNumber(
          { default: 500, minimum: 1 },
          "A process that has served this many sessions is replaced by a fresh one.",
        ),
        maxAgeMs: duration(
          { default: 21_600_000, minimum: 1_000 },
          "A process older than this is replaced when it has no turn to finish.",
        ),
        maxRssMb: wholeNumber(
          { default: 400, minimum: 32, maximum: 1_048_576 },
          "A process that holds more memory than this after a turn is replaced when others need the memory: less than 400 MiB are free. In MiB; Linux only.",
        ),
        reuse: choice(
          { of: ["principal", "profile"], default: "principal" },
          "Whom a used process may serve next: principal, only the same person; profile, anyone who talks to an agent with the same settings.",
        ),
        waitMs: duration(
          { default: 120_000, minimum: 100 },
          "How long a turn waits for a free process before it says that all are busy.",
        ),
      },
      closed,
    ),
  },
  { ...closed, description: "The pi agents that answer." },
);

/** What is left out here is taken from `agent`. */
export const AgentsSection = list(
  Type.Object(
    {
      id: agentId("Its name in session keys and bindings."),
      description: Type.Optional(text({ maxLength: 500 }, "What it is for. Told to the agents that may ask it.")),
      delegates: Type.Optional(
        Type.Array(agentName(), {
          maxItems: 64,
          description:
            "Agents that this one may ask with delegate_to_agent. Left out: none, whatever agent.delegates says.",
        }),
      ),
      model: modelName('Model as "provider/model".'),
      fallbacks: Type.Optional(fallbacks({})),
      thinking: thinkingLevel("How much the model thinks before it answers."),
      systemPrompt: Type.Optional(text({ maxLength: 100_000 }, "Replaces the base instructions.")),
      appendSystemPrompt: Type.Optional(text({ maxLength: 100_000 }, "Added after the base instructions.")),
      workspace: workspace("Its working folder."),
      folders: Type.Optional(Type.Array(grantedFolder, { maxItems: 64, description: "Instead of agent.folders." })),
      network: Type.Optional(network("Instead of agent.network.", null)),
      tools: Type.Optional(tools("Instead of agent.tools.")),
      ...ownResources,
      gatewayPrompts: ownGatewayPrompts,
      bridge: Type.Optional(bridge({}, "Instead of agent.bridge.")),
      heartbeat: ownHeartbeat,
      role: role("What people may do at most when they talk to it, whatever their own role is."),
      timeoutMs: Type.Optional(duration({ minimum: 1_000 }, "A turn that takes longer is stopped and says so.")),
    },
    { additionalProperties: false },
  ),
  64,
  "Agents besides `default`. What an entry leaves out is taken from `agent`.",
);
