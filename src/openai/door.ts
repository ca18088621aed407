/** The OpenAI-compatible door: agents as models, and chat completions as turns of a named session or of one that ends with the request. */
import type { AgentPool, Caller } from "../contracts/agent.ts";
import { type ApiKey, keyAllowsAgent } from "../contracts/api-keys.ts";
import type { HistoryImage, HistoryMessage } from "../contracts/client-request.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { AgentId, Principal, SessionKey, TurnId } from "../contracts/ids.ts";
import type {
  AskedCompletion,
  ChatCompletionRequest,
  Completion,
  CompletionProgress,
  ModelCard,
  OpenAiDoor,
  SessionAnswer,
} from "../contracts/openai.ts";
import type { Verdict } from "../contracts/routing.ts";
import { GO_ON } from "../kit/marks/go-on.ts";
import { withoutMarks } from "../kit/marks/markers.ts";
import type { Ids } from "../kit/ids.ts";
import { type ImageDeps, type ReadImages, readImages } from "./images.ts";
import { createRate } from "./rate.ts";
import { createRepeats } from "./repeats.ts";
import { MODEL, readRequest } from "./request.ts";
import { type RequestTurnDeps, runRequestTurn } from "./request-turn.ts";

const MS_PER_SECOND = 1_000;
/** Of requests without a session that are being answered or wait for a process. */
const MAX_OPEN = 200;
const BUSY_RETRY_MS = 2_000;

interface OpenAiDeps extends RequestTurnDeps {
  readonly ids: Ids;
  readonly pool: Pick<AgentPool, "lease">;
  readonly images: ImageDeps;
  readonly names: OpenAiNames;
  /** Who answers a program of this person that names no session, and as whom. */
  route(principal: Principal, agent: string | undefined, chat: string): Verdict;
  /** The key of a session that ends with its request. */
  sessionKey(agentId: AgentId, turnId: string): SessionKey;
}

/** Names as the configuration and the registry have them now. */
interface OpenAiNames {
  agents(): readonly string[];
  /** A tool of the gateway or of pi has this name. */
  isTool(name: string): boolean;
  digest(text: string): string;
  readonly startedAt: number;
}

export function createOpenAiDoor(deps: OpenAiDeps): OpenAiDoor {
  const { names, clock } = deps;
  const repeats = createRepeats<Completion>();
  const open = { count: 0 };
  const options = {
    isAgent: (id: string) => names.agents().includes(id),
    isTaken: names.isTool,
    digest: names.digest,
  };
  return {
    models(key) {
      const agents = names.agents().filter((id) => isFor(key, id));
      return [MODEL, ...agents.map((id) => `${MODEL}/${id}`)].map((id) => cardOf(id, names.startedAt));
    },
    read: (body, session) => readRequest(body, session, options),
    admit: createRate({ clock }),
    answer(asked, show, signal) {
      const { idempotencyKey, principal, digest } = asked;
      const key = idempotencyKey === null ? null : `${principal} ${idempotencyKey}`;
      const run = async (): Promise<Completion> => {
        const answer = await answerNow(deps, asked, { show, open }, signal);
        return { ...answer, created: Math.floor(clock.now() / MS_PER_SECOND) };
      };
      return repeats.once(key, digest, run, signal);
    },
  };
}

function cardOf(id: string, startedAt: number): ModelCard {
  return { id, object: "model", created: Math.floor(startedAt / MS_PER_SECOND), owned_by: MODEL };
}

function isFor(key: ApiKey | null, agentId: string): boolean {
  return key === null || keyAllowsAgent(key, agentId);
}

interface Answering {
  readonly open: { count: number };
  show(progress: CompletionProgress): void;
}

async function answerNow(
  deps: OpenAiDeps,
  asked: AskedCompletion,
  { show, open }: Answering,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const { request, idempotencyKey, digest } = asked;
  const { session, agent, client, prompt, history } = request;
  const images = await readImages(deps.images, { prompt: prompt.images, history }, signal);
  if (session !== null) {
    const { text, results } = prompt;
    const said = { session, agent, text, results, images: images.prompt, client, idempotencyKey, digest };
    return asked.inSession(said, show, signal);
  }
  if (open.count >= MAX_OPEN)
    throw new GatewayError("queue_full", "too many open requests", { fields: { retryAfterMs: BUSY_RETRY_MS } });
  open.count++;
  try {
    return await ownConversation(deps, { asked, images, show }, signal);
  } finally {
    open.count--;
  }
}

interface OwnConversation extends Pick<Answering, "show"> {
  readonly asked: AskedCompletion;
  readonly images: ReadImages;
}

function ownConversation(
  deps: OpenAiDeps,
  { asked: { request, principal, key }, images, show }: OwnConversation,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const { client } = request;
  const turnId = deps.ids.next("turn") as TurnId;
  const { agentId, role, priority } = routeOf(deps, { principal, key, agent: request.agent, turnId });
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

interface Asking extends Pick<AskedCompletion, "principal" | "key"> {
  readonly agent: string | undefined;
  readonly turnId: string;
}

/** A key for some agents talks to the first of them when it names none. */
function routeOf(
  { route }: OpenAiDeps,
  { principal, key, agent, turnId }: Asking,
): Extract<Verdict, { kind: "accept" }> {
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
function conversationOf({ prompt }: ChatCompletionRequest, images: ReadImages): Said {
  const results = prompt.results.map((result) => ({ role: "tool", ...result }) as const);
  const history = [...images.history, ...results].map(plain);
  const goesOn = prompt.text === "" && images.prompt.length === 0 && results.length > 0;
  return { history, text: goesOn ? GO_ON : withoutMarks(prompt.text), images: images.prompt };
}

function plain(message: HistoryMessage): HistoryMessage {
  return { ...message, text: withoutMarks(message.text) };
}
