/** The settings of a whole gateway whose Telegram and Discord are the fakes, open to everybody. */
import type { FakeDiscord } from "../discord/fake-discord.ts";
import { BOT_TOKEN, PLACES } from "../discord/fake-people.ts";
import type { FakeBotApi } from "../telegram/fake-bot-api.ts";
import { GROUP_ID } from "../telegram/people.ts";

export const TOKEN = "77:telegram-token-of-chaos";

export function channelConfig(telegram: FakeBotApi, discord: FakeDiscord) {
  const everybody = { dmPolicy: "open", allowFrom: ["*"] };
  return {
    telegram: {
      botToken: TOKEN,
      apiRoot: telegram.apiRoot,
      ...everybody,
      groups: { [String(GROUP_ID)]: { allowFrom: ["*"] } },
    },
    discord: {
      token: BOT_TOKEN,
      apiRoot: discord.apiRoot,
      ...everybody,
      guilds: { [PLACES.guild]: { allowFrom: ["*"] } },
    },
  };
}
