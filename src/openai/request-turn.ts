/**
 * The turn of a request that names no session: leased from the same pool, in a session that ends with it. It is no turn of the queue, so a crash
 * leaves nothing of it to repeat or to show; the program that asked has the whole conversation.
 */
import type { AgentEvent, AgentLease, AgentPool, Caller, LeaseRequest, PromptInput } from "../contracts/agent.ts";
import type { Budget } from "../contracts/budget.ts";
import type { Usage } from "../contracts/chat.ts";
import type { ClientCall, ClientTool } from "../contracts/client-request.ts";
import { type ErrorCode, GatewayError } from "../contracts/errors.ts";
import type { CompletionProgress, GatewayCall, SessionAnswer } from "../contracts/openai.ts";
import type { TurnDelegations } from "../contracts/tools/delegation.ts";
import type { Clock } from "../kit/clock.ts";
import { maskTexts, type SecretMask } from "../kit/secret.ts";

export interface RequestTurnDeps {
  readonly clock: Clock;
  readonly pool: Pick<AgentPool, "lease">;
  readonly budget: Pick<Budget, "ask" | "bill" | "record" | "settle">;
  readonly delegations: TurnDelegations;
  /** Takes known secrets out of what goes to the program. */
  readonly mask: SecretMask;
  timeoutMs(agentId: Caller["agentId"]): number;
}

interface RequestTurn {
  readonly lease: Omit<LeaseRequest, "sessionFile" | "settledBytes" | "passing">;
  readonly prompt: PromptInput;
  show(progress: CompletionProgress): void;
}

type Ending = Extract<AgentEvent, { type: "done" | "aborted" | "failed" }>;

interface Heard {
  readonly ending: Ending;
  readonly calls: readonly ClientCall[];
  readonly toolCalls: readonly GatewayCall[];
  /** Something was shown or begun, so that another attempt would do it twice. */
  readonly begun: boolean;
}

const MAX_ATTEMPTS = 3;

class RequestDeadline extends Error {}

/** Throws GatewayError when there is no answer, and the signal's reason when it aborts. */
export async function runRequestTurn(
  deps: RequestTurnDeps,
  turn: RequestTurn,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const { clock, budget } = deps;
  const { caller } = turn.lease;
  const work = { agentId: caller.agentId, principal: caller.principal, origin: "chat" } as const;
  const paid = budget.ask(work);
  if (!paid.may) throw new GatewayError("budget_spent", paid.because, { say: paid.say });
  const timeoutMs = deps.timeoutMs(caller.agentId);
  using deadline = clock.deadline(timeoutMs, () => new RequestDeadline(`no end after ${timeoutMs} ms`));
  const until = AbortSignal.any([signal, deadline.signal]);
  const endsAt = clock.elapsed() + timeoutMs;
  using delegating = deps.delegations.open({ turnId: caller.turnId, endsAt, signal: until });
  try {
    const heard = await attempts(deps, turn, until);
    const delegated = await delegating.settle();
    const { ending } = heard;
    await budget.record(budget.bill(work, { id: caller.turnId, model: ending.model, usage: ending.usage }));
    if (ending.type === "aborted") until.throwIfAborted();
    if (ending.type !== "done") throw failureOf(ending);
    const usage = sum(ending.usage, delegated.usage);
    return answerOf(caller, heard, deps.mask.text(ending.text), usage);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RequestDeadline) throw new GatewayError("agent_timeout", error.message, { cause: error });
    throw error;
  } finally {
    budget.settle(caller.turnId);
  }
}

/** A process that died before it said or began anything is replaced. */
async function attempts(deps: RequestTurnDeps, turn: RequestTurn, signal: AbortSignal): Promise<Heard> {
  for (let attempt = 1; ; attempt++) {
    const heard = await attemptOnce(deps, turn, attempt, signal);
    const { ending } = heard;
    const again = ending.type === "failed" && ending.again && !heard.begun && attempt < MAX_ATTEMPTS;
    if (!again) return heard;
  }
}

async function attemptOnce(
  { pool, mask }: RequestTurnDeps,
  { lease: request, prompt, show }: RequestTurn,
  attempt: number,
  signal: AbortSignal,
): Promise<Heard> {
  const name = request.caller.turnId.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase();
  const sessionFile = `request-${name}-${attempt}.jsonl`;
  await using lease = await pool.lease({ ...request, sessionFile, settledBytes: 0, passing: true }, signal);
  return await hear(lease, prompt, { tools: request.caller.clientTools ?? [], mask, show }, signal);
}

interface Hearing extends Pick<RequestTurn, "show"> {
  readonly tools: readonly ClientTool[];
  readonly mask: SecretMask;
}

async function hear(
  lease: AgentLease,
  prompt: PromptInput,
  { tools, mask, show }: Hearing,
  signal: AbortSignal,
): Promise<Heard> {
  const running = new Map<string, Extract<AgentEvent, { type: "tool_start" }>>();
  const calls: ClientCall[] = [];
  const toolCalls: GatewayCall[] = [];
  const words = maskedWords(mask, show);
  let begun = false;
  for await (const event of lease.prompt(prompt, signal)) {
    if (event.type === "text") {
      begun = true;
      words.say(event.delta);
    } else if (event.type === "tool_start") {
      begun = true;
      running.set(event.callId, event);
      words.step();
    } else if (event.type === "retrying") {
      words.step();
    } else if (event.type === "tool_end") {
      const { callId, tool, isError } = event;
      const isClient = tools.some(({ name }) => name === tool);
      if (isClient && !isError) calls.push({ callId, tool, input: maskTexts(running.get(callId)?.input ?? {}, mask) });
      if (!isClient) toolCalls.push({ tool, status: isError ? "error" : "success" });
    } else if (isEnding(event)) {
      words.end();
      return { ending: event, calls, toolCalls, begun };
    }
  }
  throw new GatewayError("agent_exited", "the stream of an agent ended without an end");
}

/** What could be the beginning of a secret is held back until it is known to be none. */
function maskedWords(mask: SecretMask, show: RequestTurn["show"]) {
  let stream = mask.stream();
  const say = (delta: string): void => {
    if (delta !== "") show({ type: "text", delta });
  };
  const end = (): void => say(stream.flush());
  return {
    say: (delta: string): void => say(stream.push(delta)),
    end,
    step(): void {
      end();
      stream = mask.stream();
      show({ type: "step" });
    },
  };
}

function isEnding(event: AgentEvent): event is Ending {
  return event.type === "done" || event.type === "aborted" || event.type === "failed";
}

function failureOf(ending: Ending): GatewayError {
  if (ending.type !== "failed") return new GatewayError("provider_cut", "stopped by nobody we know");
  const { code, detail, say } = ending;
  return new GatewayError(code satisfies ErrorCode, detail, say === undefined ? {} : { say });
}

function answerOf({ turnId }: Caller, heard: Heard, text: string, usage: Usage): SessionAnswer {
  const { calls, toolCalls } = heard;
  if (text.trim() === "" && calls.length === 0) throw new GatewayError("agent_empty", "settled without text");
  return { turnId, sessionKey: null, text, calls, toolCalls, usage };
}

function sum(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0),
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
  };
}
