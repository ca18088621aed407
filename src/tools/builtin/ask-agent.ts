/** `ask_agent`: an MCP client talks to an agent of this gateway, in a session that goes on. Not for agents: they have `delegate_to_agent`. */
import { type TSchema, Type } from "typebox";
import type { Conversations } from "../../contracts/conversations.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { Tool, ToolFactory } from "../../contracts/tools/tool.ts";
import { closed, MINUTE_MS } from "./define.ts";

export interface AskAgentDeps {
  /** Resolves when the port is open. */
  readonly conversations: Promise<Conversations>;
  /** Whether this person, or the key behind this id, may speak with agents. */
  mayChat(principal: Principal): boolean;
}

const MAX_MESSAGE_CHARS = 32_000;
/** Of what the agent says while it works, the newest part. */
const MAX_SHOWN_CHARS = 2_000;
/** The turn ends by its own limits; this one is only for the case that it does not. */
const AT_MOST_MS = 60 * MINUTE_MS;
const SESSION = "mcp";

const PARAMETERS: TSchema = Type.Object(
  {
    message: Type.String({ minLength: 1, maxLength: MAX_MESSAGE_CHARS, description: "What to say to the agent" }),
    session: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Short name of the conversation, of a-z, 0-9 and dashes. The agent remembers what was said in it.",
        default: SESSION,
      }),
    ),
    agent: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: "Id of the agent, if not the default" }),
    ),
  },
  closed,
);
const OUTPUT: TSchema = Type.Object({ text: Type.String(), session: Type.String(), turn_id: Type.String() }, closed);

interface Asked {
  readonly message: string;
  readonly session?: string;
  readonly agent?: string;
}

export function askAgent(deps: AskAgentDeps): ToolFactory {
  const tool = toolOf(deps);
  return ({ principal }) => (deps.mayChat(principal) ? tool : null);
}

function toolOf({ conversations }: AskAgentDeps): Tool {
  return {
    name: "ask_agent",
    label: "Ask an agent",
    description: "Says something to an agent of this gateway and waits for its answer. The agent has tools of its own.",
    parameters: PARAMETERS as TSchema & Readonly<Record<string, unknown>>,
    outputSchema: OUTPUT as TSchema & Readonly<Record<string, unknown>>,
    flags: { idempotent: false, long: true },
    origins: ["mcp"],
    limit: { calls: 60, perMs: MINUTE_MS },
    timeoutMs: AT_MOST_MS,
    async execute(callId, params, signal, onUpdate, { principal, client }) {
      const { message, session = SESSION, agent } = params as Asked; // the gate has checked it
      const { sessionOf, say } = await conversations;
      const named = { principal, session, ...(agent === undefined ? {} : { agent }) };
      using _followed = client?.follow(sessionOf(named));
      let said = "";
      const show = (delta: string): void => {
        said = `${said}${delta}`.slice(-MAX_SHOWN_CHARS);
        onUpdate({ content: [{ type: "text", text: said }] });
      };
      const { text, turnId } = await say({ ...named, text: message, onceKey: callId }, show, signal);
      return { content: [{ type: "text", text }], structured: { text, session, turn_id: turnId } };
    },
  };
}
