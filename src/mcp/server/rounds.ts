/** One request that may take several rounds: begun once, and gone on with when its client comes back with what was missing. */
import {
  inputRequired,
  type InputRequests,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { McpAsking } from "../../contracts/mcp-door.ts";
import type { ToolClient } from "../../contracts/tools/tool.ts";
import type { Ids } from "../../kit/ids.ts";
import { type CallClientDeps, createCallClient } from "./call-client.ts";
import { answeredRequests } from "./client-abilities.ts";
import type { CallStep, RunningCall, RunningCalls } from "./running-calls.ts";

/** What a client carries from one round to the next, signed. */
export interface RoundState {
  readonly call: string;
  readonly round: number;
}

export interface RoundDeps extends CallClientDeps {
  readonly ids: Ids;
  readonly calls: RunningCalls;
  readonly codec: RequestStateCodec<RoundState>;
  readonly era: "legacy" | "modern";
}

interface RoundRequest<T> {
  readonly asking: McpAsking;
  /** The method with its parameters. */
  readonly of: string;
  run(call: RoundCall): Promise<T>;
}

export interface RoundCall {
  readonly callId: string;
  readonly client: ToolClient;
  readonly signal: AbortSignal;
}

export async function inRounds<T>(
  deps: RoundDeps,
  server: Server,
  request: RoundRequest<T>,
  ctx: ServerContext,
): Promise<T | InputRequiredResult> {
  const { signal, inputResponses = {} } = ctx.mcpReq;
  const answers = answeredRequests(server.getClientCapabilities());
  const call = callOf(deps, request, answers, ctx);
  // of an older client the request stays open while it answers; its end is the end of the call, also between rounds
  if (deps.era === "legacy") signal.addEventListener("abort", () => call.cancel(signal.reason), { once: true });
  const step = await call.next(inputResponses, signal);
  if (step.kind === "ended") return step.value;
  const inputRequests = requestsOf(step);
  // the library refuses the round, with what the client would have to declare; nobody comes back for this call
  if (Object.values(inputRequests).some(({ method }) => !answers.includes(method)))
    call.cancel(new Error("the client cannot answer what the call asks for"));
  const requestState = await deps.codec.mint({ call: call.id, round: step.round }, ctx);
  return inputRequired({ inputRequests, requestState });
}

/** The tools of plugins write the parameters; the library checks their form before they are sent. */
function requestsOf({ requests }: Extract<CallStep<unknown>, { kind: "asks" }>): InputRequests {
  return requests as InputRequests;
}

function callOf<T>(
  deps: RoundDeps,
  { asking, of, run }: RoundRequest<T>,
  answers: ToolClient["answers"],
  ctx: ServerContext,
): RunningCall<T> {
  const { caller } = asking;
  const { principal } = caller;
  const state = ctx.mcpReq.requestState<RoundState>();
  const waiting = state && deps.calls.find<T>(state.call, { principal, of });
  if (waiting) return waiting;
  // after a restart, or a wait that was too long, the same id: the gate knows whether the tool has run
  const callId = state?.call ?? deps.ids.next("mcp");
  const begun = deps.calls.begin<T>({
    id: callId,
    principal,
    of,
    async run(inputs) {
      using client = createCallClient(deps, { callId, caller, answers, inputs });
      return await run({ callId, client, signal: inputs.signal });
    },
  });
  if (begun === "taken")
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This state belongs to a call with other parameters.");
  if (begun !== "full") return begun;
  throw new ProtocolError(ProtocolErrorCode.InternalError, "Too many calls are open. Try again in a moment.");
}
