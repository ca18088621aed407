/** A message that is a command: found in its turn, and answered there by the gateway, with the agent in hand when it needs one. */
import type { AgentLease, Compaction } from "../contracts/agent.ts";
import type { CommandContext, Commands, FoundCommand } from "../contracts/command.ts";
import type { Batch } from "../contracts/queue.ts";
import { addUsage, commandEnd, NOTHING_USED } from "./ending/turn-ending.ts";

export interface AskedCommand {
  readonly commands: Commands;
  readonly found: FoundCommand;
  readonly context: CommandContext;
  /** The command needs the agent, and its sender may use it. */
  readonly errand: boolean;
}

/** A command is always alone in its turn. */
export function commandIn({ commands }: { readonly commands: Commands }, batch: Batch): AskedCommand | null {
  const [first, second] = batch.entries;
  const found = first && !second && !first.overflow ? commands.findFor(first.message, batch.agentId) : null;
  if (!first || !found) return null;
  const { sessionKey, agentId, turnId, role, sessionFile } = batch;
  const context = { sessionKey, agentId, turnId, role, sessionFile: sessionFile.name, message: first.message };
  const errand = commands.workKind({ message: first.message, role, agentId }) === "errand";
  return { commands, found, context, errand };
}

/** Usage of the model counts as the cost of the turn. */
export async function runErrand({ commands, found, context }: AskedCommand, lease: AgentLease, signal: AbortSignal) {
  let usage = NOTHING_USED;
  let model = "";
  const compact = async (instructions: string): Promise<Compaction> => {
    const result = await lease.compact(instructions, signal);
    if (result.kind === "done") ({ usage, model } = { usage: addUsage(usage, result.usage), model: result.model });
    return result;
  };
  const text = await commands.answer(found, { ...context, agent: { compact } }, signal);
  return { end: commandEnd(text, usage, model), done: model !== "" };
}
