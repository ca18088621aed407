/** People who say things, say them again when no answer comes, press send twice, and press stop. Each event id is used for one thing only. */
import type { Receipt } from "../../src/contracts/channel.ts";
import type { InboxId, Principal, SessionKey } from "../../src/contracts/ids.ts";
import { QUEUE_MODES } from "../../src/contracts/session-settings.ts";
import type { Chance } from "../../src/testing/chance.ts";
import type { Facts, UnaskedMessage } from "./facts.ts";
import type { Life } from "./life.ts";
import { START_MS } from "./sim-time.ts";
import type { World } from "./world.ts";

export interface People {
  /** Whoever was waiting for an answer does not get one. */
  lifeEnded(): void;
}

const never = new AbortController().signal;
const AGAIN_MS = 3_000;
const REGRET_MS = [40, 400, 2_000] as const;

/** `life` is the one that can be reached now, if any. */
export function startPeople(world: World, life: () => Life | null): People {
  const chance = world.chance.fork("people");
  const waiting = new Set<UnaskedMessage>();
  const { facts, time, options } = world;

  const offer = async (saying: UnaskedMessage): Promise<void> => {
    const reached = life();
    if (!reached) return later(saying);
    waiting.add(saying);
    facts.note(`offered ${saying.message.text}`);
    try {
      const message = { ...saying.message, receivedAt: START_MS + time.now() };
      const receipt = await reached.receiver.receive(message, never);
      if (!reached.alive) return;
      waiting.delete(saying);
      const arriving = [...waiting].filter(({ sessionKey }) => sessionKey === saying.sessionKey).length;
      if (hear({ world, life: reached, arriving }, saying, receipt)) later(saying);
    } catch (error) {
      if (!reached.alive) return;
      waiting.delete(saying);
      facts.note(`not stored ${saying.message.text}: ${error instanceof Error ? error.message : "?"}`);
      if (!saying.maybe && !saying.told && rowOf(world, saying))
        facts.wrong(`${saying.message.text} was stored and refused`);
      later(saying);
    }
  };
  const later = (saying: UnaskedMessage): void => {
    if (!saying.told && !world.calm && chance.hits(options.givesUp * 0.3)) {
      saying.over = true;
      return;
    }
    time.at(chance.between(1, AGAIN_MS), () => void offer(saying));
  };

  let at = 0;
  let together: UnaskedMessage[] = [];
  for (const saying of sayingsOf(world, chance)) {
    facts.sayings.push(saying);
    if (together.length === 0 || !chance.hits(options.bursts)) {
      const burst: UnaskedMessage[] = (together = []);
      at = chance.between(0, options.talkMs);
      time.at(at, () => burst.forEach((one) => void offer(one))); // in the same tick, so that they share a commit
    }
    together.push(saying);
    if (chance.hits(options.repeats)) time.at(at, () => void offer(saying));
    if (chance.hits(options.repeats)) time.at(at + chance.between(0, options.talkMs), () => void offer(saying));
    if (chance.hits(options.cancels))
      time.at(at + chance.between(0, chance.pick(REGRET_MS)), () => void regret(world, life(), saying));
  }
  const regrets = world.chance.fork("regrets");
  world.told = (text) => {
    const saying = facts.sayings.find(({ message }) => text.startsWith(message.text));
    if (saying && regrets.hits(options.cancels))
      // the worst moment to take it back
      time.at(regrets.between(0, 20), () => void regret(world, life(), saying));
  };
  for (let count = 0; count < options.choices; count++)
    time.at(chance.between(0, options.talkMs * 2), () => void choose(world, life(), chance));
  for (let count = 0; count < options.aborts; count++)
    time.at(chance.between(0, options.talkMs * 2), () => pressStop(world, life(), chance));

  return {
    lifeEnded() {
      world.choosing.clear(); // nobody will hear how it ended
      for (const saying of waiting) {
        saying.maybe = true;
        later(saying);
      }
      waiting.clear();
    },
  };
}

interface Hearing {
  readonly world: World;
  readonly life: Life;
  /** What others have offered in this session and were not told about yet. */
  readonly arriving: number;
}

/** What the sender makes of the answer. True: it will say it again. */
function hear({ world, life, arriving }: Hearing, saying: UnaskedMessage, receipt: Receipt): boolean {
  const { facts, options } = world;
  const { text } = saying.message;
  facts.note(`${receipt.kind} ${text}`);
  if (receipt.kind === "refused") {
    facts.counts.refused++;
    if (!saying.maybe && !saying.told && rowOf(world, saying)) facts.wrong(`${text} was refused and is stored`);
    const channel = options.channels.find(({ id }) => id === saying.message.address.channel);
    if (receipt.because.endsWith("_full") && !channel?.canRefuse)
      facts.wrong(`${text} was refused where nobody can be`);
    if (arriving === 0) checkRefusal(world, saying, receipt.because);
    return saying.told === null;
  }
  const row = rowOf(world, saying);
  if (!row) facts.wrong(`${text} was accepted and is not stored`);
  else if (row.id !== receipt.id) facts.wrong(`${text} was accepted under an id that is not its own`);
  if (receipt.kind === "queued") {
    if (saying.told) facts.wrong(`${text} was queued twice`);
    const { mode } = life.queue.session(saying.sessionKey, saying.message.address.channel);
    const known = facts.modes.get(saying.sessionKey) ?? null;
    if (known !== "unknown" && mode !== (known ?? options.mode)) facts.wrong(`${saying.sessionKey} forgot its mode`);
    if (mode === "interrupt" && !saying.message.steer && life.pool.busyWith(saying.sessionKey))
      facts.wrong(`${text} did not interrupt the turn before it`);
  } else {
    facts.counts.duplicates++;
    if (!receipt.sameContent) facts.wrong(`${text} was taken for something else under its id`);
  }
  saying.told = receipt.id;
  return false;
}

/** Nobody is rejected while there is room. */
function checkRefusal(
  { database, options, facts }: World,
  { sessionKey, message }: UnaskedMessage,
  because: string,
): void {
  if (because === "stopping" || because === "gateway_full") return;
  const [waiting] = database.rows<{ n: number }>(
    "select count(*) as n from inbox where session_key = ? and done = 0",
    sessionKey,
  );
  if (because !== "session_full" || (waiting?.n ?? 0) < Math.min(options.maxPerSession, 1))
    facts.wrong(`${message.text} was refused (${because}) without need`);
}

function rowOf({ database }: World, { message: { address, eventId } }: UnaskedMessage): { id: InboxId } | null {
  const text = "select id from inbox where channel = ? and event_id = ?";
  return database.rows<{ id: InboxId }>(text, address.channel, eventId)[0] ?? null;
}

/** Takes it back, if it still waits; somebody else's cannot be. */
async function regret({ facts }: World, life: Life | null, saying: UnaskedMessage): Promise<void> {
  const { told, message } = saying;
  if (!life?.alive || !told) return;
  saying.backAsked = true;
  try {
    const theirs = await life.waitingMessages.cancel(told, "somebody else" as Principal);
    if (!life.alive) return;
    if (theirs.kind !== "unknown") facts.wrong(`${message.text} was withdrawn by another`);
    const done = await life.waitingMessages.cancel(told, message.sender.principal);
    if (!life.alive) return;
    facts.note(`taking back ${message.text}: ${done.kind}`);
    if (done.kind === "unknown") facts.wrong(`${message.text} is unknown to its sender`);
    if (done.kind === "cancelled") saying.takenBack = true;
  } catch (error) {
    facts.note(`not withdrawn ${message.text}: ${error instanceof Error ? error.message : "?"}`);
    notAnAccident(facts, error);
  }
}

async function choose(world: World, life: Life | null, chance: Chance): Promise<void> {
  const { facts, database, options } = world;
  const key = sessionKeyOf(chance.between(1, options.sessions));
  const mode = chance.pick([...QUEUE_MODES, null] as const);
  const [row] = database.rows<{ key: string }>("select key from sessions where key = ?", key);
  if (!life?.alive || !row || world.choosing.has(key)) return;
  world.choosing.add(key);
  const ever = facts.everModes.get(key) ?? new Set();
  facts.everModes.set(key, ever.add(mode ?? options.mode));
  facts.modes.set(key, "unknown");
  try {
    await life.queue.choose(key, mode);
    if (!life.alive) return;
    facts.modes.set(key, mode);
    facts.counts.chosen++;
    facts.note(`${key} is now ${mode ?? "as configured"}`);
  } catch (error) {
    facts.note(`${key} did not get its mode`); // the disk would not
    notAnAccident(facts, error);
  } finally {
    world.choosing.delete(key);
  }
}

function pressStop({ facts, options }: World, life: Life | null, chance: Chance): void {
  const sessionKey = sessionKeyOf(chance.between(1, options.sessions));
  if (!life?.queue.abort(sessionKey)) return;
  facts.stopped.add(sessionKey);
  facts.note(`stop pressed in ${sessionKey}`);
}

const sessionKeyOf = (number: number): SessionKey => `agent:default:sim:${number}` as SessionKey;

/** Several people may share a session, in one chat or from several; each channel counts its events from 1. */
function sayingsOf({ options }: World, chance: Chance): UnaskedMessage[] {
  const events = new Map<string, number>();
  const homes = new Map<string, string>();
  return Array.from({ length: options.messages }, (_, at) => {
    const session = chance.between(1, options.sessions);
    const person = chance.between(1, 2);
    const near = chance.hits(0.5) ? homes.get(`${session} ${3 - person}`) : undefined; // often two speak in one chat
    const home =
      homes.get(`${session} ${person}`) ?? near ?? chance.pick(["safe", "deduplicated", "forgetful", "risky", "held"]);
    homes.set(`${session} ${person}`, home);
    const event = (events.get(home) ?? 0) + 1;
    events.set(home, event);
    return {
      message: {
        eventId: `event-${event}`,
        fingerprint: `print-${at}`,
        address: { channel: home, account: "default", chat: `chat-${session}` },
        scope: "dm",
        sender: { principal: `person-${session}-${person}` as Principal, name: "Somebody" },
        text: `<${at}>`,
        quoted: [],
        attachments: [],
        mentioned: true,
        ...(chance.hits(options.steers) ? { steer: true } : {}),
        receivedAt: START_MS,
      },
      sessionKey: sessionKeyOf(session),
      role: session % 2 === 1 && person === 1 ? "owner" : "member", // others share a role, so that it keeps nobody apart
      priority: session % 2 === 0 ? 10 : 5,
      told: null,
      maybe: false,
      over: false,
      takenBack: null,
      backAsked: false,
    };
  });
}

/** A disk that fails is one; a mistake in the source is none, and would look like it. */
function notAnAccident(facts: Facts, error: unknown): void {
  if (error instanceof TypeError || error instanceof ReferenceError) facts.wrong(`${error.name}: ${error.message}`);
}
