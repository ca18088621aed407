/** The pi agents that answer: settings for all of them, and those of single ones. */
import { Type } from "typebox";
import {
  bridge,
  gatewayPrompts,
  modelName,
  ownBridge,
  ownGatewayPrompts,
  ownResources,
  toolsSetting,
  resources,
  tools,
} from "./capabilities.ts";
import { ownHeartbeat } from "./heartbeat.ts";
import { closed, duration, MAX_DURATION_MS } from "./kinds.ts";
import { agentId, role } from "./routing.ts";

const thinkingLevel = (description: string) =>
  Type.Optional(
    Type.Union(
      (["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const).map((level) => Type.Literal(level)),
      { description },
    ),
  );

function agentName() {
  return Type.String({ pattern: "^[a-z0-9-]{1,64}$", expects: "the id of an agent" });
}

const Delegation = Type.Object(
  {
    maxDepth: Type.Integer({
      default: 2,
      minimum: 0,
      maximum: 8,
      description: "How often one task may be handed on from agent to agent. 0: not at all.",
    }),
    maxPerTurn: Type.Integer({
      default: 2,
      minimum: 1,
      maximum: 64,
      description: "Agents that work for one turn at the same time.",
    }),
    maxTotal: Type.Integer({
      default: 4,
      minimum: 1,
      maximum: 64,
      description: "Agents that work for other agents at the same time, in the whole gateway.",
    }),
    timeoutMs: duration(
      300_000,
      1_000,
      "An agent that was asked and takes longer is stopped. What is left of the asking turn's own time counts too.",
    ),
  },
  { ...closed, description: "Limits of delegate_to_agent, for all agents." },
);

export const AgentSection = Type.Object(
  {
    model: modelName(
      'Model as "provider/model". Without it: the first model of models.providers, else the first provider whose key is in the environment, else the demo model.',
    ),
    thinking: thinkingLevel("How much the model thinks before it answers."),
    bridge: bridge(
      "How gateway tools reach the agents: live, also in the middle of a turn; minimal, only at its beginning; off, not at all, and pi tools and those of extensions are off too.",
    ),
    systemPrompt: Type.Optional(
      Type.String({ maxLength: 100_000, description: "Replaces the assistant's base instructions." }),
    ),
    appendSystemPrompt: Type.Optional(
      Type.String({ maxLength: 100_000, description: "Added after the base instructions." }),
    ),
    workspace: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: "The agent's working folder. Default: workspace/ in the state directory.",
      }),
    ),
    tools: tools(
      'Which tools the agents have: "chat" (the gateway\'s), "workspace" (also pi\'s read, write, edit, grep, find, ls), "full" (also pi\'s bash), or exactly those of a list. Only owners get pi tools this way; see roles.profiles.',
    ),
    ...resources,
    gatewayPrompts,
    agentDir: Type.Optional(
      Type.String({
        maxLength: 4096,
        description:
          "An existing pi folder (for example ~/.pi/agent) whose login is used. Default: agent/ in the state directory. models.providers is not written there.",
      }),
    ),
    piPath: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: "The pi to run: its executable, its package folder, or its rpc-entry.js.",
      }),
    ),
    timeoutMs: duration(600_000, 1_000, "A turn that takes longer is stopped and says so."),
    providerWaitMs: duration(
      60_000,
      0,
      "How long a turn waits at most when the model's provider refuses and says how long to wait. A longer wait ends the turn at once, and it says when to try again. 0: never.",
    ),
    delegates: Type.Array(agentName(), {
      default: [],
      maxItems: 64,
      description: "Agents that the default agent may ask with delegate_to_agent. Others do not take this over.",
    }),
    delegation: Delegation,
    pool: Type.Object(
      {
        min: Type.Integer({
          default: 1,
          minimum: 0,
          maximum: 64,
          description:
            "Spare processes of the default agent that are kept ready for whoever comes next, while max allows it.",
        }),
        max: Type.Integer({
          default: 4,
          minimum: 1,
          maximum: 64,
          description: "Agent processes at most. Each takes about 90 MB.",
        }),
        idleMs: duration(300_000, 1_000, "An unused process that is not one of the spares is stopped after this long."),
        maxSwitches: Type.Integer({
          default: 500,
          minimum: 1,
          description: "A process that has served this many sessions is replaced by a fresh one.",
        }),
        maxAgeMs: duration(21_600_000, 1_000, "A process older than this is replaced when it has no turn to finish."),
        maxRssMb: Type.Integer({
          default: 400,
          minimum: 32,
          maximum: 1_048_576,
          description: "A process that holds more memory than this after a turn is replaced. In MiB; Linux only.",
        }),
        reuse: Type.Union([Type.Literal("principal"), Type.Literal("profile")], {
          default: "principal",
          description:
            "Whom a used process may serve next: principal, only the same person; profile, anyone who talks to an agent with the same settings.",
        }),
        waitMs: duration(120_000, 100, "How long a turn waits for a free process before it says that all are busy."),
      },
      closed,
    ),
  },
  { ...closed, description: "The pi agents that answer." },
);

/** What is left out here is taken from `agent`. */
export const AgentsSection = Type.Array(
  Type.Object(
    {
      id: agentId("Its name in session keys and bindings."),
      description: Type.Optional(
        Type.String({ maxLength: 500, description: "What it is for. Told to the agents that may ask it." }),
      ),
      delegates: Type.Optional(
        Type.Array(agentName(), {
          maxItems: 64,
          description:
            "Agents that this one may ask with delegate_to_agent. Left out: none, whatever agent.delegates says.",
        }),
      ),
      model: modelName('Model as "provider/model".'),
      thinking: thinkingLevel("How much the model thinks before it answers."),
      systemPrompt: Type.Optional(Type.String({ maxLength: 100_000, description: "Replaces the base instructions." })),
      appendSystemPrompt: Type.Optional(
        Type.String({ maxLength: 100_000, description: "Added after the base instructions." }),
      ),
      workspace: Type.Optional(Type.String({ maxLength: 4096, description: "Its working folder." })),
      tools: toolsSetting("Instead of agent.tools."),
      ...ownResources,
      gatewayPrompts: ownGatewayPrompts,
      bridge: ownBridge("Instead of agent.bridge."),
      heartbeat: ownHeartbeat,
      role: role("What people may do at most when they talk to it, whatever their own role is."),
      timeoutMs: Type.Optional(
        Type.Unsafe<number>({
          anyOf: [
            { type: "integer", minimum: 1_000, maximum: MAX_DURATION_MS },
            { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" },
          ],
          duration: true,
          minimum: 1_000,
          maximum: MAX_DURATION_MS,
          description: "A turn that takes longer is stopped and says so.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  {
    default: [],
    maxItems: 64,
    description: "Agents besides `default`. What an entry leaves out is taken from `agent`.",
  },
);
