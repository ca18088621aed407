/** What an agent process may do and brings along: the same keys for all agents, for one agent, and for a role. */
import { Type } from "typebox";

/** `chat`: the gateway's tools. `workspace`: pi's file tools as well. `full`: pi's shell too. A list: exactly these, wherever they come from. */
export type ToolsFilter = "chat" | "workspace" | "full" | readonly string[];

const toolsNode = (description: string) => ({
  anyOf: [
    ...["chat", "workspace", "full"].map((word) => ({ const: word, type: "string" })),
    {
      type: "array",
      items: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$", expects: "the name of a tool" },
      maxItems: 200,
    },
  ],
  expects: '"chat", "workspace", "full", or a list of tool names in [ ]',
  description,
});

export const tools = (description: string) => Type.Unsafe<ToolsFilter>({ ...toolsNode(description), default: "chat" });

export const ownTools = (description: string) => Type.Optional(Type.Unsafe<ToolsFilter>(toolsNode(description)));

const bridgeModes = [Type.Literal("live"), Type.Literal("minimal"), Type.Literal("off")] as const;

/** How gateway tools reach the agents. */
export const bridge = (description: string) => Type.Union([...bridgeModes], { default: "live", description });

export const ownBridge = (description: string) => Type.Optional(Type.Union([...bridgeModes], { description }));
