/** `delegate_to_agent`: gives a task to another agent of this gateway and waits for its answer. Offered only to agents that may ask somebody. */
import { type TSchema, Type } from "typebox";
import type { DelegateChoice, Delegator } from "../../contracts/tools/delegation.ts";
import type { Tool, ToolFactory, ToolOrigin } from "../../contracts/tools/tool.ts";
import type { Ids } from "../../kit/ids.ts";
import { wrapUntrusted } from "../../kit/marks/untrusted.ts";
import { closed, MINUTE_MS } from "./define.ts";

export interface DelegateToolDeps {
  readonly ids: Ids;
  /** Made later than the tools. */
  delegator(): Delegator;
}

const MAX_TASK_CHARS = 32_000;
/** Of what the other agent says while it works, the newest part. */
const MAX_SHOWN_CHARS = 2_000;
/** The delegation ends by its own limits; this one is only for the case that it does not. */
const AT_MOST_MS = 60 * MINUTE_MS;
/** Wherever an agent answers. A program that calls tools has no turn that could wait. */
const ORIGINS: readonly ToolOrigin[] = ["chat", "group", "cron", "heartbeat", "webhook", "delegate"];

const PARAMETERS: TSchema = Type.Object(
  {
    agent: Type.String({ minLength: 1, maxLength: 64, description: "Id of the agent to ask" }),
    task: Type.String({
      minLength: 1,
      maxLength: MAX_TASK_CHARS,
      description: "The whole task. The other agent sees nothing of this conversation.",
    }),
    timeoutMs: Type.Optional(
      Type.Integer({ minimum: 1_000, maximum: AT_MOST_MS, description: "How long to wait for the answer at most" }),
    ),
  },
  closed,
);

export function delegateToAgent(deps: DelegateToolDeps): ToolFactory {
  return (caller) => {
    const choices = deps.delegator().choices(caller);
    return choices.length > 0 ? toolFor(deps, choices) : null;
  };
}

function toolFor({ ids, delegator }: DelegateToolDeps, choices: readonly DelegateChoice[]): Tool {
  return {
    name: "delegate_to_agent",
    label: "Ask another agent",
    description: `Gives a task to another agent and waits for its answer. Agents: ${choices.map(named).join("; ")}.`,
    parameters: PARAMETERS as TSchema & Readonly<Record<string, unknown>>,
    flags: { idempotent: false, long: true },
    origins: ORIGINS,
    limit: { calls: 60, perMs: MINUTE_MS },
    timeoutMs: AT_MOST_MS,
    async execute(callId, params, signal, onUpdate, caller) {
      const asked = params as { readonly agent: string; readonly task: string; readonly timeoutMs?: number }; // the gate has checked it
      const onText = (text: string): void =>
        onUpdate({ content: [{ type: "text", text: text.slice(-MAX_SHOWN_CHARS) }] });
      const end = await delegator().ask({ ...asked, caller, callId, onText }, signal);
      if (end.kind !== "answered") throw new Error(end.say);
      const text = wrapUntrusted(ids, { source: `agent ${end.agentId}`, text: end.text });
      return { content: [{ type: "text", text }] };
    },
  };
}

function named({ agentId, description }: DelegateChoice): string {
  return description === "" ? agentId : `${agentId} (${description})`;
}
