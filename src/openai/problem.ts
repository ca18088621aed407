/** What went wrong, in the form that programs written for OpenAI's APIs read. Pure. */
import { ERRORS, type ErrorCode, isGatewayError } from "../contracts/errors.ts";

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

export interface Problem {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

export function problemOf(error: unknown): Problem {
  const status = statusOf(error);
  if (!isGatewayError(error))
    return { status, message: ERRORS.internal.say, type: typeOf(error, status), param: null, code: "internal" };
  const { param, code } = error.fields;
  return {
    status,
    message: error.say,
    type: typeOf(error, status),
    param: typeof param === "string" ? param : null,
    code: typeof code === "string" ? code : error.code,
  };
}

function statusOf(error: unknown): number {
  if (!isGatewayError(error)) return ERRORS.internal.status;
  if (BAD_REQUESTS.has(error.code)) return 400;
  if (LIMITED.has(error.code)) return 429;
  const { status } = ERRORS[error.code];
  return status < 400 ? ERRORS.internal.status : status; // an answer that is none must not look like one
}

function typeOf(error: unknown, status: number): string {
  if (isGatewayError(error) && error.code === "budget_spent") return "insufficient_quota";
  return TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
}
