/** A Telegram account beside a fake Bot API, as the channel contract and the channel's own tests see it. */
import { createTelegram } from "../../channels/telegram/index.ts";
import type { TelegramConfig } from "../../config/index.ts";
import type { OpenChannel } from "../../contracts/channels/platform.ts";
import type { Principal } from "../../contracts/ids.ts";
import { deferred } from "../../kit/deferred.ts";
import { secret } from "../../kit/secret.ts";
import { channelBench } from "../channels/channel-bench.ts";
import type { FakeButtons } from "../contracts/asking-contract.ts";
import { type ChannelWorld, LIMITED_MS, type PlatformUpdate, type Trouble } from "../contracts/channel-contract.ts";
import type { BotRoom, Fields } from "./bot-room.ts";
import { type FakeBotApi, startFakeBotApi } from "./fake-bot-api.ts";
import { changed, FRIEND, OTHER, passedOn, type Person, pressed, said, spoke, STRANGER } from "./people.ts";

export const TOKEN = "99:secret-token";
const NEVER = new AbortController().signal;
/** Nobody notices these, and they cost nothing. */
const QUIET: readonly string[] = ["getUpdates", "getMe", "deleteWebhook", "setWebhook", "setMyCommands"];
const PEOPLE: Readonly<Record<PlatformUpdate["by"], Person>> = { friend: FRIEND, other: OTHER, stranger: STRANGER };
const ALL_METHODS = ["*", "getUpdates"];
const FOR_LONG = 1_000;

export interface TelegramWorld extends ChannelWorld {
  readonly api: FakeBotApi;
  readonly room: BotRoom;
  readonly channel: OpenChannel;
  /** An update of this shape arrives. Returns its id. */
  happens(update: Fields): number;
  /** Opens the account again on the same facts, as after a restart. */
  reopen(): Promise<OpenChannel>;
}

const USUAL: TelegramConfig = {
  enabled: true,
  accounts: {},
  apiRoot: "",
  mode: "polling",
  dmPolicy: "pairing",
  allowFrom: [],
  groupPolicy: "allowlist",
  groups: {},
  requireMention: true,
  groupContext: { messages: 0, minutes: 60, chars: 4_000 },
  wakeOnReaction: false,
  streamMode: "partial",
  mediaMaxMb: 20,
  ackReaction: "",
  botToken: secret(TOKEN),
};

export const settings = (more: Partial<TelegramConfig> = {}): TelegramConfig => ({ ...USUAL, ...more });

export async function telegramWorld(more: Partial<TelegramConfig> = {}): Promise<TelegramWorld> {
  const bench = await channelBench();
  const api = await startFakeBotApi(bench.clock);
  const room = api.bot(TOKEN);
  room.files.set("voice-1", new TextEncoder().encode("voice"));
  const config = settings({ ...more, apiRoot: api.apiRoot });
  const open = async () => {
    const [first] = await createTelegram(config).open(bench.deps, NEVER);
    if (!first) throw new Error("no account");
    const asked = api.count("getUpdates");
    await api.until("the first poll", () => api.count("getUpdates") > asked || config.mode === "webhook");
    return first;
  };
  const channel = await open();
  const opened: AsyncDisposable[] = [channel];
  const ids = new Map<string, number>();
  const hung = deferred<void>();
  return {
    bench,
    api,
    room,
    channel,
    here: { channel: "telegram", account: "default", chat: String(FRIEND.id) },
    happens: (update) => api.push(TOKEN, update),
    async reopen() {
      const again = await open();
      opened.push(again);
      return again;
    },
    platform: {
      kinds: ["message", "edit", "action", "voice", "forward"],
      troubles: ["limited", "gone", "cut", "silent"],
      people: { friend: principal(FRIEND), other: principal(OTHER), stranger: principal(STRANGER) },
      async bring(update) {
        const known = ids.get(update.id);
        if (known !== undefined) return api.repeat(TOKEN, [known]);
        ids.set(update.id, api.push(TOKEN, toUpdate(update, room)));
      },
      confirmed: (id) => ids.has(id) && !api.waiting(TOKEN).includes(ids.get(id) ?? 0),
      shown: () => textsIn(room, FRIEND.id),
      calls: () =>
        api.calls
          .filter(({ method }) => !QUIET.includes(method))
          .map(({ method, fields }) => `${method} ${String(fields.text ?? "")}`),
      misbehave(trouble) {
        api.behave();
        if (trouble) for (const method of ALL_METHODS) api.misbehave(method, faultFor(trouble, hung.promise), FOR_LONG);
      },
      buttons: buttonsIn(room, (update) => api.push(TOKEN, update)),
      connections: () => api.connections(),
    },
    close: async () => channel[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      hung.resolve();
      for (const one of opened) await one[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

const principal = ({ id }: Person): Principal => `telegram:user:${id}` as Principal;

export function textsIn(room: BotRoom, chat: number): readonly string[] {
  return room.messages.filter((one) => one.chat === String(chat) && !one.deleted).map(({ text }) => text);
}

function buttonsIn(room: BotRoom, push: (update: Fields) => void): FakeButtons {
  const now = () => room.messages.flatMap(({ id, buttons }) => buttons.map((button) => ({ ...button, id })));
  const seen = new Map<string, ReturnType<typeof now>[number]>();
  let presses = 0;
  const here = { id: FRIEND.id, type: "private" };
  return {
    labels: () => now().map(({ text }) => text),
    async press(label, by) {
      for (const button of now()) seen.set(button.text, button);
      const { id = 0, data = "" } = seen.get(label) ?? {};
      const update = pressed({ by: PEOPLE[by], messageId: id }, data, `button-${++presses}`);
      const query = update["callback_query"] as Fields;
      const message = { ...(query["message"] as Fields), chat: here }; // the same chat, whoever presses
      push({ callback_query: { ...query, message } });
    },
    async reply(messageId, text) {
      const answered = { message_id: Number(messageId), text: "?", from: { id: room.id, is_bot: true } };
      push(said({ by: FRIEND, text, messageId: room.nextMessageId(), more: { reply_to_message: answered } }));
    },
  };
}

function toUpdate({ kind, by, where, text }: PlatformUpdate, room: BotRoom): Fields {
  const told = {
    by: PEOPLE[by],
    text,
    messageId: room.nextMessageId(),
    ...(where === "group" ? { inGroup: { bot: room.username } } : {}),
  };
  if (kind === "edit") return changed(told);
  if (kind === "action") return pressed(told, "q:nobody-knows:0", "press-1");
  if (kind === "voice") return spoke(told);
  return kind === "forward" ? passedOn(told) : said(told);
}

function faultFor(trouble: Trouble, hung: Promise<void>): Parameters<FakeBotApi["misbehave"]>[1] {
  if (trouble === "limited") return { kind: "limited", retryAfter: LIMITED_MS / 1_000 };
  if (trouble === "gone") return { kind: "refused", code: 400, description: "Bad Request: chat not found" };
  return trouble === "cut" ? { kind: "cut_after" } : { kind: "late", until: hung };
}
