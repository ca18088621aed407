/** A person's answer to what a running turn wants to know, the same for the API and the socket. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { OpenQuestion } from "../../contracts/channels/question.ts";
import type { Identity } from "../access/auth.ts";
import { maySee, roleIn } from "../access/key-reach.ts";
import type { HttpDeps } from "../types.ts";

const MAX_ANSWER_CHARS = 32_000;

export const ANSWER = Type.Union([Type.String({ maxLength: MAX_ANSWER_CHARS }), Type.Boolean(), Type.Null()]);

type Answerer = Pick<Identity, "principal" | "key">;

/** Of the sessions that the caller may see, and their own in a request that names no session. */
export function openQuestions({ tools }: Pick<HttpDeps, "tools">, asking: Answerer): readonly OpenQuestion[] {
  const isSeen = ({ sessionKey, principal }: OpenQuestion): boolean =>
    maySee(asking, sessionKey) || principal === asking.principal;
  return tools.questions.pending().filter(isSeen);
}

/** Throws `not_found` for a question that is over, and `invalid_params` for what is no answer to it. */
export async function answerQuestion(
  { tools }: Pick<HttpDeps, "tools">,
  { id, answer }: { readonly id: string; readonly answer: string | boolean | null },
  asking: Answerer,
): Promise<{ readonly said: string }> {
  const isSeen = openQuestions({ tools }, asking).some((question) => question.id === id);
  const by = { principal: asking.principal, role: roleIn(asking) };
  const verdict = isSeen ? await tools.questions.answerAnywhere(id, { kind: "value", value: answer }, by) : null;
  if (verdict?.kind === "taken") return { said: verdict.say };
  if (verdict?.because === "unfit") throw new GatewayError("invalid_params", "no such answer", { say: verdict.say });
  throw new GatewayError("not_found", "no such open question", {
    say: "This question is over: somebody has answered it, it ran out of time, or its turn has ended.",
  });
}
