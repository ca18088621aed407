/**
 * The channels that runs and incoming webhooks answer into. Sending a part hands it on, as its job or webhook wants: said as it is, told to the
 * main session, or nothing. Handing on twice under one id is the same as once, so the outbox's own promises hold for it.
 */
import type { SystemEvents } from "../../contracts/automation/system-event.ts";
import { type Channel, SendError } from "../../contracts/channel.ts";
import type { Outbox, OutboxRow } from "../../contracts/delivery.ts";
import type { AgentId, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { SessionChatStore } from "../../contracts/store/session-chats.ts";
import type { Clock } from "../../kit/clock.ts";
import type { SessionChats } from "../../contracts/channels/session-chats.ts";
import {
  CRON_CHANNEL,
  HEARTBEAT,
  HOOK_CHANNEL,
  readRunAddress,
  type RunAddress,
  type RunChannel,
} from "./run-address.ts";

interface CronChannelDeps {
  readonly clock: Clock;
  readonly sessionChatStore: Pick<SessionChatStore, "speakerOf" | "hasPosted" | "say">;
  readonly sessionChats: Pick<SessionChats, "at">;
  /** Recent replies of a session, newest last: a heartbeat does not say the same again. */
  recent(sessionKey: SessionKey): Promise<readonly { readonly text: string; readonly at: number }[]>;
  readonly systemEvents: SystemEvents;
  readonly outbox: Pick<Outbox, "wake">;
  /** The session that records what was posted to a webhook target. */
  targetSession(agent: AgentId, target: string): SessionKey;
}

/** Parts for a webhook target go to this channel; the chat is the name of the target. */
export const TARGET_CHANNEL = "webhook";

const SAME_NEWS_MS = 86_400_000;

export function createCronChannel(deps: CronChannelDeps, id: RunChannel): Channel {
  return {
    id,
    canRefuse: true,
    repeat: "safe",
    async send(part, signal) {
      signal.throwIfAborted();
      const address = readRunAddress(part.to);
      if (!address) throw new SendError("permanent", "this is not the address of a run");
      if (address.webhook !== undefined && isAnswer(part))
        await post(deps, part, { ...address, target: address.webhook });
      const how = deliveryOf(part, address, part.part >= 0 && (await deps.sessionChatStore.hasPosted(part.turnId)));
      if (how !== "nothing") await handOn(deps, part, address, how);
      return {};
    },
    ready: () => true,
    health: () => ({ ok: true, detail: `hands on what ${id === CRON_CHANNEL ? "jobs" : "hooks"} say` }),
  };
}

type PartDelivery = "announce" | "direct" | "nothing";

/**
 * A failed run says nothing here: the owner gets an alert. Neither does a run whose agent has sent a message itself. What it sent, and files,
 * go as they are.
 */
export function deliveryOf(
  { part, outcome, message }: Pick<OutboxRow, "part" | "outcome" | "message">,
  { delivery }: Pick<RunAddress, "delivery">,
  hasPosted: boolean,
): PartDelivery {
  if (delivery === "silent") return "nothing";
  if (part < 0) return "direct";
  if (outcome !== "done" || message.kind === "notice" || hasPosted) return "nothing";
  return (message.attachments?.length ?? 0) > 0 ? "direct" : delivery;
}

async function handOn(
  deps: CronChannelDeps,
  part: OutboxRow,
  { jobId, session: key }: RunAddress,
  how: "announce" | "direct",
): Promise<void> {
  const speaker = await deps.sessionChatStore.speakerOf(part.turnId);
  const chat = await deps.sessionChats.at(key);
  if (!speaker || !chat) throw new SendError("permanent", "there is nobody to hand this on to");
  if (jobId === HEARTBEAT && part.part >= 0 && (await wasSaid(deps, chat.sessionKey, part.message))) return;
  const source = sourceOf(part.to.channel, jobId);
  const event = { id: part.id, sessionKey: chat.sessionKey, source, text: part.message.text };
  if (how === "announce") {
    const { principal, role } = speaker;
    const origin = part.to.channel === HOOK_CHANNEL ? "webhook" : "cron";
    return deps.systemEvents.put({ ...event, kind: "news" }, { wake: { principal, role, origin } });
  }
  await deps.sessionChatStore.say({
    turnId: `said-${part.id}` as TurnId,
    sessionKey: chat.sessionKey,
    agentId: chat.agentId,
    principal: speaker.principal,
    to: chat.to,
    reply: [{ part: 0, message: part.message }],
    at: deps.clock.now(),
  });
  deps.outbox.wake();
  if (part.message.text.trim() !== "") await deps.systemEvents.put({ ...event, kind: "said" }, {});
}

/** Within a day. A file is never a repetition: it may have the same name and other content. */
async function wasSaid(
  { clock, recent }: CronChannelDeps,
  sessionKey: SessionKey,
  { text, attachments = [] }: OutboxRow["message"],
): Promise<boolean> {
  if (attachments.length > 0) return false;
  const since = clock.now() - SAME_NEWS_MS;
  return (await recent(sessionKey)).some((said) => said.at >= since && plain(said.text) === plain(text));
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Only the reply of a turn that ended well is posted. */
function isAnswer({ part, outcome, message }: OutboxRow): boolean {
  return part >= 0 && outcome === "done" && message.kind === "reply";
}

/** Put into the outbox once more, under an id of its own, for the channel that posts. */
async function post(
  deps: CronChannelDeps,
  part: OutboxRow,
  { jobId, target }: RunAddress & { readonly target: string },
): Promise<void> {
  const speaker = await deps.sessionChatStore.speakerOf(part.turnId);
  if (!speaker) throw new SendError("permanent", "nobody knows for whom this was said");
  const { agentId, principal } = speaker;
  await deps.sessionChatStore.say({
    turnId: `posted-${part.id}` as TurnId,
    agentId,
    principal,
    at: deps.clock.now(),
    sessionKey: deps.targetSession(agentId, target),
    to: { channel: TARGET_CHANNEL, account: "default", chat: target, thread: sourceOf(part.to.channel, jobId) },
    reply: [{ part: 0, message: part.message }],
  });
  deps.outbox.wake();
}

function sourceOf(channel: string, jobId: string): string {
  if (channel === HOOK_CHANNEL) return `hook ${jobId}`;
  return jobId === HEARTBEAT ? "heartbeat" : `job ${jobId}`;
}
