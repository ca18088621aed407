/**
 * Message in: is it an answer to a question? → check → route → store → tell everyone who watches, plugins too. Only then is the sender told
 * "accepted".
 */
import type { InternalReceiver } from "../contracts/automation/internal-message.ts";
import type { Channel, ChatReceiver, Receipt, Receiver, RefusedBecause } from "../contracts/channel.ts";
import type { Questions } from "../contracts/channels/question.ts";
import type { InboundMessage } from "../contracts/chat.ts";
import type { Commands } from "../contracts/command.ts";
import type { Events } from "../contracts/events.ts";
import type { InboxId, SessionKey } from "../contracts/ids.ts";
import type { Hooks } from "../contracts/plugin-hooks.ts";
import type { Queue, QueueEntry } from "../contracts/queue.ts";
import type { Router, Verdict } from "../contracts/routing.ts";
import { ERRORS } from "../contracts/errors.ts";
import type { Log } from "../kit/log.ts";
import { answeredText, withQuoted } from "../kit/marks/quoted.ts";
import { answerQuestion } from "./questions/answer-question.ts";

export interface ReceiverDeps {
  readonly log: Log;
  readonly events: Events;
  readonly router: Router;
  readonly queue: Queue;
  readonly channels: { get(id: string): Pick<Channel, "canRefuse"> | undefined };
  readonly commands: Pick<Commands, "find">;
  readonly questions: Pick<Questions, "hearAnywhere" | "pending">;
  readonly hooks: Pick<Hooks, "tell">;
}

interface ReceiverLimits {
  readonly maxMessageChars: number;
}

/** The ways in: `receive` for the console and the API, `receiveChat` for platforms, `put` for the gateway itself. */
export interface MessageReceiver extends Receiver, ChatReceiver, InternalReceiver {}

/** `stopping` refuses new messages while the gateway drains. */
export function createReceiver(
  deps: ReceiverDeps,
  limits: () => ReceiverLimits,
  stopping: AbortSignal,
): MessageReceiver {
  const receive = async (message: InboundMessage): Promise<Receipt> => {
    const refusal = refuse(message, limits(), stopping);
    if (refusal) return refusal;

    const verdict = deps.router.decide(message);
    if (verdict.kind === "refuse") {
      const level = verdict.tell === "nothing" ? "debug" : "warn"; // a group talks all day without meaning us
      deps.log[level]("message refused", { channel: message.address.channel, because: verdict.because });
      return { kind: "refused", because: refusedBecause(verdict), say: verdict.say };
    }

    const { sessionKey, agentId, role, priority } = verdict;
    const whenFull = deps.channels.get(message.address.channel)?.canRefuse === false ? "keep" : "refuse";
    const receipt = await accept(deps, { sessionKey, agentId, role, priority, message, whenFull });
    if (receipt.kind === "queued") {
      deps.log.debug("message routed", { inboxId: receipt.id, agentId, because: verdict.because });
      tellPlugins(deps, sessionKey, message);
    }
    return receipt;
  };
  return {
    receive,
    async receiveChat(message) {
      return (await answerQuestion(deps, message)) ?? receive(message);
    },
    async put(entry) {
      if (stopping.aborted) return { kind: "refused", because: "stopping", say: ERRORS.stopping.say };
      return accept(deps, entry);
    },
  };
}

function refuse(message: InboundMessage, limits: ReceiverLimits, stopping: AbortSignal): Receipt | null {
  if (stopping.aborted) return { kind: "refused", because: "stopping", say: ERRORS.stopping.say };
  const texts = [message.text, ...message.quoted.map(({ text }) => text)];
  if (texts.every((text) => text.trim() === "") && message.attachments.length === 0) {
    return { kind: "refused", because: "empty", say: ERRORS.empty_message.say };
  }
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  if (chars > limits.maxMessageChars) {
    const say = `The message has ${chars} characters; the gateway takes ${limits.maxMessageChars} at most. Shorten it, or raise queue.maxMessageChars.`;
    return { kind: "refused", because: "too_long", say };
  }
  return null;
}

function refusedBecause({ because, tell }: Extract<Verdict, { kind: "refuse" }>): RefusedBecause {
  if (tell === "nothing") return "ignored";
  return because === "unknown_agent" ? "unknown_agent" : "not_allowed";
}

/** Stores the message, or says why not. Whoever watches is told after it is stored, never before. */
async function accept(deps: ReceiverDeps, entry: QueueEntry): Promise<Receipt> {
  const { sessionKey, message } = entry;
  const accepted = await deps.queue.accept(entry);
  if (accepted.kind === "full") {
    const because = accepted.because === "session" ? "session_full" : "gateway_full";
    return { kind: "refused", because, say: ERRORS.queue_full.say, retryAfterMs: accepted.retryAfterMs };
  }
  if (accepted.kind === "duplicate") {
    const sameContent = accepted.fingerprint === message.fingerprint;
    return { kind: "duplicate", id: accepted.id, sessionKey, sameContent };
  }
  announce(deps, accepted.id, sessionKey, message);
  return { kind: "queued", id: accepted.id, sessionKey, position: accepted.position };
}

function announce(deps: ReceiverDeps, id: InboxId, sessionKey: SessionKey, message: InboundMessage): void {
  const { attachments, receivedAt, origin = "chat" } = message;
  const { text, replyTo } = answeredText(message.text, message.quoted);
  const answered = replyTo === undefined ? {} : { replyTo };
  const item = { id, inboxId: id, role: "user", text, attachments, at: receivedAt, turnId: null, ...answered } as const;
  deps.events.emit("message", { sessionKey, item: origin === "chat" ? item : { ...item, origin } });
  deps.log.debug("message accepted", { inboxId: id, sessionKey, channel: message.address.channel, chars: text.length });
}

/** `message_received`: for what was accepted, not for repeats and refusals. */
function tellPlugins({ hooks }: Pick<ReceiverDeps, "hooks">, sessionKey: SessionKey, message: InboundMessage): void {
  const { address: from, sender } = message;
  const text = withQuoted(message.text, message.quoted);
  hooks.tell("message_received", { sessionKey, principal: sender.principal, from, text });
}
