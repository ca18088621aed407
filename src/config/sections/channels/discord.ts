/** The Discord channel: which bot, who may speak to it, and how answers are shown. */
import { Type } from "typebox";
import { channelAccess, guildSettings } from "./channel-access.ts";
import { closed, secretText } from "../kinds.ts";

const STREAM_MODES = ["off", "partial", "block", "progress"] as const;

const id = (description: string) =>
  Type.Optional(Type.String({ pattern: "^[0-9]{17,20}$", expects: "an id of 17 to 20 digits", description }));

export const DiscordSection = Type.Object(
  {
    enabled: Type.Boolean({ default: true, description: "False: the bot is not connected." }),
    token: secretText("The bot's token from Discord's developer portal. Without it there is no bot."),
    apiRoot: Type.Optional(
      Type.String({
        pattern: "^https?://",
        expects: "an address that begins with http:// or https://",
        maxLength: 2048,
        description: "Where Discord's API answers; change it for a proxy of your own.",
      }),
    ),
    applicationId: id("The bot's application. Left out: Discord says it when the bot signs in."),
    publicKey: Type.Optional(
      Type.String({
        pattern: "^[0-9a-fA-F]{64}$",
        expects: "64 hexadecimal digits",
        description:
          "The application's public key. With it, commands and buttons are also taken from POST /discord/interactions.",
      }),
    ),
    ...channelAccess,
    guilds: Type.Record(Type.String({ pattern: "^[0-9]{17,20}$" }), guildSettings, {
      default: {},
      description: "Servers the bot answers in, by id, with rules of their own.",
    }),
    streamMode: Type.Union(
      STREAM_MODES.map((mode) => Type.Literal(mode)),
      {
        default: "partial",
        description:
          "What is shown while the assistant writes: nothing (off), its words as they come (partial), whole paragraphs (block), or which tools it uses (progress).",
      },
    ),
    mediaMaxMb: Type.Integer({
      default: 25,
      minimum: 1,
      maximum: 25,
      description: "Largest file that is taken in or sent, in MiB. Discord itself takes 10 in most servers.",
    }),
  },
  { ...closed, security: true, description: "A Discord bot. Without a token there is none." },
);
