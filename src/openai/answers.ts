/** Runs what a request asks for: as a message of the session that it names, or as a turn of a session that ends with it. Both APIs ask here. */
import type { AgentPool, Caller } from "../contracts/agent.ts";
import { type ApiKey, keyAllowsAgent } from "../contracts/api-keys.ts";
import type { HistoryImage, HistoryMessage } from "../contracts/client-request.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type { AskedTurn, Asking, CompletionProgress, RequestedTurn, SessionAnswer } from "../contracts/openai.ts";
import type { Verdict } from "../contracts/routing.ts";
import type { Ids } from "../kit/ids.ts";
import { GO_ON } from "../kit/marks/go-on.ts";
import { withoutMarks } from "../kit/marks/markers.ts";
import { type ImageDeps, type ReadImages, readImages } from "./images.ts";
import { createFairLimit } from "./fair-limit.ts";
import { type RequestTurnDeps, runRequestTurn } from "./request-turn.ts";

/** Of requests without a session that are being answered or wait for a process. */
const MAX_OPEN = 200;
const BUSY_RETRY_MS = 2_000;

interface AnswerDeps extends RequestTurnDeps {
  readonly ids: Ids;
  readonly pool: Pick<AgentPool, "lease">;
  readonly images: ImageDeps;
  /** Who answers a program of this person that names no session, and as whom. */
  route(principal: Principal, agent: string | undefined, chat: string): Verdict;
  /** The key of a session that ends with its request. */
  sessionKey(agentId: AgentId, turnId: string): SessionKey;
}

export interface Answers {
  /** Throws GatewayError, or `signal.reason`: then the turn is stopped. */
  answer(asked: AskedTurn, show: (progress: CompletionProgress) => void, signal: AbortSignal): Promise<SessionAnswer>;
  /** Which agent would answer, and as whom it would work. Throws GatewayError `forbidden`. */
  routed(asking: Routing): Accepted;
}

interface Routing extends Pick<Asking, "principal" | "key"> {
  readonly agent: string | undefined;
}

type Accepted = Extract<Verdict, { kind: "accept" }>;

export function createAnswers(deps: AnswerDeps): Answers {
  const admitOne = createFairLimit(MAX_OPEN);
  return {
    routed: (asking) => routeOf(deps, asking, deps.ids.next("turn")),
    async answer(asked, show, signal) {
      const { request, idempotencyKey, digest } = asked;
      const { session, agent, client, prompt, history } = request;
      const images = await readImages(deps.images, { prompt: prompt.images, history }, signal);
      if (session !== null) {
        const { text, results } = prompt;
        const said = { session, agent, text, results, images: images.prompt, client, idempotencyKey, digest };
        return asked.inSession(said, show, signal);
      }
      using admitted = admitOne(asked.principal);
      if (admitted === null)
        throw new GatewayError("queue_full", "too many open requests", { fields: { retryAfterMs: BUSY_RETRY_MS } });
      return await ownConversation(deps, { asked, images, show }, signal);
    },
  };
}

export function isFor(key: ApiKey | null, agentId: string): boolean {
  return key === null || keyAllowsAgent(key, agentId);
}

interface OwnConversation {
  readonly asked: AskedTurn;
  readonly images: ReadImages;
  show(progress: CompletionProgress): void;
}

function ownConversation(
  deps: AnswerDeps,
  { asked: { request, principal, key }, images, show }: OwnConversation,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const { client } = request;
  const turnId = deps.ids.next("turn") as TurnId;
  const { agentId, role, priority } = routeOf(deps, { principal, key, agent: request.agent }, turnId);
  const caller: Caller = {
    sessionKey: deps.sessionKey(agentId, turnId),
    turnId,
    agentId,
    principal,
    role,
    origin: { channel: "api", account: "default", chat: turnId },
    scope: "dm",
    ...(client.tools.length > 0 ? { clientTools: client.tools } : {}),
  };
  const said = conversationOf(request, images);
  const prompt = {
    text: said.text,
    images: said.images,
    ...(client.instructions === "" ? {} : { instructions: client.instructions }),
  };
  return runRequestTurn(deps, { lease: { caller, priority, history: said.history }, prompt, show }, signal);
}

/** A key for some agents talks to the first of them when it names none. */
function routeOf({ route }: Pick<AnswerDeps, "route">, { principal, key, agent }: Routing, turnId: string): Accepted {
  const chosen = route(principal, agent, turnId);
  const isOut = chosen.kind === "accept" && !isFor(key, chosen.agentId);
  const verdict = isOut && agent === undefined ? route(principal, key?.agents[0], turnId) : chosen;
  if (verdict.kind === "refuse") throw new GatewayError("forbidden", verdict.because, { say: verdict.say });
  if (isFor(key, verdict.agentId)) return verdict;
  const say = `This key is not for the agent ${verdict.agentId}.`;
  throw new GatewayError("forbidden", "beyond the reach of the key", { say });
}

interface Said {
  readonly history: readonly HistoryMessage[];
  readonly text: string;
  readonly images: readonly HistoryImage[];
}

/** Results of calls are part of what was said before. Without anything new after them the model just goes on. */
function conversationOf({ prompt }: RequestedTurn, images: ReadImages): Said {
  const results = prompt.results.map((result) => ({ role: "tool", ...result }) as const);
  const history = [...images.history, ...results].map(plain);
  const goesOn = prompt.text === "" && images.prompt.length === 0 && results.length > 0;
  return { history, text: goesOn ? GO_ON : withoutMarks(prompt.text), images: images.prompt };
}

function plain(message: HistoryMessage): HistoryMessage {
  return { ...message, text: withoutMarks(message.text) };
}
