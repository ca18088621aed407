/**
 * People on a fake Telegram and a fake Discord, beside the crowd on the port. The platforms outlive every gateway: they keep what was said
 * until it is taken, and show what was sent. What was said and shown is kept for the verdict; nothing is judged here.
 */
import { systemClock } from "../../../src/kit/clock.ts";
import { type Deferred, deferred } from "../../../src/kit/deferred.ts";
import { type FakeDiscord, startFakeDiscord } from "../../../src/testing/discord/fake-discord.ts";
import { BOT } from "../../../src/testing/discord/fake-people.ts";
import type { Chance } from "../../../src/testing/chance.ts";
import { type FakeBotApi, startFakeBotApi } from "../../../src/testing/telegram/fake-bot-api.ts";
import type { GatewayProcess } from "../../../src/testing/whole/gateway-process.ts";
import { channelConfig, TOKEN } from "../../../src/testing/whole/platform-config.ts";
import { discordSpots, type PlatformName, type Spot, telegramSpots } from "./people.ts";
import { createTroubles } from "./troubles.ts";
import { type Doubt, judgePlatform, nameOf, type PlatformVerdict, type ShownThere } from "./verdict.ts";
import { waitFor, WHOLE_WAIT_MS } from "../../../src/testing/wait-for.ts";

export interface PlatformCrowd extends AsyncDisposable {
  /** For the gateway's configuration. */
  readonly channels: ReturnType<typeof channelConfig>;
  /** Everybody once, without trouble: from then on every chat is known. */
  greet(): Promise<void>;
  speak(round: number): Promise<void>;
  waiting(): number;
  found(gateway: GatewayProcess): void;
  /** Kills this process in the moment in which this happens for the n-th time from now on. */
  killAt(pid: number, moment: PlatformMoment, nth: number): Disposable & { readonly due: Promise<void> };
  /** What went wrong on the platforms, by kind. */
  readonly met: Readonly<Record<string, number>>;
  verdicts(gateway: GatewayProcess): Promise<Readonly<Record<PlatformName, PlatformVerdict>>>;
}

/** A message is shown and its sender not yet told; Telegram forgets an update; somebody has said something on Discord. */
export const PLATFORM_MOMENTS = ["shown", "confirmed", "told"] as const;
export type PlatformMoment = (typeof PLATFORM_MOMENTS)[number];

interface Line {
  readonly spot: Spot;
  readonly answer: string;
  readonly name: string;
}

interface Stage {
  readonly telegram: FakeBotApi;
  readonly discord: FakeDiscord;
  readonly lives: Map<string, number>;
  readonly lines: Line[];
}

const LOOK_EVERY_MS = 50;
/** After so long it is looked up whether the gateway has said something else instead. */
const EXCUSE_AFTER_MS = 12_000;
const MAX_AT_ONCE = 2;
/** Share of answers that take long enough to be shown while they are written. */
const SLOW = 0.4;

export async function startPlatformCrowd(chance: Chance): Promise<PlatformCrowd> {
  const telegram = await startFakeBotApi();
  const discord = await startFakeDiscord({ now: () => systemClock.now() });
  const stage: Stage = { telegram, discord, lives: new Map(), lines: [] };
  const spots = [...telegramSpots(telegram), ...discordSpots(discord)];
  const troubles = createTroubles(telegram, discord, chance.fork("troubles"));
  const dice = chance.fork("people");
  const over = new AbortController();
  const trap = createTrap(stage);
  const excused = new Set<string>();
  /** In doubt, and not sent again: nobody waits for these. */
  const givenUp = new Set<string>();
  let gateway: GatewayProcess | null = null;

  const say = (spot: Spot, words: string): void => {
    const text = `echo: ${words}`;
    stage.lines.push({ spot, answer: words, name: spot.say(text) });
    if (spot.platform === "discord") trap.happened("told");
  };
  const open = (): readonly Line[] => {
    const seen = new Set(shownOn(stage).map(({ chat, text }) => nameOf({ chat, answer: text })));
    return stage.lines.filter(({ spot: { chat }, answer }) => {
      const name = nameOf({ chat, answer });
      return !seen.has(name) && !excused.has(name) && !givenUp.has(name);
    });
  };
  const answered = async (): Promise<void> => {
    const since = systemClock.elapsed();
    while (!over.signal.aborted) {
      const left = open();
      if (left.length === 0) return;
      if (systemClock.elapsed() - since > EXCUSE_AFTER_MS && gateway) {
        for (const name of await excuses(gateway, left).catch(() => [])) excused.add(name); // it may just be down
        for (const { chat, text } of await doubtsOf(gateway).catch(() => []))
          givenUp.add(nameOf({ chat, answer: text })); // as above
      }
      await systemClock.sleep(LOOK_EVERY_MS, over.signal).catch(() => undefined); // looked at above
    }
  };

  return {
    channels: channelConfig(telegram, discord),
    met: troubles.met,
    async greet() {
      // what is said to a bot on Discord before it has ever heard of a chat is not promised to be found
      await waitFor("the menu of commands on Discord", () => discord.rest.commands().length > 0, Boolean, {
        withinMs: WHOLE_WAIT_MS,
      });
      for (const spot of spots) say(spot, `0.${spot.platform}.0 hello`);
      await answered();
    },
    async speak(round) {
      troubles.begin();
      for (let at = 0; at < MAX_AT_ONCE; at++)
        for (const spot of spots)
          if (dice.hits(0.5))
            say(spot, `${round}.${spot.platform}.${at} the quick brown fox${dice.hits(SLOW) ? " slowly" : ""} jumps`);
      await answered();
      troubles.end();
    },
    waiting: () => open().length,
    found(next) {
      gateway = next;
      trap.nextLife();
    },
    killAt: trap.set,
    async verdicts(last) {
      const doubts = await doubtsOf(last);
      for (const name of await excuses(last, open())) excused.add(name);
      const verdict = (platform: PlatformName) => {
        const lines = stage.lines.filter(({ spot }) => spot.platform === platform);
        const waiting = new Set(telegram.waiting(TOKEN).map(String));
        const said = lines.map(({ spot: { chat }, answer, name }) => ({ chat, answer, taken: !waiting.has(name) }));
        const shown = shownOn(stage).filter((one) => one.platform === platform);
        return judgePlatform({ said, shown, doubts, excused });
      };
      return { telegram: verdict("telegram"), discord: verdict("discord") };
    },
    async [Symbol.asyncDispose]() {
      over.abort(new Error("everybody has gone home"));
      troubles.end();
      await discord[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
    },
  };
}

/** Which life of the gateway showed what, and the trap that ends one. */
function createTrap({ telegram, discord, lives }: Stage) {
  let life = 0;
  let order: { readonly pid: number; readonly moment: PlatformMoment; left: number; sprung: Deferred<void> } | null =
    null;
  const happened = (moment: PlatformMoment): void => {
    if (order?.moment !== moment || --order.left > 0) return;
    try {
      process.kill(order.pid, "SIGKILL");
    } catch {
      // it was killed already, by whoever else was after it
    }
    order.sprung.resolve();
    order = null;
  };
  const shown = (key: string): void => {
    lives.set(key, life);
    happened("shown");
  };
  telegram.onConfirmed(() => happened("confirmed"));
  telegram.onShown((id) => shown(`telegram ${id}`));
  discord.rest.onWritten(({ method, path }) => {
    const [, channel] = /^\/channels\/(\d+)\/messages$/.exec(path) ?? [];
    const made = method === "POST" && channel ? discord.state.messages(channel).at(-1) : undefined;
    if (made && made.author.id === BOT.id && !lives.has(`discord ${made.id}`)) shown(`discord ${made.id}`);
  });
  return {
    nextLife: () => void life++,
    happened,
    set(pid: number, moment: PlatformMoment, nth: number) {
      const sprung = deferred<void>();
      order = { pid, moment, left: nth, sprung };
      return { due: sprung.promise, [Symbol.dispose]: () => void (order = null) };
    },
  };
}

function shownOn({ telegram, discord, lives }: Stage): readonly (ShownThere & { readonly platform: PlatformName })[] {
  const there = telegram.bot(TOKEN).messages.filter(({ deleted }) => !deleted);
  const here = [...discord.state.channels.keys()].flatMap((chat) => discord.state.messages(chat));
  return [
    ...there.map(({ id, chat, text }) => ({
      platform: "telegram" as const,
      chat,
      text,
      untold: telegram.untold.has(id),
      life: lives.get(`telegram ${id}`) ?? 0,
    })),
    ...here
      .filter(({ author }) => author.id === BOT.id)
      .map(({ id, channel, content }) => ({
        platform: "discord" as const,
        chat: channel,
        text: content,
        untold: false,
        life: lives.get(`discord ${id}`) ?? 0,
      })),
  ];
}

/** Lines whose turn has ended with words of the gateway itself. */
async function excuses(gateway: GatewayProcess, lines: readonly Line[]): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { spot, answer } of lines) {
    const response = await gateway.fetch(`/api/sessions/${encodeURIComponent(spot.session)}/transcript?limit=200`);
    if (!response.ok) continue;
    const { items } = (await response.json()) as {
      items: readonly { role: string; text: string; turnId: string; kind?: string }[];
    };
    const turnId = items.find(({ role, text }) => role === "user" && text === `echo: ${answer}`)?.turnId;
    if (turnId && items.some((item) => item.turnId === turnId && item.kind === "notice"))
      names.push(nameOf({ chat: spot.chat, answer }));
  }
  return names;
}

async function doubtsOf(gateway: GatewayProcess): Promise<readonly Doubt[]> {
  const found: Doubt[] = [];
  for (let cursor: string | undefined; ;) {
    const query = new URLSearchParams({ state: "ambiguous", limit: "200", ...(cursor ? { cursor } : {}) });
    const page = (await (await gateway.fetch(`/api/outbox?${query}`)).json()) as {
      items: readonly { message: { text: string }; to: { chat: string; thread?: string } }[];
      next?: string;
    };
    found.push(...page.items.map(({ message, to }) => ({ chat: to.thread ?? to.chat, text: message.text })));
    if (!page.next) return found;
    cursor = page.next;
  }
}
