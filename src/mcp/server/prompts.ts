/** Prompts for MCP clients: the slash commands that this caller may use, and those of plugins. A command runs in the caller's own session. */
import type { ConversationName, Conversations } from "../../contracts/conversations.ts";
import type { Commands } from "../../contracts/command.ts";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import type { McpSurface, PluginPrompt, PromptMessage } from "../../contracts/plugin.ts";
import type { Clock } from "../../kit/clock.ts";
import { type SecretMask } from "../../kit/secret.ts";
import { withinTime } from "./plugin-time.ts";
import type { RoundCall } from "./rounds.ts";
import { MAX_PARKED_MS } from "./running-calls.ts";

export interface PromptDeps {
  readonly clock: Clock;
  readonly commands: Pick<Commands, "list">;
  /** Resolves when the port is open. */
  readonly conversations: Promise<Conversations>;
  readonly surface: Pick<McpSurface, "prompts">;
  readonly mask: SecretMask;
}

interface ListedPrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly ListedArgument[];
}

interface ListedArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly values: readonly string[];
}

interface GotPrompt {
  readonly description: string;
  readonly messages: readonly PromptMessage[];
}

type PromptArguments = Readonly<Record<string, string>>;

/** A prompt may ask its client, who has so long to come back; the rest is for the plugin. */
const PLUGIN_GET_MS = MAX_PARKED_MS + 60_000;
/** What a command is told after its name. */
const ARGUMENTS = "arguments";
/** The session in which commands of MCP clients run; `ask_agent` talks in it, too. */
const SESSION = "mcp";

/** A prompt of a plugin that has the name of a command is not shown. */
export function listPrompts({ commands, surface }: PromptDeps, { caller }: McpAsking): readonly ListedPrompt[] {
  const own = commands.list(caller.role).map(({ name, help, usage }) => ({
    name,
    description: help,
    arguments: usage === undefined ? [] : [usageArgument(usage)],
  }));
  const names = new Set(own.map(({ name }) => name));
  const ofPlugins = surface.prompts().filter(({ name }) => !names.has(name));
  return [...own, ...ofPlugins.map(listed)];
}

function usageArgument(usage: string): ListedArgument {
  return { name: ARGUMENTS, description: usage, required: false, values: choicesIn(usage) };
}

/** Of a usage such as `[on|off|default]`; of any other none. */
function choicesIn(usage: string): readonly string[] {
  const choices = /^\[([\w-]+(?:\|[\w-]+)+)\]$/.exec(usage)?.[1];
  return choices?.split("|") ?? [];
}

function listed({ name, description, arguments: given = [] }: PluginPrompt): ListedPrompt {
  const known = given.map((one) => ({
    name: one.name,
    ...(one.description ? { description: one.description } : {}),
    required: one.required ?? false,
    values: one.values ?? [],
  }));
  return { name, description, arguments: known };
}

/** Null: there is no such prompt for this caller. `missing`: a required argument. */
export async function getPrompt(
  deps: PromptDeps,
  asking: McpAsking,
  { name, given }: { readonly name: string; readonly given: PromptArguments },
  call: RoundCall,
): Promise<GotPrompt | { readonly missing: string } | null> {
  const known = listPrompts(deps, asking).find((prompt) => prompt.name === name);
  if (!known) return null;
  const missing = known.arguments.find((one) => one.required && !Object.hasOwn(given, one.name));
  if (missing) return { missing: missing.name };
  const ofPlugin = deps.surface.prompts().find((prompt) => prompt.name === name);
  const isCommand = deps.commands.list(asking.caller.role).some((command) => command.name === name);
  const messages =
    ofPlugin && !isCommand
      ? await withinTime(
          deps.clock,
          PLUGIN_GET_MS,
          (signal) => ofPlugin.get({ arguments: given, caller: asking.caller, client: call.client, signal }),
          call.signal,
        )
      : [await commandReply(deps, asking, `/${name} ${given[ARGUMENTS] ?? ""}`.trim(), call)];
  return { description: known.description, messages: messages.map((message) => maskMessage(message, deps.mask)) };
}

async function commandReply(
  deps: PromptDeps,
  { caller }: McpAsking,
  text: string,
  { callId, client, signal }: RoundCall,
): Promise<PromptMessage> {
  const { sessionOf, say } = await deps.conversations;
  const named: ConversationName = { principal: caller.principal, session: SESSION };
  using _followed = client.follow(sessionOf(named));
  const reply = await say({ ...named, text, onceKey: callId }, () => undefined, signal);
  return { role: "user", content: { type: "text", text: `The gateway answers \`${text}\`:\n\n${reply.text}` } };
}

function maskMessage({ role, content }: PromptMessage, mask: SecretMask): PromptMessage {
  return "text" in content ? { role, content: { ...content, text: mask.text(content.text) } } : { role, content };
}
