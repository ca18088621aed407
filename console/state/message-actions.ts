/** What a person can do to a single message: change one that still waits, send one again, go on from one elsewhere, and react to a reply. */
import type { HttpApi } from "../../src/contracts/http-api.ts";
import { sendJson } from "../net/api.ts";
import { whyNot } from "../net/error-text.ts";
import { openKey, openSession, request, retryChat } from "./console-state.ts";

/** Null: it was changed. Otherwise why not, in words. */
export function changeMessage(id: string, text: string): Promise<string | null> {
  return whyNot(request("chat.edit", { id, text }));
}

export function react(id: string, emoji: string | null): void {
  request("chat.react", { id, emoji }).catch(() => undefined); // the reaction simply stays as it was
}

const pathOf = (action: "resend" | "branch"): string => `/api/sessions/${encodeURIComponent(openKey.value)}/${action}`;

/** Null: it is sent again from where it stood, with other words if there are any, and what came after is shown no more. */
export async function resend(message: string, text?: string): Promise<string | null> {
  const answer = await sendJson("POST", pathOf("resend"), { message, ...(text === undefined ? {} : { text }) });
  if (!answer.ok) return answer.error.message;
  retryChat();
  return null;
}

/** Null: a new conversation with everything up to this message is open. */
export async function branchAt(message: string): Promise<string | null> {
  const answer = await sendJson<HttpApi["POST /api/sessions/:key/branch"]["result"]>("POST", pathOf("branch"), {
    message,
  });
  if (!answer.ok) return answer.error.message;
  openSession(answer.value.sessionKey);
  return null;
}
