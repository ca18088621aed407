/** The Discord channel: which bot, who may speak to it, and how answers are shown. */
import { Type } from "typebox";
import { channelAccess, guildSettings } from "./channel-access.ts";
import { choice, closed, flag, named, secretText, text, webAddress, wholeNumber } from "../kinds.ts";

const STREAM_MODES = ["off", "partial", "block", "progress"] as const;

const id = (description: string) =>
  Type.Optional(text({ pattern: "^[0-9]{17,20}$", expects: "an id of 17 to 20 digits" }, description));

export const DiscordSection = Type.Object(
  {
    enabled: flag({ default: true }, "False: the bot is not connected."),
    token: secretText("The bot's token from Discord's developer portal. Without it there is no bot."),
    apiRoot: Type.Optional(webAddress({}, "Where Discord's API answers; change it for a proxy of your own.")),
    applicationId: id("The bot's application. Left out: Discord says it when the bot signs in."),
    publicKey: Type.Optional(
      text(
        { pattern: "^[0-9a-fA-F]{64}$", expects: "64 hexadecimal digits" },
        "The application's public key. With it, commands and buttons are also taken from POST /discord/interactions.",
      ),
    ),
    ...channelAccess,
    guilds: named("^[0-9]{17,20}$", guildSettings, "Servers the bot answers in, by id, with rules of their own."),
    streamMode: choice(
      { of: STREAM_MODES, default: "partial" },
      "What is shown while the assistant writes: nothing (off), its words as they come (partial), whole paragraphs (block), or which tools it uses (progress).",
    ),
    mediaMaxMb: wholeNumber(
      { default: 25, minimum: 1, maximum: 25 },
      "Largest file that is taken in or sent, in MiB. Discord itself takes 10 in most servers.",
    ),
  },
  { ...closed, security: true, description: "A Discord bot. Without a token there is none." },
);
