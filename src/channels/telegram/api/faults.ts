/** What went wrong with a call: told apart by what is known of its effect. Nothing in here contains what was said, or the token. */
import { SendError } from "../../../contracts/channel.ts";

export type FaultInfo =
  | { readonly kind: "limited"; readonly retryAfterMs: number }
  /** Somebody else asks for the updates of this bot. */
  | { readonly kind: "conflict"; readonly detail: string }
  /** The token is not, or no longer, one of Telegram's. */
  | { readonly kind: "unauthorized" }
  | { readonly kind: "refused"; readonly code: number; readonly detail: string; readonly movedTo?: string }
  /** It said that it could not. */
  | { readonly kind: "down"; readonly detail: string }
  /** It was not reached, so nothing happened. */
  | { readonly kind: "unreached"; readonly detail: string }
  /** It may have happened or not. */
  | { readonly kind: "lost"; readonly detail: string };

export class Fault extends Error {
  override readonly name = "TelegramFault";
  readonly info: FaultInfo;

  constructor(info: FaultInfo) {
    super(wordsOf(info));
    this.info = info;
  }
}

/** Something between us and Telegram answered. */
export class NotTelegram extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

const MAX_DETAIL_CHARS = 200;
const UNREACHED =
  /^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|FailedToOpenSocket|DNS\w*|CERT_\w+|ERR_TLS\w*|UNABLE_TO\w+|SELF_SIGNED\w*|DEPTH_ZERO\w*)$/;
const NOT_PASSED_ON: readonly number[] = [502, 503];
const DEFAULT_RETRY_S = 5;

interface Answered {
  readonly error_code: number;
  readonly description: string;
  readonly parameters: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (isAnswered(error)) return new Fault(answered(error));
  const cause = inner(error);
  if (cause instanceof Fault) return cause;
  if (cause instanceof NotTelegram) {
    const kind = NOT_PASSED_ON.includes(cause.status) ? "down" : "lost";
    return new Fault({ kind, detail: `status ${cause.status} from something that is not the Bot API` });
  }
  const code = codeOf(cause);
  return new Fault({ kind: UNREACHED.test(code) ? "unreached" : "lost", detail: `network: ${code}` });
}

function answered({ error_code: code, description, parameters }: Answered): FaultInfo {
  const detail = `${code} ${description}`.slice(0, MAX_DETAIL_CHARS);
  if (code === 429) return { kind: "limited", retryAfterMs: (parameters.retry_after ?? DEFAULT_RETRY_S) * 1_000 };
  if (code === 409) return { kind: "conflict", detail };
  if (code === 401 || (code === 404 && description === "Not Found")) return { kind: "unauthorized" };
  if (code >= 500) return { kind: "down", detail };
  const moved = parameters.migrate_to_chat_id;
  return { kind: "refused", code, detail, ...(moved === undefined ? {} : { movedTo: String(moved) }) };
}

/** `repeatable`: doing it twice is the same as doing it once, so a lost answer is no doubt. */
export function toSendError(error: unknown, repeatable = false): SendError {
  if (error instanceof SendError) return error;
  const { info, message } = faultOf(error);
  if (info.kind === "limited") return new SendError("limited", message, { retryAfterMs: info.retryAfterMs });
  if (info.kind === "refused") return new SendError("permanent", message);
  if (info.kind === "lost" && !repeatable) return new SendError("lost", message);
  return new SendError("retry", message);
}

export function isRefused(error: unknown, pattern: RegExp): boolean {
  return error instanceof Fault && error.info.kind === "refused" && pattern.test(error.info.detail);
}

function wordsOf(info: FaultInfo): string {
  if (info.kind === "limited") return `Telegram asks for a pause of ${Math.ceil(info.retryAfterMs / 1_000)} s`;
  if (info.kind === "unauthorized") return "Telegram does not know this bot token";
  return info.detail;
}

function isAnswered(error: unknown): error is Answered {
  return typeof error === "object" && error !== null && "error_code" in error && "description" in error;
}

/** The library wraps what the network said. */
function inner(error: unknown): unknown {
  return typeof error === "object" && error !== null && "error" in error ? error.error : error;
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "unknown";
  if ("code" in error && typeof error.code === "string") return error.code;
  return "name" in error && typeof error.name === "string" ? error.name : "unknown";
}
