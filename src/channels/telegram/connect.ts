/** Asks Telegram who the bot is until it answers. A bot that cannot connect is one whose health says so. */
import type { Clock } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import type { BotApi } from "./api/bot-api.ts";
import { faultOf } from "./api/faults.ts";
import type { Me } from "./inbound/arrived.ts";
import type { Link } from "./link.ts";

interface ConnectDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly api: BotApi;
  readonly link: Link;
}

const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** Null: the account was closed first. */
export async function connect({ clock, log, api, link }: ConnectDeps, signal: AbortSignal): Promise<Me | null> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      const { id, username } = await api.me(signal);
      link.up();
      log.info("telegram bot connected", { bot: username });
      return { id, username };
    } catch (error) {
      if (signal.aborted) return null;
      link.down(faultOf(error));
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined); // closing is the normal end
  }
  return null;
}
