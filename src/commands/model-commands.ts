/** What people say about the model of a conversation: which one, how much it thinks, and that it shall summarise what was said. */
import { type Caller } from "../contracts/agent.ts";
import { THINKING_LEVELS } from "../contracts/session-settings.ts";
import type { Command, CommandContext, LastStats } from "../contracts/command.ts";
import { isGatewayError } from "../contracts/errors.ts";
import type { Events } from "../contracts/events.ts";
import type { AgentId } from "../contracts/ids.ts";
import type { SessionModels } from "../contracts/session-models.ts";
import type { Store } from "../contracts/store.ts";
import { compactionText, levelText, modelList, notFoundText } from "./model-replies.ts";
import { MEMBERS } from "./roles.ts";

export interface ModelCommandDeps {
  readonly events: Events;
  readonly store: Pick<Store, "sessions">;
  readonly stats: LastStats;
  readonly models: SessionModels;
  /** What the configuration says; null where it leaves the choice to pi. */
  configured(agentId: AgentId): { readonly model: string | null; readonly thinking: string | null };
}

const UNKNOWN = "whatever pi chooses; it is known after the next answer";
const FOR_OWNERS = "Only an owner of this gateway can change that, because it changes what an answer costs.";

export function modelCommands(deps: ModelCommandDeps): readonly Command[] {
  return [
    {
      name: "model",
      usage: "[name|default]",
      help: "Which model answers here, and which can be chosen",
      roles: MEMBERS,
      run: (args, context, signal) => orReason(() => model(deps, args, context, signal)),
    },
    {
      name: "think",
      usage: `[${[...THINKING_LEVELS, "default"].join("|")}]`,
      help: "How much the model thinks before it answers here",
      roles: MEMBERS,
      run: (args, context, signal) => orReason(() => think(deps, args, context, signal)),
    },
    {
      name: "compact",
      usage: "[what to keep]",
      help: "Have what was said so far summarised, to make room in the model's context",
      roles: MEMBERS,
      needsAgent: true,
      async run(args, { agent }) {
        return compactionText((await agent?.compact(args)) ?? { kind: "nothing" });
      },
    },
  ];
}

/** No agent could say what there is: that is an answer, and nothing was changed. */
async function orReason(run: () => Promise<string>): Promise<string> {
  try {
    return await run();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return `Nothing was changed. ${error.say}`;
  }
}

async function model(
  deps: ModelCommandDeps,
  args: string,
  context: CommandContext,
  signal: AbortSignal,
): Promise<string> {
  const { sessionKey, agentId, role } = context;
  const own = withoutChoice(deps, context).model;
  const chosen = (await deps.store.sessions.get(sessionKey))?.model;
  if (args === "") {
    const now = chosen ? `Model: ${chosen}, chosen for this conversation.` : `Model: ${own ?? UNKNOWN}.`;
    if (role !== "owner") return now;
    return `${now}\n\n${modelList(await deps.models.offer(callerOf(context), signal), chosen ?? own)}`;
  }
  if (role !== "owner") return FOR_OWNERS;
  if (args.toLowerCase() === "default") {
    await change(deps, context, { model: null });
    return `This conversation has the model of its agent again: ${deps.configured(agentId).model ?? UNKNOWN}.`;
  }
  const found = await deps.models.find(callerOf(context), args, signal);
  if (found.kind !== "found") return notFoundText(args, found);
  await change(deps, context, { model: found.model.name });
  return `Model: ${found.model.name}, for this conversation from the next message on. \`/model default\` goes back.`;
}

async function think(
  deps: ModelCommandDeps,
  args: string,
  context: CommandContext,
  signal: AbortSignal,
): Promise<string> {
  const own = withoutChoice(deps, context);
  const session = await deps.store.sessions.get(context.sessionKey);
  if (args === "") {
    if (session?.thinking) return `Thinking: ${session.thinking}, chosen for this conversation.`;
    return `Thinking: ${own.thinking ?? UNKNOWN}.`;
  }
  if (context.role !== "owner") return FOR_OWNERS;
  if (args.toLowerCase() === "default") {
    await change(deps, context, { thinking: null });
    return "The model thinks as much as the agent's settings say again.";
  }
  const asked = { words: args, model: session?.model ?? own.model };
  const found = await deps.models.findLevel(callerOf(context), asked, signal);
  if (found.kind !== "found") return levelText(args, found);
  await change(deps, context, { thinking: found.level });
  return `Thinking: ${found.level}, for this conversation from the next message on. \`/think default\` goes back.`;
}

/** What holds without a choice for this conversation; what the agent said last is older than the configuration may be. */
function withoutChoice({ configured, stats }: ModelCommandDeps, { agentId, sessionFile }: CommandContext) {
  const { model: set, thinking } = configured(agentId);
  const said = stats.of(sessionFile);
  return { model: set ?? said?.model ?? null, thinking: thinking ?? said?.thinking ?? null };
}

async function change(
  { store, events }: ModelCommandDeps,
  { sessionKey }: CommandContext,
  settings: Parameters<Store["sessions"]["configure"]>[1],
): Promise<void> {
  await store.sessions.configure(sessionKey, settings);
  events.emit("status", { what: "sessions" });
}

function callerOf({ sessionKey, turnId, agentId, role, message }: CommandContext): Caller {
  return { sessionKey, turnId, agentId, role, principal: message.sender.principal, origin: message.address };
}
