/** One bot, connected: what arrives goes to the door, what is said goes out, and its health says how it is doing. Stops without a trace. */
import type { ChatAddress } from "../../contracts/chat.ts";
import type { OpenChannel, PlatformDeps, Webhook } from "../../contracts/channels/platform.ts";
import type { QuestionMessages } from "../../contracts/channels/question.ts";
import type { InboxId, Role } from "../../contracts/ids.ts";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { type BotApi, openBotApi } from "./api/bot-api.ts";
import { createChatCooldowns } from "./api/chat-cooldowns.ts";
import { Fault, faultOf } from "./api/faults.ts";
import { followMoves, openMovedChats } from "./api/moved-chats.ts";
import { createCommandMenu } from "./command-menu.ts";
import { accountState, createTasks, type Tasks } from "../kit/index.ts";
import { createAlbums } from "./inbound/albums.ts";
import type { Arrived, Me } from "./inbound/arrived.ts";
import { createIntake } from "./inbound/intake.ts";
import { pollUpdates } from "./inbound/poller.ts";
import { createQuestionMessages } from "./inbound/question-messages.ts";
import { type AccountQuestions, createQuestions } from "./inbound/questions.ts";
import { createLink, type Link } from "./link.ts";
import { actionsOf } from "./outbound/actions.ts";
import { type LiveDeps, startLive } from "./outbound/live.ts";
import { placeOf } from "./outbound/send-target.ts";
import { partMessages, sendPart } from "./outbound/send.ts";
import type { AccountSettings } from "./settings.ts";
import { serveWebhook, webhookOf } from "./webhook-mode.ts";

export const CHANNEL = "telegram";

const CONNECT_PAUSE_MS = 5_000;
const MAX_CONNECT_PAUSE_MS = 60_000;

/** Begins to connect, and does not wait for it: a bot that cannot connect is one whose health says so. */
export async function openAccount(deps: PlatformDeps, settings: AccountSettings): Promise<OpenChannel> {
  const { clock, ids, events } = deps;
  const log = deps.log.child({ channel: CHANNEL, account: settings.account });
  const stopping = new AbortController();
  const { signal } = stopping;
  const facts = accountState(deps.facts, CHANNEL, settings.account);
  const moved = await openMovedChats({ facts, log });
  const api = followMoves(await openBotApi({ clock }, settings), moved);
  const rests = createChatCooldowns({ clock });
  const link = createLink({ clock, log, changed: () => events.emit("status", { what: "channels" }) }, settings.mode);
  const tasks = createTasks(() => undefined); // each has said what there is to say
  const asking = { log, api, questions: deps.questions };
  const questions = createQuestions({ ...asking, ids, facts, approvals: deps.approvals }, signal);
  const board = createQuestionMessages(asking, signal);
  let me: Me | null = null;
  const asks = askOwners({ ...deps, questions, tasks, account: settings.account, connected: () => me !== null });
  const showing = { ...deps, log, api, rests, facts, moved, tick: asks.tick, account: settings.account };
  const live = startLive(showing, settings.streamMode, signal);
  const menu = createCommandMenu({ api, commands: deps.commands }, signal);
  const accepted = (arrived: Arrived, id: InboxId, role: Role): void => {
    live.expect(id, arrived.address, arrived);
    void tasks.add(acknowledge(api, settings, arrived, signal));
    void tasks.add(menu.offer(arrived, role));
  };
  const intake = createIntake(
    {
      ...{ clock, log, api, door: deps.door, files: deps.files, accepted },
      say: ({ address }, text) => sayTo({ api, log }, address, text, signal),
      albums: () => albums,
      here: () => ({
        channel: CHANNEL,
        account: settings.account,
        me: me ?? { id: 0, username: "" },
        chatOf: moved.first,
      }),
      moved: moved.learn,
      press: questions.press,
    },
    settings,
  );
  const albums = createAlbums({ clock, log, facts }, (pieces, until) => intake.takeAlbum(pieces, until), signal);
  const webhook =
    settings.mode === "webhook" ? await webhookOf({ ids, log, facts, take: intake.take }, settings) : null;

  const run = async (): Promise<void> => {
    me = await connect({ clock, log, api, link }, signal);
    if (!me) return;
    await albums.resume();
    void tasks.add(menu.publish());
    asks.open();
    const common = { clock, ids, log, api, facts, link };
    if (webhook) await serveWebhook(common, { settings, webhook }, signal);
    else await pollUpdates({ ...common, take: intake.take }, signal);
  };
  const running = run().catch((error: unknown) => log.error("telegram account ended", { error }));

  const sender = { api, rests, facts, files: deps.files, previews: live };
  return asChannel({ api, link, settings, board, webhook, connected: () => me !== null }, signal, {
    send: (part, until) => sendPart(sender, part, AbortSignal.any([until, signal])),
    messages: partMessages(sender),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the channel is closed"));
      asks[Symbol.dispose]();
      live[Symbol.dispose]();
      await running;
      await Promise.all([albums.settled(), live.settled(), tasks.settled()]);
    },
  });
}

interface AskDeps extends Pick<PlatformDeps, "approvals" | "events"> {
  readonly questions: AccountQuestions;
  readonly tasks: Tasks;
  readonly account: string;
  connected(): boolean;
}

/** Shows calls that wait for an owner in the chat that their turn works for. */
function askOwners({ approvals, events, questions, tasks, account, connected }: AskDeps) {
  /** A turn that went on after a restart is not watched by anybody here: what it asks says itself where. */
  const ask = (question: PendingApproval): void => {
    const { origin } = question;
    if (origin?.channel === CHANNEL && origin.account === account) void tasks.add(questions.approval(question, origin));
  };
  const over = async (id: string, say: string | undefined): Promise<void> => {
    try {
      if (say) await questions.expired(id, say);
    } finally {
      await questions.forgetOver();
    }
  };
  const hearing = events.on("approval", (news) => {
    if (news.decision === null && connected()) ask(news);
    if (news.decision !== null) void tasks.add(over(news.id, news.decision === "expired" ? news.say : undefined));
  });
  const tick: LiveDeps["tick"] = (turnId, to) => {
    for (const question of approvals.pending())
      if (question.turnId === turnId) void tasks.add(questions.approval(question, to));
  };
  return {
    tick,
    /** What was asked before the account was connected, and what is over since. */
    open() {
      void tasks.add(questions.forgetOver());
      approvals.pending().forEach(ask);
    },
    [Symbol.dispose]: () => hearing[Symbol.dispose](),
  };
}

interface Parts {
  readonly api: BotApi;
  readonly link: Link;
  readonly settings: AccountSettings;
  readonly board: QuestionMessages;
  readonly webhook: Webhook | null;
  connected(): boolean;
}

function asChannel(
  { api, link, settings, board, webhook, connected }: Parts,
  signal: AbortSignal,
  own: Pick<OpenChannel, "send" | "messages" | typeof Symbol.asyncDispose>,
): OpenChannel {
  return {
    ...actionsOf(api),
    ...own,
    id: CHANNEL,
    account: settings.account,
    canRefuse: false,
    repeat: "risky",
    whenLost: "resend",
    ready: () => connected() && link.canSend(),
    health: () => link.health(),
    questions: { ...board, show: (asked, until) => board.show(asked, AbortSignal.any([until, signal])) },
    ...(webhook ? { webhook: { ...webhook, handle: guarded(webhook, () => connected() && !signal.aborted) } } : {}),
  };
}

/** One plain sentence. That it did not arrive is noted, and no reason to take the update in once more. */
async function sayTo(
  { api, log }: { readonly api: BotApi; readonly log: PlatformDeps["log"] },
  address: ChatAddress,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  await api
    .call("sendMessage", { ...placeOf(address).target, text, link_preview_options: { is_disabled: true } }, signal)
    .catch((error: unknown) => log.warn("sentence not delivered", { because: faultOf(error).message }));
}

/** Before it knows its own name the bot cannot tell whether it is meant. Telegram tries again. */
function guarded(webhook: Webhook, open: () => boolean): Webhook["handle"] {
  return (request, signal) => (open() ? webhook.handle(request, signal) : Promise.resolve({ status: 503 }));
}

interface Connecting {
  readonly clock: PlatformDeps["clock"];
  readonly log: PlatformDeps["log"];
  readonly api: BotApi;
  readonly link: Link;
}

async function connect({ clock, log, api, link }: Connecting, signal: AbortSignal): Promise<Me | null> {
  for (let pauseMs = CONNECT_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_CONNECT_PAUSE_MS)) {
    try {
      const { id, username } = await api.me(signal);
      link.up();
      log.info("telegram bot connected", { bot: username });
      return { id, username };
    } catch (error) {
      if (signal.aborted) return null;
      link.down(faultOf(error));
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined); // stopping is the normal end
  }
  return null;
}

/** Seen and stored. That it cannot be shown somewhere is no trouble. */
async function acknowledge(
  api: BotApi,
  { ackReaction }: AccountSettings,
  { address, messageId }: Arrived,
  signal: AbortSignal,
): Promise<void> {
  if (ackReaction === "") return;
  const reaction = [{ type: "emoji" as const, emoji: ackReaction as never }];
  await api
    .call("setMessageReaction", { chat_id: address.chat, message_id: messageId, reaction }, signal)
    .catch(ignoreFault);
}

function ignoreFault(error: unknown): void {
  if (!(error instanceof Fault)) throw error;
}
