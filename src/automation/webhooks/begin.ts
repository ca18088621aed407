/** Begins what a hook asked for, by the same way as everything else that nobody typed. Begun twice under one id it is there once. */
import type { InternalReceiver } from "../../contracts/automation/internal-message.ts";
import { MAX_EVENT_CHARS, type SystemEvents } from "../../contracts/automation/system-event.ts";
import { SendError } from "../../contracts/channel.ts";
import { OPERATOR, type AgentId, type Role, type SessionKey } from "../../contracts/ids.ts";
import type { Clock } from "../../kit/clock.ts";
import type { SessionChat, SessionChats } from "../../contracts/channels/session-chats.ts";
import { HOOK_CHANNEL, toRunAddress } from "../runs/run-address.ts";
import { OWN_PRIORITY } from "../runs/system-events.ts";
import type { Wish, Work } from "./wishes.ts";

export interface BeginDeps {
  readonly clock: Clock;
  readonly sessionChats: Pick<SessionChats, "at" | "ofOwner">;
  readonly systemEvents: SystemEvents;
  readonly receiver: InternalReceiver;
  readonly names: WebhookNames;
}

/** What names in a request mean. */
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

/** The conversation its words go to, or why it cannot work. Looked at before anything is written. */
export async function findChat(deps: BeginDeps, wish: Wish, ofMapping: boolean): Promise<SessionChat | string> {
  if (wish.kind === "work") {
    const { names } = deps;
    if (!names.isAgent(wish.agent)) return `There is no agent called ${wish.agent}.`;
    if (wish.webhook !== null && !names.isTarget(wish.webhook))
      return `There is no place called ${wish.webhook} in hooks.targets.`;
    if (!ofMapping && names.isMapping(wish.name))
      return `${wish.name} is a hook of its own: POST /hooks/${wish.name}. Choose another name here.`;
  }
  if (wish.to === null) return deps.sessionChats.ofOwner();
  const chat = await deps.sessionChats.at(deps.names.sessionKey(wish.to));
  return chat ?? "There is no conversation of that key. Say something in it first.";
}

interface Beginning {
  readonly id: string;
  readonly wish: Wish;
  readonly chat: SessionChat;
  readonly role: Role;
  readonly fingerprint: string;
}

export async function begin(deps: BeginDeps, what: Beginning, signal: AbortSignal): Promise<Begun> {
  const { id, wish, chat, role } = what;
  if (wish.kind === "work" && wish.session !== "main") return beginWork(deps, { ...what, wish }, signal);
  const name = wish.kind === "wake" ? "wake" : wish.name;
  const now = wish.kind === "work" || wish.now;
  if (wish.kind === "work") await putTask(deps, { id, wish, sessionKey: chat.sessionKey });
  const event = { id, sessionKey: chat.sessionKey, source: sourceOf(name), kind: "news", text: wish.text } as const;
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
  { id, wish, chat, role, fingerprint }: Beginning & { readonly wish: Work },
  signal: AbortSignal,
): Promise<Begun> {
  const agentId = wish.agent as AgentId;
  const sessionKey = deps.names.sessionOf(agentId, wish.name, wish.session === "request" ? id : null);
  await putTask(deps, { id, wish, sessionKey });
  const { delivery, webhook } = wish;
  const target = webhook === null ? {} : { webhook };
  const message = {
    eventId: id,
    fingerprint,
    address: toRunAddress({ jobId: wish.name, delivery, session: chat.sessionKey, ...target }, HOOK_CHANNEL),
    scope: "dm",
    sender: { principal: OPERATOR, name: wish.name },
    text: wish.text,
    quoted: [],
    attachments: [],
    mentioned: true,
    receivedAt: deps.clock.now(),
    origin: "webhook",
  } as const;
  const receipt = await deps.receiver.put({ sessionKey, agentId, role, priority: OWN_PRIORITY, message }, signal);
  if (receipt.kind !== "refused") return { kind: "begun" };
  if (receipt.because === "stopping") return { kind: "stopping" };
  return { kind: "full", retryAfterMs: receipt.retryAfterMs ?? RETRY_AFTER_MS };
}

/** The operator's own words are part of the facts, which nobody can forge; what was sent is not. */
async function putTask(
  { systemEvents }: BeginDeps,
  { id, wish, sessionKey }: { readonly id: string; readonly wish: Work; readonly sessionKey: SessionKey },
): Promise<void> {
  if (wish.task === null) return;
  const text = wish.task.slice(0, MAX_EVENT_CHARS);
  await systemEvents.put({ id: `${id}:task`, sessionKey, source: sourceOf(wish.name), kind: "task", text }, {});
}

const sourceOf = (name: string): string => `hook ${name}`;
