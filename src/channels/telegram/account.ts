/** One bot, connected: puts together what arrives, what is sent and how the connection is doing. Closing leaves nothing behind. */
import type { OpenChannel, PlatformDeps, Webhook } from "../../contracts/channels/platform.ts";
import { openBotApi } from "./api/bot-api.ts";
import { createChatCooldowns } from "./api/chat-cooldowns.ts";
import { followMoves, openMovedChats } from "./api/moved-chats.ts";
import { createCommandMenu } from "./command-menu.ts";
import { connect } from "./connect.ts";
import { accountState, createPartSender, createTasks, startApprovalMessages, startPreviews } from "../kit/index.ts";
import { createAlbums } from "./inbound/albums.ts";
import { approvalPlatform } from "./inbound/approvals.ts";
import type { Me } from "./inbound/arrived.ts";
import { acknowledge, sayTo } from "./inbound/feedback.ts";
import { createIntake, type IntakeDeps } from "./inbound/intake.ts";
import { type PollerDeps, pollUpdates } from "./inbound/poller.ts";
import { takePress } from "./inbound/presses.ts";
import { createQuestionMessages } from "./inbound/question-messages.ts";
import { createLink } from "./link.ts";
import { actionsOf } from "./outbound/actions.ts";
import { telegramPreviews } from "./outbound/previews.ts";
import { telegramParts } from "./outbound/send.ts";
import type { AccountSettings } from "./settings.ts";
import { serveWebhook, webhookOf } from "./webhook-mode.ts";

export const CHANNEL = "telegram";

/** Before it has connected the bot does not know its own name. */
const UNKNOWN: Me = { id: 0, username: "" };

/** Begins to connect, and does not wait for it: a bot that cannot connect is one whose health says so. */
export async function openAccount(deps: PlatformDeps, settings: AccountSettings): Promise<OpenChannel> {
  const { clock, ids, events } = deps;
  const { account } = settings;
  const log = deps.log.child({ channel: CHANNEL, account });
  const stopping = new AbortController();
  const { signal } = stopping;
  const facts = accountState(deps.facts, CHANNEL, account);
  const moved = await openMovedChats({ facts, log });
  const api = followMoves(await openBotApi({ clock }, settings), moved);
  const take: PollerDeps["take"] = (update, until) => intake.take(update, until);
  const webhook = settings.mode === "webhook" ? await webhookOf({ ids, log, facts, take }, settings) : null;
  // from here on nothing is waited for: what listens has somebody who closes it
  const cooldowns = createChatCooldowns({ clock });
  const link = createLink({ clock, log, changed: () => events.emit("status", { what: "channels" }) }, settings.mode);
  const tasks = createTasks((error) => log.error("work for Telegram failed", { error }));
  const approvals = startApprovalMessages({ ...deps, log }, approvalPlatform(api, CHANNEL, account), signal);
  const shown = telegramPreviews({ api, cooldowns, moved });
  const previews = startPreviews({ clock, log, facts, events, replies: deps.replies }, shown, settings.streamMode);
  const menu = createCommandMenu({ api, commands: deps.commands }, signal);
  let me: Me | null = null;
  const accepted: IntakeDeps["accepted"] = (arrived, id, role) => {
    const { address, scope, messageId } = arrived;
    previews.expect(id, { to: address, replyTo: scope === "group" ? String(messageId) : null });
    void tasks.add(acknowledge({ api, log }, settings.ackReaction, arrived, signal));
    void tasks.add(menu.offer(arrived, role));
  };
  const intake = createIntake(
    {
      clock,
      log,
      api,
      door: deps.door,
      files: deps.files,
      albums: () => albums,
      here: () => ({ channel: CHANNEL, account, me: me ?? UNKNOWN, chatOf: moved.first }),
      say: (to, text) => sayTo({ api, log }, to, text, signal),
      accepted,
      press: (arrived, role, until) => takePress({ api, approvals, questions: deps.questions }, arrived, role, until),
      moved: moved.learn,
    },
    settings,
  );
  const albums = createAlbums({ clock, log, facts }, (pieces, until) => intake.takeAlbum(pieces, until), signal);
  const run = async (): Promise<void> => {
    me = await connect({ clock, log, api, link }, signal);
    if (!me) return;
    await albums.resume();
    void tasks.add(menu.publish());
    approvals.open();
    const common = { clock, ids, log, api, facts, link };
    if (webhook) await serveWebhook(common, { settings, webhook }, signal);
    else await pollUpdates({ ...common, take }, signal);
  };
  void tasks.add(run());

  const sender = createPartSender({ log, facts, previews }, telegramParts({ api, cooldowns, files: deps.files }));
  return {
    ...actionsOf(api),
    id: CHANNEL,
    account,
    canRefuse: false,
    repeat: "risky",
    whenLost: "resend",
    send: (part, until) => sender.send(part, AbortSignal.any([until, signal])),
    messages: sender.messages,
    ready: () => me !== null && link.canSend(),
    health: () => link.health(),
    questions: createQuestionMessages({ api, log }, signal),
    ...(webhook ? { webhook: guarded(webhook, () => me !== null && !signal.aborted) } : {}),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the channel is closed"));
      approvals[Symbol.dispose]();
      await tasks.settled();
      await previews[Symbol.asyncDispose]();
      await Promise.all([albums.settled(), approvals.settled()]);
    },
  };
}

/** Before it knows its own name the bot cannot tell whether a message is for it. Telegram calls again. */
function guarded(webhook: Webhook, isOpen: () => boolean): Webhook {
  const { handle } = webhook;
  return {
    ...webhook,
    handle: (request, signal) => (isOpen() ? handle(request, signal) : Promise.resolve({ status: 503 })),
  };
}
