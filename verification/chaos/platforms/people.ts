/** Who speaks on the two platforms during chaos, and where. */
import { BOT, PLACES } from "../../../src/testing/discord/fake-people.ts";
import type { FakeDiscord } from "../../../src/testing/discord/fake-discord.ts";
import type { FakeBotApi } from "../../../src/testing/telegram/fake-bot-api.ts";
import { GROUP_ID, said } from "../../../src/testing/telegram/people.ts";
import { TOKEN } from "../../../src/testing/whole/platform-config.ts";

export type PlatformName = "telegram" | "discord";

/** One place where somebody speaks. */
export interface Spot {
  readonly platform: PlatformName;
  /** As messages are filed. */
  readonly chat: string;
  readonly session: string;
  /** What the platform calls it: an update that waits, or a message. */
  say(text: string): string;
}

const DIRECT = 3;
const FIRST_PERSON = 101;
const DM_BASE = 400_000_000_000_000_100n;
const PERSON_BASE = 300_000_000_000_000_100n;

export function telegramSpots(api: FakeBotApi): readonly Spot[] {
  const room = api.bot(TOKEN);
  const numbers = Array.from({ length: DIRECT + 1 }, (_, at) => FIRST_PERSON + at);
  return numbers.map((id, at) => {
    const inGroup = at === DIRECT ? { inGroup: { bot: room.username } } : {};
    const by = { id, first_name: `Person ${id}` };
    const chat = String(at === DIRECT ? GROUP_ID : id);
    return {
      platform: "telegram",
      chat,
      session: `agent:default:telegram:${at === DIRECT ? "group" : "dm"}:${chat}`,
      say: (text) => String(api.push(TOKEN, said({ by, text, messageId: room.nextMessageId(), ...inGroup }))),
    };
  });
}

export function discordSpots(discord: FakeDiscord): readonly Spot[] {
  return Array.from({ length: DIRECT + 1 }, (_, at) => {
    const author = { id: String(PERSON_BASE + BigInt(at)), username: `person${at}` };
    const direct = at < DIRECT;
    const chat = direct ? String(DM_BASE + BigInt(at)) : PLACES.room;
    if (direct) discord.state.addChannel({ id: chat, type: "dm" });
    return {
      platform: "discord",
      chat,
      session: `agent:default:discord:${direct ? `dm:${author.id}` : `group:${chat}`}`,
      say: (text) => discord.say({ channel: chat, author, content: direct ? text : `<@${BOT.id}> ${text}` }),
    };
  });
}
