/** The Telegram channel: which bots, who may speak to them, and how answers are shown. */
import { type Static, Type } from "typebox";
import { closed, secretText } from "../kinds.ts";
import { role } from "../routing.ts";
import { contextMessages, groupContext, ownWakeOnReaction, wakeOnReaction } from "./channel-access.ts";

const CHOICES = {
  mode: [Type.Literal("polling"), Type.Literal("webhook")],
  dmPolicy: [Type.Literal("pairing"), Type.Literal("allowlist"), Type.Literal("open"), Type.Literal("disabled")],
  groupPolicy: [Type.Literal("allowlist"), Type.Literal("open"), Type.Literal("disabled")],
  streamMode: [Type.Literal("off"), Type.Literal("partial"), Type.Literal("block"), Type.Literal("progress")],
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
    requireMention: Type.Optional(Type.Boolean({ description: "Instead of the channel's requireMention." })),
    contextMessages,
    allowFrom: Type.Optional(people("Who may speak to the bot there besides owners and members.")),
    role: role("What those people are."),
  },
  { additionalProperties: false },
);

const groups = (description: string) =>
  Type.Record(Type.String({ pattern: "^-[0-9]{1,20}$" }), Group, { description, default: {} });

const ownKeys = {
  enabled: Type.Optional(Type.Boolean({ description: "False: this bot is not connected." })),
  botToken: secretText("The bot's token from @BotFather."),
  mode: Type.Optional(Type.Union([...CHOICES.mode], { description: SAY.mode })),
  webhookSecret: secretText(SAY.webhookSecret),
  dmPolicy: Type.Optional(Type.Union([...CHOICES.dmPolicy], { description: SAY.dmPolicy })),
  allowFrom: Type.Optional(people(SAY.allowFrom)),
  groupPolicy: Type.Optional(Type.Union([...CHOICES.groupPolicy], { description: SAY.groupPolicy })),
  groups: Type.Optional(groups("Groups of this bot.")),
  requireMention: Type.Optional(Type.Boolean({ description: SAY.requireMention })),
  wakeOnReaction: ownWakeOnReaction,
  streamMode: Type.Optional(Type.Union([...CHOICES.streamMode], { description: SAY.streamMode })),
  mediaMaxMb: Type.Optional(Type.Integer({ minimum: 1, maximum: 25, description: SAY.mediaMaxMb })),
  ackReaction: Type.Optional(Type.String({ maxLength: 16, description: SAY.ackReaction })),
};

export const TelegramSection = Type.Object(
  {
    enabled: Type.Boolean({ default: true, description: "False: no bot is connected." }),
    botToken: secretText("The token of one bot, from @BotFather. For several bots use accounts."),
    accounts: Type.Record(
      Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,31}$" }),
      Type.Object(ownKeys, { additionalProperties: false }),
      { default: {}, description: "Several bots, by a name of your choice; what a bot does not say holds from above." },
    ),
    apiRoot: Type.String({
      default: "https://api.telegram.org",
      pattern: "^https?://",
      expects: "an address that begins with http:// or https://",
      maxLength: 2048,
      description: "Where the Bot API answers; change it for a server of your own.",
    }),
    mode: Type.Union([...CHOICES.mode], { default: "polling", description: SAY.mode }),
    webhookUrl: Type.Optional(
      Type.String({
        pattern: "^https://",
        expects: "an address that begins with https://",
        maxLength: 2048,
        description: SAY.webhookUrl,
      }),
    ),
    webhookSecret: secretText(SAY.webhookSecret),
    dmPolicy: Type.Union([...CHOICES.dmPolicy], { default: "pairing", description: SAY.dmPolicy }),
    allowFrom: people(SAY.allowFrom, { default: [] }),
    groupPolicy: Type.Union([...CHOICES.groupPolicy], { default: "allowlist", description: SAY.groupPolicy }),
    groups: groups("Groups by id, such as -1001234567890, with rules of their own."),
    requireMention: Type.Boolean({ default: true, description: SAY.requireMention }),
    groupContext,
    wakeOnReaction,
    streamMode: Type.Union([...CHOICES.streamMode], { default: "partial", description: SAY.streamMode }),
    mediaMaxMb: Type.Integer({ default: 20, minimum: 1, maximum: 25, description: SAY.mediaMaxMb }),
    ackReaction: Type.String({ default: "👀", maxLength: 16, description: SAY.ackReaction }),
  },
  { ...closed, security: true, description: "Telegram bots. Without a token there is none." },
);

export type TelegramConfig = Static<typeof TelegramSection>;
