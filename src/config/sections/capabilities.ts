/** What an agent process may do and brings along: the same keys for all agents, for one agent, and for a role. */
import { Type } from "typebox";
import { flagOrText, ownFlagOrText, ownPathList, pathList } from "./kinds.ts";

/** `chat`: the gateway's tools. `workspace`: pi's file tools as well. `full`: pi's shell too. A list: exactly these, wherever they come from. */
export type ToolsFilter = "chat" | "workspace" | "full" | readonly string[];

const toolsNode = (description: string) => ({
  anyOf: [
    ...["chat", "workspace", "full"].map((word) => ({ const: word, type: "string" })),
    {
      type: "array",
      items: { type: "string", pattern: "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$", expects: "the name of a tool" },
      maxItems: 200,
    },
  ],
  expects: '"chat", "workspace", "full", or a list of tool names in [ ]',
  description,
});

export const tools = (description: string) => Type.Unsafe<ToolsFilter>({ ...toolsNode(description), default: "chat" });

export const toolsSetting = (description: string) => Type.Optional(Type.Unsafe<ToolsFilter>(toolsNode(description)));

export const modelName = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: "^[^/\\s]+/\\S+$",
      expects: 'text such as "provider/model", of at most 200 characters',
      maxLength: 200,
      description,
    }),
  );

export const workspace = (description: string) => Type.Optional(Type.String({ maxLength: 4096, description }));

/** For `agent`. */
export const resources = {
  skills: pathList(
    "Skills of pi: folders with a SKILL.md, or such files. An agent needs a tool that reads files to use them.",
  ),
  extensions: pathList(
    "Extensions of pi that the processes load besides the gateway's own. They are programs: list only what you trust.",
  ),
  promptTemplates: pathList("Prompt templates of pi: Markdown files, or folders of them. /NAME in a chat uses one."),
};

/** For an entry of `agents`. */
export const ownResources = {
  skills: ownPathList("Instead of agent.skills."),
  extensions: ownPathList("Instead of agent.extensions."),
  promptTemplates: ownPathList("Instead of agent.promptTemplates."),
};

const PART = "true for the gateway's words, false for none, or words of your own";

/** What the gateway adds to the instructions. Parts of what is not in use are left out anyway. */
export const gatewayPrompts = Type.Object(
  {
    heartbeat: flagOrText(`How a heartbeat is answered, while there are any: ${PART}.`),
    cron: flagOrText(`How a scheduled job is answered, while there are any: ${PART}.`),
    media: flagOrText(`How a file is sent, while that is possible: ${PART}.`),
  },
  { additionalProperties: false, default: {} },
);

export const ownGatewayPrompts = Type.Optional(
  Type.Object(
    {
      heartbeat: ownFlagOrText("Instead of agent.gatewayPrompts.heartbeat."),
      cron: ownFlagOrText("Instead of agent.gatewayPrompts.cron."),
      media: ownFlagOrText("Instead of agent.gatewayPrompts.media."),
    },
    { additionalProperties: false },
  ),
);

const bridgeModes = [Type.Literal("live"), Type.Literal("minimal"), Type.Literal("off")] as const;

/** How gateway tools reach the agents. */
export const bridge = (description: string) => Type.Union([...bridgeModes], { default: "live", description });

export const ownBridge = (description: string) => Type.Optional(Type.Union([...bridgeModes], { description }));
