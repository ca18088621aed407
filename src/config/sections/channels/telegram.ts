/** The Telegram channel: which bots, who may speak to them, and how answers are shown. */
import { type Static, Type } from "typebox";
import { choice, closed, flag, named, secretText, text, webAddress, wholeNumber } from "../kinds.ts";
import { role } from "../routing.ts";
import { contextMessages, groupContext, ownWakeOnReaction, wakeOnReaction } from "./channel-access.ts";

const CHOICES = {
  mode: ["polling", "webhook"],
  dmPolicy: ["pairing", "allowlist", "open", "disabled"],
  groupPolicy: ["allowlist", "open", "disabled"],
  streamMode: ["off", "partial", "block", "progress"],
} as const;

const people = (description: string, more: { readonly default?: string[] } = {}) =>
  Type.Array(
    Type.String({
      pattern: "^(\\*|(telegram:user:)?[1-9][0-9]{0,15})$",
      expects: 'an id such as "123456" or "telegram:user:123456", or "*" for everybody',
    }),
    { maxItems: 10_000, description, ...more },
  );

const SAY = {
  mode: "How messages arrive: the gateway asks for them (polling), or Telegram calls the gateway (webhook).",
  webhookUrl: "The gateway's address as Telegram reaches it, for example https://bot.example.org. Only for webhook.",
  webhookSecret: "What Telegram has to send along with every call. Generated and kept when absent.",
  dmPolicy: "Who may write to the bot directly: people you approve by a code, people listed, everybody, or nobody.",
  allowFrom: 'People who may write to the bot directly, by id. "*" is everybody, and needs dmPolicy "open".',
  groupPolicy: "In which groups the bot answers: those listed below, all, or none.",
  requireMention: "In groups the bot answers only when it is mentioned or replied to.",
  streamMode:
    "What is shown while the assistant writes: nothing (off), its words as they come (partial), whole paragraphs (block), or what it is doing (progress).",
  mediaMaxMb: "Largest file that is fetched, in MiB. Telegram gives bots up to 20.",
  ackReaction: "The reaction on a message that is safely stored. Empty: none.",
} as const;

const Group = Type.Object(
  {
    requireMention: Type.Optional(flag({}, "Instead of the channel's requireMention.")),
    contextMessages,
    allowFrom: Type.Optional(people("Who may speak to the bot there besides owners and members.")),
    role: role("What those people are."),
  },
  { additionalProperties: false },
);

const groups = (description: string) => named("^-[0-9]{1,20}$", Group, description);

const ownKeys = {
  enabled: Type.Optional(flag({}, "False: this bot is not connected.")),
  botToken: secretText("The bot's token from @BotFather."),
  mode: Type.Optional(choice({ of: CHOICES.mode }, SAY.mode)),
  webhookSecret: secretText(SAY.webhookSecret),
  dmPolicy: Type.Optional(choice({ of: CHOICES.dmPolicy }, SAY.dmPolicy)),
  allowFrom: Type.Optional(people(SAY.allowFrom)),
  groupPolicy: Type.Optional(choice({ of: CHOICES.groupPolicy }, SAY.groupPolicy)),
  groups: Type.Optional(groups("Groups of this bot.")),
  requireMention: Type.Optional(flag({}, SAY.requireMention)),
  wakeOnReaction: ownWakeOnReaction,
  streamMode: Type.Optional(choice({ of: CHOICES.streamMode }, SAY.streamMode)),
  mediaMaxMb: Type.Optional(wholeNumber({ minimum: 1, maximum: 25 }, SAY.mediaMaxMb)),
  ackReaction: Type.Optional(text({ maxLength: 16 }, SAY.ackReaction)),
};

export const TelegramSection = Type.Object(
  {
    enabled: flag({ default: true }, "False: no bot is connected."),
    botToken: secretText("The token of one bot, from @BotFather. For several bots use accounts."),
    accounts: named(
      "^[a-z0-9][a-z0-9_-]{0,31}$",
      Type.Object(ownKeys, { additionalProperties: false }),
      "Several bots, by a name of your choice; what a bot does not say holds from above.",
    ),
    apiRoot: webAddress(
      { default: "https://api.telegram.org" },
      "Where the Bot API answers; change it for a server of your own.",
    ),
    mode: choice({ of: CHOICES.mode, default: "polling" }, SAY.mode),
    webhookUrl: Type.Optional(
      text({ pattern: "^https://", expects: "an address that begins with https://", maxLength: 2048 }, SAY.webhookUrl),
    ),
    webhookSecret: secretText(SAY.webhookSecret),
    dmPolicy: choice({ of: CHOICES.dmPolicy, default: "pairing" }, SAY.dmPolicy),
    allowFrom: people(SAY.allowFrom, { default: [] }),
    groupPolicy: choice({ of: CHOICES.groupPolicy, default: "allowlist" }, SAY.groupPolicy),
    groups: groups("Groups by id, such as -1001234567890, with rules of their own."),
    requireMention: flag({ default: true }, SAY.requireMention),
    groupContext,
    wakeOnReaction,
    streamMode: choice({ of: CHOICES.streamMode, default: "partial" }, SAY.streamMode),
    mediaMaxMb: wholeNumber({ default: 20, minimum: 1, maximum: 25 }, SAY.mediaMaxMb),
    ackReaction: text({ default: "👀", maxLength: 16 }, SAY.ackReaction),
  },
  { ...closed, security: true, description: "Telegram bots. Without a token there is none." },
);

export type TelegramConfig = Static<typeof TelegramSection>;
