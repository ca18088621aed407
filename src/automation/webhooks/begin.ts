/** Begins what an incoming webhook asked for, as an internal message or a system event. Begun twice under one id it is there once. */
import type { InternalReceiver } from "../../contracts/automation/internal-message.ts";
import { MAX_EVENT_CHARS, type SystemEvents } from "../../contracts/automation/system-event.ts";
import { SendError } from "../../contracts/channel.ts";
import { OPERATOR, type AgentId, type Role, type SessionKey } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { SessionChat, SessionChats } from "../../contracts/channels/session-chats.ts";
import { INTERNAL_PRIORITY, internalMessage } from "../runs/internal-message.ts";
import { HOOK_CHANNEL, toRunAddress } from "../runs/run-address.ts";

import type { ParsedWebhook, Work } from "./parse-webhook.ts";

export interface BeginDeps {
  readonly clock: Clock;
  readonly sessionChats: Pick<SessionChats, "at" | "ofOwner">;
  readonly systemEvents: SystemEvents;
  readonly receiver: InternalReceiver;
  readonly names: WebhookNames;
}

/** Looks up the names that a request uses. */
export interface WebhookNames {
  isAgent(id: string): boolean;
  isTarget(name: string): boolean;
  /** A hook with settings of its own. */
  isMapping(name: string): boolean;
  /** A conversation by its key, or by a short name; it need not exist. */
  sessionKey(text: string): SessionKey;
  /** `request` null: the conversation of the hook itself. */
  sessionOf(agent: AgentId, name: string, request: string | null): SessionKey;
}

type Begun =
  { readonly kind: "begun" } | { readonly kind: "full"; readonly retryAfterMs: number } | { readonly kind: "stopping" };

const RETRY_AFTER_MS = 1_000;

/** The chat that its answer goes to, or why it cannot work. Checked before anything is written. */
export async function findChat(
  deps: BeginDeps,
  asked: ParsedWebhook,
  ofMapping: boolean,
): Promise<SessionChat | string> {
  if (asked.kind === "work") {
    const { names } = deps;
    if (!names.isAgent(asked.agent)) return `There is no agent called ${asked.agent}.`;
    if (asked.webhook !== null && !names.isTarget(asked.webhook))
      return `There is no place called ${asked.webhook} in hooks.targets.`;
    if (!ofMapping && names.isMapping(asked.name))
      return `${asked.name} is a hook of its own: POST /hooks/${asked.name}. Choose another name here.`;
  }
  if (asked.to === null) return deps.sessionChats.ofOwner();
  const chat = await deps.sessionChats.at(deps.names.sessionKey(asked.to));
  return chat ?? "There is no conversation of that key. Say something in it first.";
}

interface Beginning {
  readonly id: string;
  readonly asked: ParsedWebhook;
  readonly chat: SessionChat;
  readonly role: Role;
  readonly fingerprint: string;
}

export async function begin(deps: BeginDeps, what: Beginning, signal: AbortSignal): Promise<Begun> {
  const { id, asked, chat, role } = what;
  if (asked.kind === "work" && asked.session !== "main") return beginWork(deps, { ...what, asked }, signal);
  const name = asked.kind === "wake" ? "wake" : asked.name;
  const now = asked.kind === "work" || asked.now;
  if (asked.kind === "work") await putTask(deps, { id, asked, sessionKey: chat.sessionKey });
  const event = { id, sessionKey: chat.sessionKey, source: sourceOf(name), kind: "news", text: asked.text } as const;
  try {
    await deps.systemEvents.put(event, now ? { wake: { principal: OPERATOR, role, origin: "webhook" } } : {});
    return { kind: "begun" };
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    if (error.message === "stopping") return { kind: "stopping" };
    return { kind: "full", retryAfterMs: RETRY_AFTER_MS };
  }
}

async function beginWork(
  deps: BeginDeps,
  { id, asked, chat, role, fingerprint }: Beginning & { readonly asked: Work },
  signal: AbortSignal,
): Promise<Begun> {
  const agentId = asked.agent as AgentId;
  const sessionKey = deps.names.sessionOf(agentId, asked.name, asked.session === "request" ? id : null);
  await putTask(deps, { id, asked, sessionKey });
  const { delivery, webhook } = asked;
  const target = webhook === null ? {} : { webhook };
  const message = internalMessage({
    eventId: id,
    address: toRunAddress({ jobId: asked.name, delivery, session: chat.sessionKey, ...target }, HOOK_CHANNEL),
    scope: "dm",
    sender: { principal: OPERATOR, name: asked.name },
    text: asked.text,
    receivedAt: deps.clock.now(),
    origin: "webhook",
  });
  const receipt = await deps.receiver.put(
    { sessionKey, agentId, role, priority: INTERNAL_PRIORITY, message: { ...message, fingerprint } },
    signal,
  );
  if (receipt.kind !== "refused") return { kind: "begun" };
  if (receipt.because === "stopping") return { kind: "stopping" };
  return { kind: "full", retryAfterMs: receipt.retryAfterMs ?? RETRY_AFTER_MS };
}

/** The task is the operator's own text, so it goes into the facts, which nobody can forge; the text of the request does not. */
async function putTask(
  { systemEvents }: BeginDeps,
  { id, asked, sessionKey }: { readonly id: string; readonly asked: Work; readonly sessionKey: SessionKey },
): Promise<void> {
  if (asked.task === null) return;
  const text = asked.task.slice(0, MAX_EVENT_CHARS);
  await systemEvents.put({ id: `${id}:task`, sessionKey, source: sourceOf(asked.name), kind: "task", text }, {});
}

const sourceOf = (name: string): string => `hook ${name}`;
