/** What goes wrong on the two platforms while people speak: limits, cut responses, pages of proxies, dropped sockets, lost sessions. */
import { systemClock } from "../../../src/kit/clock.ts";
import type { FakeDiscord } from "../../../src/testing/discord/fake-discord.ts";
import type { RestTrouble } from "../../../src/testing/discord/fake-rest.ts";
import type { Chance } from "../../../src/testing/chance.ts";
import type { FakeBotApi, Misbehaviour } from "../../../src/testing/telegram/fake-bot-api.ts";

export interface Troubles {
  begin(): void;
  /** Everything works again. */
  end(): void;
  readonly met: Readonly<Record<string, number>>;
}

const CUT = 0.05;
const LIMITED = 0.04;
const BROKEN = 0.03;
const DROP_AFTER_MS = 1_500;
const BAD_GATEWAY = 502;
const DROPPED = 4000;

export function createTroubles(telegram: FakeBotApi, discord: FakeDiscord, chance: Chance): Troubles {
  const met: Record<string, number> = {};
  const count = (what: string): void => {
    met[what] = (met[what] ?? 0) + 1;
  };
  const calls = chance.fork("telegram");
  const writes = chance.fork("discord");
  const sockets = chance.fork("sockets");
  let over = new AbortController();

  const onTelegram = (): Misbehaviour | null => {
    const dice = calls.next();
    if (dice < CUT) return { kind: "cut_before" };
    if (dice < 2 * CUT) return { kind: "cut_after" };
    if (dice < 2 * CUT + LIMITED) return { kind: "limited", retryAfter: 1 };
    return dice < 2 * CUT + LIMITED + BROKEN ? { kind: "page", status: BAD_GATEWAY } : null;
  };
  const onDiscord = (): RestTrouble | null => {
    const dice = writes.next();
    if (dice < 2 * CUT) return "cut";
    if (dice < 2 * CUT + LIMITED / 2) return "limited";
    return dice < 2 * CUT + LIMITED / 2 + BROKEN ? "broken" : null;
  };
  const counted =
    <T>(name: string, pick: () => T | null, wordOf: (trouble: T) => string) =>
    (): T | null => {
      const trouble = pick();
      if (trouble !== null) count(`${name} ${wordOf(trouble)}`);
      return trouble;
    };
  const socketTrouble = async (signal: AbortSignal): Promise<void> => {
    const dice = sockets.next();
    const after = sockets.between(0, DROP_AFTER_MS);
    if (dice > 0.6) return;
    await systemClock.sleep(after, signal);
    if (dice < 0.2) discord.gateway.forgetSessions();
    count(dice < 0.2 ? "discord session forgotten" : dice < 0.4 ? "discord socket dropped" : "discord reconnect");
    if (dice < 0.4) discord.gateway.drop(DROPPED);
    else discord.gateway.askReconnect();
  };

  return {
    met,
    begin() {
      over = new AbortController();
      telegram.bewitch(counted("telegram", onTelegram, ({ kind }) => kind));
      discord.rest.bewitch(counted("discord", onDiscord, (kind) => kind));
      void socketTrouble(over.signal).catch(() => undefined); // the round was over first
    },
    end() {
      over.abort(new Error("the round is over"));
      telegram.bewitch(null);
      discord.rest.bewitch(null);
    },
  };
}
