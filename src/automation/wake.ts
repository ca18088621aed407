/** Puts text into a session that no person wrote there, and wakes it on demand: for people and programs, and for parts of the gateway. */
import type { JobsApi, TellMain, WakeAnswer, WakeText } from "../contracts/automation/jobs.ts";
import type { SystemEvents } from "../contracts/automation/system-event.ts";
import type { SessionChats } from "../contracts/channels/session-chats.ts";
import { OPERATOR } from "../contracts/ids.ts";
import type { Ids } from "../kit/ids.ts";

interface WakeDeps {
  readonly ids: Ids;
  readonly sessionChats: Pick<SessionChats, "at" | "ofOwner">;
  readonly systemEvents: SystemEvents;
}

const MAX_WAKE_CHARS = 8_000;

/** Text of a person or program is a task, with their own rights. */
export function createWake({ ids, sessionChats, systemEvents }: WakeDeps): JobsApi["wake"] {
  return async ({ text, mode }, { principal, role, sessionKey }) => {
    const refusal = refusalOf(text);
    if (refusal) return refusal;
    const chat = (sessionKey && (await sessionChats.at(sessionKey))) ?? (await sessionChats.ofOwner());
    const event = { id: ids.next("event"), sessionKey: chat.sessionKey, source: "wake", kind: "task", text } as const;
    await systemEvents.put(event, mode === "now" ? { wake: { principal, role } } : {});
    return { kind: "ok", sessionKey: chat.sessionKey };
  };
}

/** Text of a part of the gateway is news, never a task, in the operator's session and with the operator's rights. */
export function createTellMain({ ids, sessionChats, systemEvents }: WakeDeps): TellMain {
  return async (source: string, { text, mode }: WakeText) => {
    const refusal = refusalOf(text);
    if (refusal) return refusal;
    const { sessionKey } = await sessionChats.ofOwner();
    const event = { id: ids.next("event"), sessionKey, source, kind: "news", text } as const;
    await systemEvents.put(event, mode === "now" ? { wake: { principal: OPERATOR, role: "owner" } } : {});
    return { kind: "ok", sessionKey };
  };
}

function refusalOf(text: string): Extract<WakeAnswer, { kind: "refused" }> | null {
  if (text.trim() === "") return { kind: "refused", say: "Say what the assistant should know." };
  if (text.length <= MAX_WAKE_CHARS) return null;
  return { kind: "refused", say: `A wake has ${MAX_WAKE_CHARS} characters at most.` };
}
