/** IRC as a platform: connects, connects again when that ends, and puts both directions together. Closing leaves no connection behind. */
import type { OpenChannel, PlatformDeps, PluginChannel, PluginChannelDeps } from "pi-gateway/plugin";
import { ACCOUNT, CHANNEL, type IrcSettings } from "./config.ts";
import { createIntake, type Intake, saidIn } from "./inbound.ts";
import { createSender } from "./outbound.ts";
import { type IrcApprovals, startApprovals } from "./approvals.ts";
import { connectOnce, type Connection, type Ending } from "./wire/connection.ts";
import { isChannel } from "./wire/names.ts";

const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 300_000;
/** A connection that lasted as long as this was a good one: the next pause is short again. */
const GOOD_MS = 60_000;

export function createIrc(settings: IrcSettings): PluginChannel {
  return { id: CHANNEL, access: settings.access, open: async (deps) => [openIrc(deps, settings)] };
}

/** Connected, or why not. */
interface Link {
  now: Connection | null;
  because: string;
}

/** Begins to connect, and does not wait for it: an account that cannot connect is one whose health says so. */
function openIrc(deps: PluginChannelDeps, settings: IrcSettings): OpenChannel {
  const closing = new AbortController();
  const link: Link = { now: null, because: "connecting" };
  const sender = createSender({ ...deps, connection: () => link.now }, settings, closing.signal);
  const connected = (): boolean => link.now !== null;
  const approvals = startApprovals({ kit: deps.kit, connected, tell: sender.tell }, closing.signal);
  const intake = createIntake({ ...deps, say: sender.say, met: sender.met, approvals }, closing.signal);
  const running = keepConnected(deps, settings, { link, intake, approvals }, closing.signal);
  return {
    id: CHANNEL,
    account: ACCOUNT,
    canRefuse: false,
    repeat: "risky",
    whenLost: "resend",
    messages: { delivered: sender.delivered, skip: sender.skip },
    async send(part, signal) {
      await sender.send(part, signal);
      return {};
    },
    ready(to) {
      if (!link.now) return false;
      return to === undefined || !isChannel(to.chat) || link.now.joined.has(to.chat);
    },
    health: () => healthOf(link, settings),
    async [Symbol.asyncDispose]() {
      approvals[Symbol.dispose]();
      closing.abort(new Error("the channel is closed"));
      await Promise.all([running, intake.settled(), approvals.settled()]);
    },
  };
}

/** Whether the server says of every message which account it comes from. */
const tells = ({ caps }: Pick<Connection, "caps">): boolean => caps.has("account-tag");

const NOBODY =
  "this server does not tell which account a message comes from (account-tag), so nobody is answered. " +
  "Set requireAccount to false to know people by nick, user and host instead";

/** Said once for each connection: who can be trusted depends on it. */
function warnAbout(log: PlatformDeps["log"], { requireAccount, server }: IrcSettings, now: Connection): void {
  if (tells(now)) return;
  if (requireAccount) log.warn("irc server tells no accounts: nobody is answered", { server });
  else log.warn("irc server tells no accounts: people are known by nick, user and host only", { server });
}

function healthOf({ now, because }: Link, { server, channels, requireAccount }: IrcSettings) {
  if (!now) return { ok: false, detail: because };
  if (requireAccount && !tells(now)) return { ok: false, detail: `${server} as ${now.nick}: ${NOBODY}.` };
  const missing = channels.filter((name) => !now.joined.has(name));
  const joined = now.joined.size === 0 ? "" : `, in ${[...now.joined].join(", ")}`;
  const known = tells(now) ? "" : ", people known by nick, user and host only";
  const detail = `${server} as ${now.nick}${known}${joined}`;
  if (missing.length === 0) return { ok: true, detail };
  const why = missing.map((name) => `${name} (${now.notJoined.get(name) ?? "joining"})`);
  return { ok: false, detail: `${detail}; not in ${why.join(", ")}` };
}

interface Parts {
  readonly link: Link;
  readonly intake: Intake;
  readonly approvals: Pick<IrcApprovals, "open">;
}

/** Never rejects. */
async function keepConnected(
  deps: PlatformDeps,
  settings: IrcSettings,
  { link, intake, approvals }: Parts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps;
  const changed = (): void => deps.events.emit("status", { what: "channels" });
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const began = clock.elapsed();
    const ending = await connectOnce(
      clock,
      settings,
      {
        changed,
        up(connection) {
          link.now = connection;
          log.info("irc connected", { server: settings.server, nick: connection.nick });
          warnAbout(log, settings, connection);
          approvals.open();
          changed();
        },
        line(line) {
          const tellsAccounts = link.now !== null && tells(link.now);
          const said = saidIn(line, { nick: link.now?.nick ?? settings.nick, tellsAccounts }, settings);
          if (said) intake.take(said);
        },
      },
      signal,
    ).catch(toEnding);
    const wasGood = link.now !== null && clock.elapsed() - began >= GOOD_MS;
    if (signal.aborted) return;
    if (wasGood) pauseMs = FIRST_PAUSE_MS;
    Object.assign(link, { now: null, because: wordsOf(settings, ending) });
    log.warn("irc connection ended", { because: ending.because, nextTryInMs: pauseMs });
    changed();
    await clock.sleep(pauseMs, signal).catch(() => undefined); // being closed is the normal end
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }
}

const toEnding = (error: unknown): Ending => ({
  because: error instanceof Error ? error.message : "it failed",
  refused: false,
});

function wordsOf({ server, port }: IrcSettings, { because, refused }: Ending): string {
  return refused ? because : `No connection to ${server}:${port} (${because}). Trying again.`;
}
