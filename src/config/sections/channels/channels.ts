/** Where people write from: a part for each platform. */
import { Type } from "typebox";
import { DiscordSection } from "./discord.ts";
import { closed, wholeNumber } from "../kinds.ts";
import { TelegramSection } from "./telegram.ts";

export const ChannelsSection = Type.Object(
  {
    telegram: TelegramSection,
    discord: DiscordSection,
    webchat: Type.Object(
      {
        mediaMaxMb: Type.Optional(
          wholeNumber(
            { minimum: 1, maximum: 25 },
            "Largest file that the web console and the API may send, in MiB. Left out: media.maxMb.",
          ),
        ),
      },
      { ...closed, description: "The web console, and programs that use the API." },
    ),
  },
  { ...closed, security: true, description: "Where people write from." },
);
