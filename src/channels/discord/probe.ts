/** Asks Discord whether the bot's settings are right, and says what to do if they are not. Changes nothing. */
import type { DiscordSettings } from "./settings.ts";

interface DiscordCheck {
  readonly state: "ok" | "note" | "broken";
  readonly say: string;
  /** Discord has answered, and knows the bot. */
  readonly isKnown: boolean;
}

interface AskedAbout extends Pick<DiscordSettings, "token" | "apiRoot"> {
  /** Servers that the configuration names. */
  readonly guilds?: readonly string[];
}

const ADMINISTRATOR = 1n << 3n;
/** What it needs in a server, as Discord's settings call it. */
const NEEDED: readonly (readonly [string, bigint])[] = [
  ["View Channels", 1n << 10n],
  ["Send Messages", 1n << 11n],
  ["Attach Files", 1n << 15n],
  ["Read Message History", 1n << 16n],
];
const MAX_GUILDS = 200;
const CONTENT_FLAGS = (1 << 18) | (1 << 19);

export async function checkDiscord(settings: AskedAbout, signal: AbortSignal): Promise<DiscordCheck> {
  const [{ openRest }, { failureOf }] = await Promise.all([
    import("./outbound/rest-client.ts"),
    import("./outbound/failure.ts"),
  ]);
  using rest = openRest(settings);
  try {
    const me = await rest.api.users.getCurrent({ signal });
    const application = await rest.api.applications.getCurrent({ signal });
    if (((application.flags ?? 0) & CONTENT_FLAGS) === 0)
      return {
        state: "broken",
        isKnown: true,
        say: `${me.username} may not read messages. Switch on the Message Content Intent for it in Discord's developer portal.`,
      };
    const wrong = settings.guilds?.length
      ? guildTroubles(settings.guilds, await rest.api.users.getGuilds({ limit: MAX_GUILDS }, { signal }))
      : [];
    if (wrong.length > 0)
      return { state: "note", isKnown: true, say: `signed in as ${me.username}. ${wrong.join(" ")}` };
    return { state: "ok", isKnown: true, say: `signed in as ${me.username}` };
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === "token")
      return {
        state: "broken",
        isKnown: false,
        say: "Discord refused the bot token. Put the right one into channels.discord.token.",
      };
    return {
      state: "note",
      isKnown: false,
      say: "Discord could not be asked just now. Check the network, then try again.",
    };
  }
}

interface Membership {
  readonly id: string;
  readonly permissions?: string;
}

/** One sentence for each server that the bot is to answer in and cannot. What single channels forbid is not looked at. */
function guildTroubles(wanted: readonly string[], there: readonly Membership[]): readonly string[] {
  return wanted.flatMap((id) => {
    const found = there.find((one) => one.id === id);
    if (!found) return [`It is not in the server ${id}: invite it there, or take that out of channels.discord.guilds.`];
    const may = BigInt(found.permissions ?? "0");
    if ((may & ADMINISTRATOR) !== 0n) return [];
    const missing = NEEDED.filter(([, bit]) => (may & bit) === 0n).map(([name]) => name);
    if (missing.length === 0) return [];
    return [`In the server ${id} its role lacks: ${missing.join(", ")}. Add that in the server's settings.`];
  });
}
