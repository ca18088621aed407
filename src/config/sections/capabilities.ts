/** What an agent process may do and brings along: the same keys for all agents, for one agent, and for a role. */
import { Type } from "typebox";
import { choice, closed, flagOrText, pathList, text } from "./kinds.ts";

/**
 * `chat`: the gateway's tools. `files`: pi's file tools as well. `workspace`: and a shell inside the sandbox. `full`: a shell whose every call
 * is asked for. A list: exactly these, wherever they come from.
 */
export type ToolsFilter = "chat" | "files" | "workspace" | "full" | readonly string[];

export const tools = (description: string) =>
  Type.Unsafe<ToolsFilter>({
    anyOf: [
      ...["chat", "files", "workspace", "full"].map((word) => ({ const: word, type: "string" })),
      {
        type: "array",
        items: { type: "string", pattern: "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$", expects: "the name of a tool" },
        maxItems: 200,
      },
    ],
    expects: '"chat", "files", "workspace", "full", or a list of tool names in [ ]',
    description,
  });

const MODEL_NAME = {
  pattern: "^[^/\\s]+/\\S+$",
  expects: 'text such as "provider/model", of at most 200 characters',
  maxLength: 200,
};

export const modelName = (description: string) => Type.Optional(text(MODEL_NAME, description));

/** Of `agent`, and of one agent. */
export const fallbacks = (options: { readonly default?: readonly string[] }) =>
  Type.Array(Type.String(MODEL_NAME), {
    ...options,
    maxItems: 8,
    description:
      'Models that answer when the one before fails before its first word, as "provider/model", in this order: it is limited, down, silent for fallbackAfterMs, or its key is refused.',
  });

/** For `agent`. */
export const resources = {
  skills: pathList(
    { default: [] },
    "Skills of pi: folders with a SKILL.md, or such files. An agent needs a tool that reads files to use them.",
  ),
  extensions: pathList(
    { default: [] },
    "Extensions of pi that the processes load besides the gateway's own. They are programs: list only what you trust.",
  ),
  promptTemplates: pathList(
    { default: [] },
    "Prompt templates of pi: Markdown files, or folders of them. /NAME in a chat uses one.",
  ),
};

/** For an entry of `agents`. */
export const ownResources = {
  skills: Type.Optional(pathList({}, "Instead of agent.skills.")),
  extensions: Type.Optional(pathList({}, "Instead of agent.extensions.")),
  promptTemplates: Type.Optional(pathList({}, "Instead of agent.promptTemplates.")),
};

const PART = "true for the gateway's words, false for none, or words of your own";

/** What the gateway adds to the instructions. Parts of what is not in use are left out anyway. */
export const gatewayPrompts = Type.Object(
  {
    heartbeat: flagOrText({ default: true }, `How a heartbeat is answered, while there are any: ${PART}.`),
    cron: flagOrText({ default: true }, `How a scheduled job is answered, while there are any: ${PART}.`),
    media: flagOrText({ default: true }, `How a file is sent, while that is possible: ${PART}.`),
  },
  closed,
);

export const ownGatewayPrompts = Type.Optional(
  Type.Object(
    {
      heartbeat: Type.Optional(flagOrText({}, "Instead of agent.gatewayPrompts.heartbeat.")),
      cron: Type.Optional(flagOrText({}, "Instead of agent.gatewayPrompts.cron.")),
      media: Type.Optional(flagOrText({}, "Instead of agent.gatewayPrompts.media.")),
    },
    { additionalProperties: false },
  ),
);

/** How gateway tools reach the agents. */
export const bridge = (options: { readonly default?: "live" }, description: string) =>
  choice({ of: ["live", "minimal", "off"], ...options }, description);
