/** Errors below /v1 in the form that OpenAI's SDKs read: message, type, param and code; and whether trying again helps. */
import { ERRORS, type ErrorCode, isGatewayError } from "../../contracts/errors.ts";
import { problemHeaders, wireError } from "../problem.ts";

const PREFIX = "/v1/";
/** Of a request that is not right OpenAI says 400, where the rest of this port says 422. */
const BAD_REQUESTS: ReadonlySet<ErrorCode> = new Set([
  "invalid_params",
  "empty_message",
  "file_refused",
  "agent_unknown",
]);
/** The caller is not at fault, and another request may do better. */
const LIMITED: ReadonlySet<ErrorCode> = new Set(["provider_limited"]);
const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

export function speaksOpenAi(url: string): boolean {
  return URL.parse(url)?.pathname.startsWith(PREFIX) ?? false;
}

export function openAiError(error: unknown, requestId: string): object {
  const { code, message } = wireError(error, requestId);
  const fields = isGatewayError(error) ? error.fields : {};
  const param = typeof fields["param"] === "string" ? fields["param"] : null;
  const named = typeof fields["code"] === "string" ? fields["code"] : code;
  return { message, type: typeOf(error), param, code: named };
}

export function openAiProblem(error: unknown, requestId: string): Response {
  const headers = problemHeaders(wireError(error, requestId));
  const retry = isGatewayError(error) ? ERRORS[error.code].retry : ERRORS.internal.retry;
  headers["x-should-retry"] = String(retry === "later");
  return new Response(JSON.stringify({ error: openAiError(error, requestId) }), { status: statusOf(error), headers });
}

function statusOf(error: unknown): number {
  if (!isGatewayError(error)) return ERRORS.internal.status;
  if (BAD_REQUESTS.has(error.code)) return 400;
  if (LIMITED.has(error.code)) return 429;
  const { status } = ERRORS[error.code];
  return status < 400 ? ERRORS.internal.status : status; // an answer that is none must not look like one
}

function typeOf(error: unknown): string {
  if (isGatewayError(error) && error.code === "budget_spent") return "insufficient_quota";
  const status = statusOf(error);
  return TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
}
