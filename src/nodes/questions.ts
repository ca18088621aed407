/**
 * Questions between gateways. Each has an id: it may be asked again when no answer comes, and is carried out once, because the one who is asked
 * remembers its answers for a while.
 */
import { type ErrorCode, GatewayError, isGatewayError } from "../contracts/errors.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { NodeQuestion } from "../contracts/nodes.ts";
import { background } from "../kit/background.ts";
import type { Clock } from "../kit/clock.ts";
import { type Deferred, deferred, orAborted } from "../kit/deferred.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";

interface QuestionDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  send(kind: "question" | "answer", to: InstanceId, body: Asked | Answered): void;
}

/** Longer than it takes to notice that a gateway has died. */
const ANSWER_MS = 15_000;
const ASK_AGAIN_MS = 3_000;
const REMEMBERED_MS = 60_000;
const MAX_OPEN = 1_000;

interface Asked {
  readonly id: string;
  readonly question: NodeQuestion;
  readonly body: unknown;
}

interface Answered {
  readonly id: string;
  readonly outcome: Outcome;
}

type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: ErrorCode; readonly say: string };

/** The side that asks. */
export function createAsking({ clock, ids, send }: QuestionDeps) {
  const open = new Map<string, { readonly node: InstanceId; readonly answer: Deferred<Outcome> }>();

  /** A letter may have been lost with a crash of the database. */
  const askUntil = async (post: () => void, answer: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> => {
    for (;;) {
      post();
      using again = clock.deadline(ASK_AGAIN_MS, () => AGAIN);
      try {
        return await orAborted(answer, AbortSignal.any([signal, again.signal]));
      } catch (error) {
        if (error !== AGAIN) throw error;
      }
    }
  };

  return {
    async ask(node: InstanceId, question: NodeQuestion, body: unknown): Promise<unknown> {
      if (open.size >= MAX_OPEN) throw new GatewayError("node_silent", "too many questions to other gateways are open");
      const id = ids.next("ask");
      const answer = deferred<Outcome>();
      open.set(id, { node, answer });
      using limit = clock.deadline(ANSWER_MS, () => silentError(node));
      try {
        const post = () => send("question", node, { id, question, body });
        const outcome = await askUntil(post, answer.promise, limit.signal);
        if (outcome.ok) return outcome.value;
        throw new GatewayError(outcome.code, `another gateway: ${outcome.say}`, { say: outcome.say, fields: { node } });
      } finally {
        open.delete(id);
      }
    },
    hear(letter: string): void {
      const { id, outcome } = JSON.parse(letter) as Answered;
      open.get(id)?.answer.resolve(outcome);
    },
    /** Nobody waits for the answers of a gateway that has ended. */
    gone(ended: InstanceId): void {
      for (const { node, answer } of open.values()) if (node === ended) answer.resolve(failure(silentError(node)));
    },
  };
}

type Handler = (body: unknown, from: InstanceId) => Promise<unknown>;

/** The side that is asked. */
export function createAnswering({ clock, log, send }: QuestionDeps) {
  const handlers = new Map<NodeQuestion, Handler>();
  const done = createAnswers(clock);

  const carryOut = async ({ question, body }: Asked, from: InstanceId): Promise<Outcome> => {
    const handler = handlers.get(question);
    if (!handler) return failure(new GatewayError("node_silent", `nobody answers ${question} here`));
    try {
      return { ok: true, value: (await handler(body, from)) ?? null };
    } catch (error) {
      if (!isGatewayError(error)) log.error("question of another gateway could not be answered", { question, error });
      return failure(error);
    }
  };

  return {
    answer: (question: NodeQuestion, handler: Handler) => void handlers.set(question, handler),
    hear(letter: string, from: InstanceId): void {
      const asked = JSON.parse(letter) as Asked;
      const { id } = asked;
      background(log, "answer for another gateway not sent", async () => {
        send("answer", from, { id, outcome: await done.once(id, () => carryOut(asked, from)) });
      });
    },
  };
}

const AGAIN = new Error("asked again");

export function silentError(node: InstanceId): GatewayError {
  return new GatewayError("node_silent", "another gateway has ended, or does not answer", { fields: { node } });
}

function failure(error: unknown): Outcome {
  const known = isGatewayError(error) ? error : new GatewayError("internal", "a question of another gateway failed");
  return { ok: false, code: known.code, say: known.say };
}

/** A question that comes again gets the answer that it got, or will get. */
function createAnswers(clock: Clock) {
  const known = new Map<string, { readonly at: number; readonly outcome: Promise<Outcome> }>();
  const forget = (): void => {
    for (const [id, { at }] of known) {
      if (clock.elapsed() - at < REMEMBERED_MS) return; // the others are newer
      known.delete(id);
    }
  };
  return {
    once(id: string, carryOut: () => Promise<Outcome>): Promise<Outcome> {
      forget();
      const before = known.get(id);
      if (before) return before.outcome;
      const outcome = carryOut();
      known.set(id, { at: clock.elapsed(), outcome });
      return outcome;
    },
  };
}
