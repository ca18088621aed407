/**
 * Whether the web console is kept waiting by channels in trouble: the same questions on the WebSocket in peace, and while Telegram takes every call
 * and answers none and Discord's connection breaks as soon as it is up. In turns, in one run, with one gateway.
 */
import { deferred } from "../../src/kit/deferred.ts";
import { type FakeDiscord, startFakeDiscord } from "../../src/testing/discord/fake-discord.ts";
import { type FakeBotApi, startFakeBotApi } from "../../src/testing/telegram/fake-bot-api.ts";
import { said } from "../../src/testing/telegram/people.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { type LoadClient, openLoadClient } from "../../src/testing/whole/load-client.ts";
import { channelConfig, TOKEN } from "../../src/testing/whole/platform-config.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, spread, type Spread, timed } from "./parts/stats.ts";

export interface HangingSize {
  /** Questions in each of the two conditions. */
  readonly asks: number;
  /** The two conditions take turns so often. */
  readonly turns: number;
  /** Chats on Telegram that wait for a reply that hangs. */
  readonly chats: number;
}

export interface HangingFigures {
  readonly calmMs: Spread;
  readonly troubledMs: Spread;
  readonly slowestMs: number;
  readonly ratio: { readonly p50: number; readonly p99: number };
  /** Sends that hung, and sign-ins and resumes that Discord saw. */
  readonly hung: number;
  readonly reconnects: number;
}

const WARM_UP = 5;
/** A crowd of messages over a channel that drops connections takes its time. */
const BENCH_WAIT_MS = 300_000;
/** A person types. */
const PAUSE_MS = 10;
const DROP_EVERY_MS = 100;
const DROPPED = 4000;
const FIRST_PERSON = 1_000;
const SESSION = "agent:default:webchat:dm:bench";

export async function measureHanging(size: HangingSize): Promise<HangingFigures> {
  await using provider = await startProviderProcess({ echo: true });
  await using telegram = await startFakeBotApi();
  await using discord = await startFakeDiscord({ now: () => Date.now() });
  const config = { ...benchConfig(provider.baseUrl), channels: channelConfig(telegram, discord) };
  await using gateway = await startGatewayProcess({ config });
  await telegram.until("the first poll", () => telegram.count("getUpdates") > 0);
  using client = await openLoadClient(gateway);
  const [calm, troubled]: [number[], number[]] = [[], []];
  const each = Math.ceil(size.asks / size.turns);
  await ask(client, WARM_UP);
  let hung = 0;
  for (let turn = 0; turn < size.turns; turn++) {
    calm.push(...(await ask(client, each)));
    const trouble = await makeTrouble(telegram, discord, size.chats);
    troubled.push(...(await ask(client, each)));
    hung += await trouble.end();
  }
  const [calmMs, troubledMs] = [spread(calm), spread(troubled)];
  const ratio = { p50: round(troubledMs.p50 / calmMs.p50), p99: round(troubledMs.p99 / calmMs.p99) };
  const { identifies, resumes } = discord.gateway;
  return { calmMs, troubledMs, slowestMs: Math.max(...troubled), ratio, hung, reconnects: identifies + resumes.length };
}

async function ask(client: LoadClient, count: number): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let at = 0; at < count; at++) {
    samples.push(await timed(() => client.ask(SESSION, `question ${at}`)));
    await Bun.sleep(PAUSE_MS);
  }
  return samples;
}

/** Everybody on Telegram wants something that needs no model, and every reply hangs. */
async function makeTrouble(telegram: FakeBotApi, discord: FakeDiscord, chats: number) {
  const room = telegram.bot(TOKEN);
  const release = deferred<void>();
  const sendsBefore = telegram.count("sendMessage");
  const stuck = { kind: "late", until: release.promise } as const;
  telegram.bewitch((method) => (method === "getUpdates" ? null : stuck));
  const entities = [{ type: "bot_command", offset: 0, length: 5 }];
  for (let at = 0; at < chats; at++) {
    const by = { id: FIRST_PERSON + at, first_name: `Person ${at}` };
    telegram.push(TOKEN, said({ by, messageId: room.nextMessageId(), more: { text: "/help", entities } }));
  }
  const wanted = Math.min(chats, MAX_AT_ONCE);
  await telegram.until(
    "every message is sent",
    () => telegram.count("sendMessage") - sendsBefore >= wanted,
    BENCH_WAIT_MS,
  );
  telegram.bewitch(() => stuck);
  const dropping = setInterval(() => discord.gateway.drop(DROPPED), DROP_EVERY_MS);
  return {
    async end(): Promise<number> {
      clearInterval(dropping);
      const hung = telegram.count("sendMessage") - sendsBefore;
      telegram.bewitch(null);
      release.resolve();
      await telegram.until(
        "a message to every chat",
        () => telegram.count("sendMessage") - sendsBefore >= chats,
        BENCH_WAIT_MS,
      );
      return hung;
    },
  };
}

/** What one account may have under way. */
const MAX_AT_ONCE = 32;

export const hangingChannels: Scenario = {
  name: "hanging-channels",
  async measure(scale) {
    const size = { asks: Math.max(60, Math.round(600 * scale)), turns: 6, chats: 48 };
    const { calmMs, troubledMs, ratio, hung, reconnects } = await measureHanging(size);
    return [
      { what: `web console, ${calmMs.samples} questions, all channels well: p50`, value: calmMs.p50, unit: "ms" },
      { what: "  p99", value: calmMs.p99, unit: "ms" },
      {
        what: `  Telegram hangs (${hung} sends), Discord reconnects (${reconnects} times): p50`,
        value: troubledMs.p50,
        unit: "ms",
      },
      { what: "  p99", value: troubledMs.p99, unit: "ms" },
      { what: "  p50, ratio", value: ratio.p50, unit: "x" },
      { what: "  p99, ratio", value: ratio.p99, unit: "x", ...atMost(1.5) },
    ];
  },
};
