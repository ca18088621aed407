/** Asks Discord whether the bot's settings are right, and says what to do if they are not. Changes nothing. */
import type { DiscordSettings } from "./settings.ts";

export interface DiscordCheck {
  readonly state: "ok" | "note" | "broken";
  readonly say: string;
}

const CONTENT_FLAGS = (1 << 18) | (1 << 19);

export async function checkDiscord(
  settings: Pick<DiscordSettings, "token" | "apiRoot">,
  signal: AbortSignal,
): Promise<DiscordCheck> {
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
        say: `${me.username} may not read messages. Switch on the Message Content Intent for it in Discord's developer portal.`,
      };
    return { state: "ok", say: `signed in as ${me.username}` };
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === "token")
      return { state: "broken", say: "Discord refused the bot token. Put the right one into channels.discord.token." };
    return { state: "note", say: "Discord could not be asked just now. Check the network, then try again." };
  }
}
