/** People in chats of a fake Telegram, which one gateway at a time receives for. It outlives every gateway: it keeps what was said until it is taken, and shows what was sent. */
import { systemClock } from "../../src/kit/clock.ts";
import type { Chance } from "../../src/testing/chance.ts";
import { startFakeBotApi } from "../../src/testing/telegram/fake-bot-api.ts";
import { TOKEN } from "../../src/testing/whole/platform-config.ts";
import { telegramSpots } from "../chaos/platforms/people.ts";
import { judgePlatform, nameOf, type PlatformVerdict } from "../chaos/platforms/verdict.ts";
import { type Times, timesOf } from "./times.ts";
import { expectedOf, type History, messagesByTurn, type Model, type SentMessage } from "./verdict.ts";

interface ChatOptions {
  /** Where gateways reach it. */
  readonly host: string;
  readonly chance: Chance;
  /** Between two messages of a chat: at least, and at most. */
  readonly pauseMs: readonly [number, number];
  /** How many faults there were so far: a reply may be there twice when one came between. */
  faultsSoFar(): number;
  readonly model: Model;
}

export interface Chats extends AsyncDisposable {
  /** For the gateways' configuration. */
  readonly channels: Readonly<Record<string, unknown>>;
  begin(): void;
  /** Says no more. */
  stop(): Promise<void>;
  /** Everything that was said has been taken. */
  isHeard(): boolean;
  sent(): readonly SentMessage[];
  /** From what was said until a gateway has taken it. */
  heard(): Times;
  /** Polls with the same token until `during` has resolved. Returns how many polls of gateways that has ended. */
  pollBeside(during: Promise<void>): Promise<number>;
  verdict(history: History): PlatformVerdict;
  /** Every call that the platform took, and its messages with all texts they had. */
  evidence(): unknown;
}

/** Those that speak to the bot alone. */
const CHATS = 3;
const POLL_EVERY_MS = 300;
const LOOK_MS = 100;

interface SaidInChat {
  readonly chat: string;
  readonly number: number;
  readonly text: string;
  /** Of the update on the platform. */
  readonly name: string;
  readonly at: number;
}

export async function startChats({ host, chance, pauseMs, faultsSoFar, model }: ChatOptions): Promise<Chats> {
  const api = await startFakeBotApi(systemClock, host);
  const spots = telegramSpots(api).slice(0, CHATS);
  const said: SaidInChat[] = [];
  const shownAfter = new Map<number, number>();
  const stopping = new AbortController();
  api.onShown((message) => void shownAfter.set(message, faultsSoFar()));

  const isWaiting = (name: string): boolean => api.waiting(TOKEN).includes(Number(name));
  /** Never rejects. */
  const talk = async (spot: (typeof spots)[number], own: Chance): Promise<void> => {
    for (let number = 0; !stopping.signal.aborted; number++) {
      const text = `${spot.chat} says ${number}`;
      said.push({ chat: spot.chat, number, text, name: spot.say(text), at: performance.now() });
      await systemClock.sleep(own.between(...pauseMs), stopping.signal).catch(() => undefined); // nobody speaks any more
    }
  };
  const ears = watchTaken(() => said.filter(({ name }) => !isWaiting(name)));
  let talking: Promise<unknown> = Promise.resolve();
  const pollOnce = async (): Promise<void> => {
    const asked = { method: "POST", signal: AbortSignal.timeout(POLL_EVERY_MS), body: JSON.stringify({ timeout: 0 }) };
    await fetch(`${api.apiRoot}/bot${TOKEN}/getUpdates`, asked).catch(() => undefined); // it is only in the way
    await systemClock.sleep(POLL_EVERY_MS, stopping.signal).catch(() => undefined); // nobody speaks any more
  };
  return {
    channels: { telegram: { botToken: TOKEN, apiRoot: api.apiRoot, dmPolicy: "open", allowFrom: ["*"] } },
    begin: () => void (talking = Promise.all(spots.map((spot) => talk(spot, chance.fork(spot.chat))))),
    async stop() {
      stopping.abort(new Error("nobody speaks any more"));
      await talking;
    },
    isHeard: () => api.waiting(TOKEN).length === 0,
    sent: () =>
      said.map(({ chat, number, text, name }) => ({
        session: chat,
        number,
        text,
        acknowledgedAt: isWaiting(name) ? null : 0,
        isPoisoned: false,
      })),
    heard: ears.times,
    async pollBeside(during) {
      const before = api.conflicts;
      let over = false;
      void during.then(() => (over = true));
      while (!over) await pollOnce();
      return api.conflicts - before;
    },
    verdict: (history) =>
      judgePlatform({
        ...whatIsToBeShown(history, model, said, isWaiting),
        shown: api
          .bot(TOKEN)
          .messages.filter(({ deleted }) => !deleted)
          .map(({ id, chat, text }) => ({
            chat,
            text: inShort(model, text),
            life: shownAfter.get(id) ?? 0,
            untold: api.untold.has(id),
          })),
        doubts: history.replies
          .filter(({ isInDoubt }) => isInDoubt)
          .map(({ chat, text }) => ({ chat, text: inShort(model, text) })),
      }),
    evidence: () => ({
      calls: api.calls.filter(({ method }) => method !== "getUpdates" && method !== "sendChatAction"),
      messages: api.bot(TOKEN).messages.map(({ id, chat, text, before, deleted }) => {
        return { id, chat, text, before, deleted, afterFaults: shownAfter.get(id) ?? null, untold: api.untold.has(id) };
      }),
    }),
    async [Symbol.asyncDispose]() {
      await ears[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

/** The answer to a turn with overflow: a platform shows its lines in its own way, so only the messages that it names are compared. */
function inShort(model: Model, answer: string): string {
  const { texts, overflow } = model.heardIn(answer);
  return overflow === 0 ? answer : model.answerTo(`${texts.join(" | ")}, with overflow ${overflow}`);
}

type ToBeShown = Pick<Parameters<typeof judgePlatform>[0], "said" | "excused">;

/** One answer for each turn, and for each message that has none. Which messages a turn answers is judged by the rows. */
function whatIsToBeShown(
  history: History,
  model: Model,
  said: readonly SaidInChat[],
  isWaiting: (name: string) => boolean,
): ToBeShown {
  const byTurn = messagesByTurn(history);
  const turnOf = new Map(history.messages.map(({ text, turnId }) => [text, turnId]));
  const noticed = new Set(history.replies.filter(({ isNotice }) => isNotice).map(({ turnId }) => turnId));
  const answers = said.flatMap(({ chat, text, name }) => {
    const turnId = turnOf.get(text) ?? "";
    const own = byTurn.get(turnId) ?? [];
    const first = own.find(({ overflow: how }) => how !== "counted");
    if (first !== undefined && first.text !== text) return []; // the first message that its turn shows stands for all of them
    const { texts, overflow } = expectedOf(own);
    const answer = model.answerTo(overflow === 0 ? text : `${texts.join(" | ")}, with overflow ${overflow}`);
    return [{ chat, answer, taken: !isWaiting(name), turnId }];
  });
  return { said: answers, excused: new Set(answers.filter(({ turnId }) => noticed.has(turnId)).map(nameOf)) };
}

/** Looks again and again which of what was said has been taken. */
function watchTaken(taken: () => readonly SaidInChat[]): AsyncDisposable & { times(): Times } {
  const took = new Map<SaidInChat, number>();
  const stopping = new AbortController();
  /** Never rejects. */
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const now = performance.now();
      for (const one of taken()) if (!took.has(one)) took.set(one, now - one.at);
      await systemClock.sleep(LOOK_MS, stopping.signal).catch(() => undefined); // the run is over
    }
  };
  const looking = look();
  return {
    times: () => timesOf([...took.values()]),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the run is over"));
      await looking;
    },
  };
}
