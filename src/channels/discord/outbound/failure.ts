/** What went wrong in a call to Discord, in terms of what may follow. Never repeats what was said: only numbers travel. */
import { DiscordAPIError, HTTPError, RateLimitError } from "@discordjs/rest";
import { type ActionResult, SendError } from "../../../contracts/channel.ts";

export type Failure =
  | { readonly kind: "limited"; readonly retryAfterMs: number }
  | { readonly kind: "token" }
  | { readonly kind: "refused"; readonly status: number; readonly code: number }
  /** Certainly not done. */
  | { readonly kind: "unreachable"; readonly detail: string }
  /** Done or not, nobody knows. */
  | { readonly kind: "lost"; readonly detail: string };

export const CODES = {
  unknownChannel: 10003,
  unknownMessage: 10008,
  tooLarge: 40005,
  missingAccess: 50001,
  notOurs: 50005,
  missingPermissions: 50013,
} as const;

const NOT_SENT = /ConnectionRefused|FailedToOpenSocket|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|DNS/i;
const UNAUTHORIZED = 401;
const TRY_LATER: readonly number[] = [408, 425];
const UNAVAILABLE = 503;
/** What the library says after a token was refused once. */
const NO_TOKEN = /token to be set/;

export function failureOf(error: unknown): Failure {
  if (error instanceof RateLimitError) return { kind: "limited", retryAfterMs: Math.max(0, error.retryAfter) };
  if (error instanceof DiscordAPIError) {
    const { status, code } = error;
    if (status === UNAUTHORIZED) return { kind: "token" };
    if (TRY_LATER.includes(status)) return { kind: "unreachable", detail: `status ${status}` };
    return { kind: "refused", status, code: Number(code) || 0 };
  }
  if (error instanceof HTTPError) {
    const detail = `status ${error.status}`;
    return error.status === UNAVAILABLE ? { kind: "unreachable", detail } : { kind: "lost", detail };
  }
  const words = error instanceof Error ? `${"code" in error ? String(error.code) : ""} ${error.message}` : "";
  if (NO_TOKEN.test(words)) return { kind: "token" };
  return NOT_SENT.test(words)
    ? { kind: "unreachable", detail: "no connection" }
    : { kind: "lost", detail: "no answer" };
}

/** There is no such message any more. */
export function isGone(error: unknown): boolean {
  const failure = failureOf(error);
  return failure.kind === "refused" && failure.code === CODES.unknownMessage;
}

/** What the outbox is told. */
export function toSendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  const failure = failureOf(error);
  switch (failure.kind) {
    case "limited":
      return new SendError("limited", "Discord wants a pause", { retryAfterMs: failure.retryAfterMs });
    case "token":
      return new SendError("retry", "Discord refused the bot token");
    case "refused":
      return new SendError("permanent", `Discord refused it (status ${failure.status}, code ${failure.code})`);
    case "unreachable":
      return new SendError("retry", `Discord could not be reached (${failure.detail})`);
    case "lost":
      return new SendError("lost", `Discord's answer was lost (${failure.detail})`);
  }
}

/** What a model is told when something it wanted done to a message was not. */
export function toRefusal(error: unknown): ActionResult {
  const failure = failureOf(error);
  return {
    kind: "refused",
    because: failure.kind === "refused" ? refusalOf(failure.code) : "Discord did not do it just now. Try again later.",
  };
}

function refusalOf(code: number): string {
  if (code === CODES.unknownMessage) return "There is no message with that id in this chat.";
  if (code === CODES.unknownChannel || code === CODES.missingAccess) return "This chat cannot be reached any more.";
  if (code === CODES.notOurs) return "Only your own messages can be changed or deleted.";
  if (code === CODES.missingPermissions) return "The bot has no permission for that here.";
  return `Discord refused it (code ${code}).`;
}
