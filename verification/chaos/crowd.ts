/**
 * Many clients at once, over many sessions: pages on the WebSocket, programs on POST /api/chat, whole answers and streamed ones. Each keeps
 * at it until it has its answer, as the documentation tells clients to: the same id again after a lost connection. What each was told and
 * shown is kept for the verdict; nothing is judged here.
 */
import { systemClock } from "../../src/kit/clock.ts";
import { type Deferred, deferred } from "../../src/kit/deferred.ts";
import type { Chance } from "../../src/testing/chance.ts";
import { type ChatClient, createChatClient } from "../../src/testing/whole/chat-client.ts";
import type { GatewayProcess } from "../../src/testing/whole/gateway-process.ts";

/** One thing a client said, and what it knows of it. */
export interface Said {
  readonly client: string;
  readonly session: string;
  readonly text: string;
  /** The gateway said that it has it. */
  acknowledged: boolean;
  /** Its sender hung up for good: nobody asks again. */
  gaveUp: boolean;
  /** Every answer its own client got for it, in words and by turn. */
  readonly answers: { readonly turnId: string; readonly text: string }[];
}

export interface Crowd extends Disposable {
  readonly said: readonly Said[];
  /** How often a frame came again under an id its client had; clients drop those. */
  repeats(): number;
  /** What was shown to each client, by session. */
  shown(): readonly { readonly session: string; readonly ids: readonly string[]; readonly texts: readonly string[] }[];
  /** Everybody says something; resolves when everybody who still waits has an answer. */
  speak(round: number): Promise<void>;
  /** How many wait for an answer now. */
  waiting(): number;
  /** Resolves when this many more frames and answers have reached the crowd. */
  heard(count: number): Promise<void>;
  /** The gateway is gone; everybody notices. */
  lost(): void;
  /** It can be reached again, perhaps elsewhere. */
  found(gateway: GatewayProcess): Promise<void>;
}

export interface CrowdSize {
  readonly pages: number;
  readonly programs: number;
  /** Sessions of each kind; with fewer than clients, several speak in one. */
  readonly sessions: number;
}

const MAX_AT_ONCE = 2;
const WORDS = "the quick brown fox jumps over the lazy dog";
/** Share of streamed answers whose client hangs up once its message is accepted. */
const HANGS_UP = 0.1;
/** Share of answers that are asked for a second time, under the same key. */
const ASKS_AGAIN = 0.2;
const TRY_AGAIN_MS = 50;

export const webChatSession = (number: number): string => `agent:default:webchat:dm:crowd-${number}`;
export const apiSession = (number: number): string => `agent:default:api:dm:crowd-${number}`;
/** What the demo model answers. */
export const answerTo = (text: string): string => text.replace("echo: ", "");

export function createCrowd(size: CrowdSize, chance: Chance): Crowd {
  const said: Said[] = [];
  const noise = createNoise();
  const place = createPlace();
  const over = new AbortController();
  const pages = Array.from({ length: size.pages }, (_, at) =>
    createPage(`page-${at}`, webChatSession(at % size.sessions), noise.tick),
  );
  const programs = Array.from({ length: size.programs }, (_, at) =>
    createProgram(`program-${at}`, apiSession(at % size.sessions), {
      place,
      chance: chance.fork(`program ${at}`),
      heard: noise.tick,
      over: over.signal,
    }),
  );
  const speakers: readonly Speaker[] = [...pages, ...programs];
  const dice = chance.fork("speaking");

  return {
    said,
    repeats: () => pages.reduce((sum, page) => sum + page.repeats(), 0),
    shown: () => pages.map(({ client }) => shownTo(client)),
    async speak(round) {
      const talks = speakers.flatMap(({ name, session, say }) =>
        Array.from({ length: dice.between(0, MAX_AT_ONCE) }, (_, at) => {
          const text = `echo: ${round}.${name}.${at} ${WORDS}`;
          const one: Said = { client: name, session, text, acknowledged: false, gaveUp: false, answers: [] };
          said.push(one);
          return say(one);
        }),
      );
      await Promise.all(talks);
    },
    waiting: () => said.filter(({ answers, gaveUp }) => answers.length === 0 && !gaveUp).length,
    heard: noise.until,
    lost() {
      place.leave();
      for (const { client } of pages) client.disconnect();
    },
    async found(gateway) {
      place.enter(gateway);
      await Promise.all(pages.map(({ client }) => client.connect(gateway.url, gateway.token)));
    },
    [Symbol.dispose]() {
      over.abort(new Error("the crowd has gone home"));
      for (const { client } of pages) client.disconnect();
    },
  };
}

interface Speaker {
  readonly name: string;
  readonly session: string;
  /** Resolves when this client has its answer, or has given up. */
  say(said: Said): Promise<void>;
}

interface Page extends Speaker {
  readonly client: ChatClient;
  repeats(): number;
}

function createPage(name: string, session: string, heard: () => void): Page {
  const client = createChatClient(session, name);
  const seen = new Set<string>();
  let repeats = 0;
  client.onFrame = (frame) => {
    heard();
    if (!("event" in frame) || frame.event !== "message" || frame.data.sessionKey !== session) return;
    if (seen.has(frame.data.item.id)) repeats++;
    seen.add(frame.data.item.id);
  };
  return {
    name,
    session,
    client,
    repeats: () => repeats,
    async say(said) {
      const inboxId = await client.send(said.text);
      said.acknowledged = true;
      const reply = () =>
        client.shown.find(({ role, text }) => role === "assistant" && text === answerTo(said.text)) ??
        noticeFor(client, inboxId);
      await client.until(() => reply() !== undefined);
      const shown = reply();
      if (shown) said.answers.push({ turnId: shown.turnId ?? "", text: shown.text });
    },
  };
}

/** A turn that failed ends with a notice instead of the words that were asked for. */
function noticeFor({ turnOf, shown }: ChatClient, inboxId: string): ChatClient["shown"][number] | undefined {
  const turnId = turnOf(inboxId);
  return shown.find((item) => turnId !== undefined && item.kind === "notice" && item.turnId === turnId);
}

function shownTo({ session, shown }: ChatClient) {
  return { session, ids: shown.map(({ id }) => id), texts: shown.map(({ role, text }) => `${role} ${text}`) };
}

interface ProgramWorld {
  readonly place: Place;
  readonly chance: Chance;
  /** Nobody waits for anything any more. */
  readonly over: AbortSignal;
  heard(): void;
}

function createProgram(name: string, session: string, { place, chance, over, heard }: ProgramWorld): Speaker {
  const ask = async (said: Said, streamed: boolean, hangUp: boolean): Promise<boolean> => {
    const gateway = await place.gateway();
    const hanging = new AbortController();
    const response = await gateway.fetch("/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": keyOf(said) },
      body: JSON.stringify({ text: said.text, session, stream: streamed }),
      signal: AbortSignal.any([hanging.signal, over]),
    });
    if (response.status === 429 || response.status === 503) return false;
    if (!streamed) {
      const body = (await response.json()) as { content?: string; turnId?: string; error?: { message: string } };
      said.acknowledged = true;
      heard();
      said.answers.push({ turnId: body.turnId ?? "", text: body.content ?? body.error?.message ?? "" });
      return true;
    }
    for await (const { event, data } of serverEvents(response)) {
      heard();
      if (event === "accepted") said.acknowledged = true;
      if (event === "accepted" && hangUp) {
        said.gaveUp = true;
        hanging.abort();
        return true;
      }
      if (event !== "done" && event !== "error") continue;
      const { turnId, content, message } = data as { turnId?: string; content?: string; message?: string };
      said.answers.push({ turnId: turnId ?? "", text: content ?? message ?? "" });
      return true;
    }
    return false; // cut off in the middle
  };
  const askUntilAnswered = async (said: Said, streamed: boolean, hangUp: boolean): Promise<void> => {
    while (!over.aborted) {
      const done = await ask(said, streamed, hangUp).catch(() => said.gaveUp); // unless it hung up itself, the same again
      if (done) return;
      await systemClock.sleep(TRY_AGAIN_MS, over).catch(() => undefined); // looked at above
    }
  };
  return {
    name,
    session,
    async say(said) {
      const streamed = chance.hits(0.5);
      const hangUp = streamed && chance.hits(HANGS_UP);
      const again = chance.hits(ASKS_AGAIN);
      await askUntilAnswered(said, streamed, hangUp);
      if (again && !said.gaveUp) await askUntilAnswered(said, !streamed, false);
    },
  };
}

function keyOf({ text }: Said): string {
  return text.split(" ")[1] ?? text;
}

async function* serverEvents(response: Response): AsyncGenerator<{ event: string; data: unknown }, void, void> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of response.body ?? []) {
    const blocks = (held + decoder.decode(chunk, { stream: true })).split("\n\n");
    held = blocks.pop() ?? "";
    for (const block of blocks) {
      const [event, data] = block.split("\n");
      if (event?.startsWith("event: ")) yield { event: event.slice(7), data: JSON.parse(data?.slice(6) ?? "null") };
    }
  }
}

/** Where the gateway is, for those who have to wait until it is somewhere. */
interface Place {
  gateway(): Promise<GatewayProcess>;
  enter(gateway: GatewayProcess): void;
  leave(): void;
}

function createPlace(): Place {
  let there: Deferred<GatewayProcess> = deferred();
  let known = false;
  return {
    gateway: () => there.promise,
    enter(gateway) {
      if (known) there = deferred();
      known = true;
      there.resolve(gateway);
    },
    leave() {
      if (known) there = deferred();
      known = false;
    },
  };
}

function createNoise(): { tick(): void; until(count: number): Promise<void> } {
  let ticks = 0;
  let waiting: { readonly at: number; readonly done: Deferred<void> }[] = [];
  return {
    tick() {
      ticks++;
      waiting = waiting.filter(({ at, done }) => {
        if (ticks >= at) done.resolve();
        return ticks < at;
      });
    },
    until(count) {
      const done = deferred<void>();
      waiting.push({ at: ticks + count, done });
      return done.promise;
    },
  };
}
