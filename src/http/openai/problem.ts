/** Errors below /v1 in the form that OpenAI's SDKs read: message, type, param and code; and whether trying again helps. */
import { ERRORS, isGatewayError } from "../../contracts/errors.ts";
import { problemOf } from "../../openai/index.ts";
import { problemHeaders, wireError } from "../problem.ts";

const PREFIX = "/v1/";

export function speaksOpenAi(url: string): boolean {
  return URL.parse(url)?.pathname.startsWith(PREFIX) ?? false;
}

export function openAiError(error: unknown): object {
  const { message, type, param, code } = problemOf(error);
  return { message, type, param, code };
}

export function openAiProblem(error: unknown, requestId: string): Response {
  const headers = problemHeaders(wireError(error, requestId));
  const retry = isGatewayError(error) ? ERRORS[error.code].retry : ERRORS.internal.retry;
  headers["x-should-retry"] = String(retry === "later");
  return new Response(JSON.stringify({ error: openAiError(error) }), { status: problemOf(error).status, headers });
}
