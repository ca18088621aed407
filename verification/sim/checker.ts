/** The promises, checked against the tables and against what people and platforms saw. It reads the database itself, not through the store. */
import type { InboxId, Role, SessionKey, TurnId } from "../../src/contracts/ids.ts";
import type { Run, UnaskedMessage, Sends } from "./facts.ts";
import type { SimChannel } from "./options.ts";
import { countOf } from "./platform.ts";
import type { World } from "./world.ts";

interface InboxRow {
  readonly seq: number;
  readonly id: InboxId;
  readonly session_key: SessionKey;
  readonly channel: string;
  readonly chat: string;
  readonly sender: string;
  readonly event_id: string;
  readonly text: string;
  readonly role: Role;
  readonly received_at: number;
  readonly turn_id: TurnId | null;
  readonly done: number;
  readonly overflow: 0 | 1 | 2;
}

interface TurnRow {
  readonly seq: number;
  readonly id: TurnId;
  readonly session_key: SessionKey;
  readonly attempt: number;
  readonly state: "running" | "done" | "failed" | "aborted";
  readonly error_code: string | null;
  readonly begun_at: number;
}

interface PartRow {
  readonly seq: number;
  readonly id: string;
  readonly turn_id: TurnId;
  readonly part: number;
  readonly channel: string;
  readonly chat: string;
  readonly text: string;
  readonly state: string;
}

const RANK: Readonly<Record<Role, number>> = { guest: 0, member: 1, owner: 2 };
const TAKEN_BACK = "Withdrawn before it was answered.";
/** How ids of notices about parts that were given up end. */
const NOTICE = ":n";
const MAX_ATTEMPTS = 3;
const MAX_CRASHES = 3;

/** Holds at every moment at which nothing moves. */
export function checkNow({ database, facts }: World): void {
  const mute = database.rows<{ id: string }>(
    "select id from turns where state <> 'running' and not exists (select 1 from outbox where turn_id = turns.id)",
  );
  for (const { id } of mute) facts.wrong(`${id} ended without anything to show`);
  const torn = database.rows<{ id: string }>(
    "select inbox.id from inbox join turns on turns.id = turn_id where done <> case state when 'running' then 0 else 1 end",
  );
  for (const { id } of torn) facts.wrong(`${id} and its turn disagree about whether it is answered`);
}

/** Holds when everything has come to rest. */
export function checkEnd(world: World): void {
  const { rows } = world.database;
  const inbox = rows<InboxRow>("select * from inbox order by seq");
  const turns = rows<TurnRow>("select * from turns order by seq");
  const parts = rows<PartRow>("select * from outbox order by seq");
  world.facts.counts.turns = turns.length;
  world.facts.counts.parts = parts.length;
  world.facts.counts.overflow = inbox.filter((row) => row.overflow > 0).length;
  world.facts.counts.expired = turns.filter((turn) => turn.error_code === "message_expired").length;
  checkSayings(world, inbox);
  checkTakenBack(world, inbox, parts);
  const backs = new Set(parts.filter(({ text }) => text === TAKEN_BACK).map(({ turn_id }) => turn_id));
  const answered = inbox.filter((row) => row.turn_id === null || !backs.has(row.turn_id));
  checkOrder(
    world,
    answered.filter((row) => row.overflow === 0),
    turns,
  );
  const shown = answered.filter((row) => row.overflow < 2); // of those that are only counted, nobody can say which came when
  for (const one of Map.groupBy(shown, (row) => `${row.session_key} ${row.channel} ${row.chat}`).values())
    checkOrder(world, one, turns);
  for (const turn of turns) checkTurn(world, turn, inbox, parts);
  for (const part of parts) checkPart(world, part, parts);
  checkArrivals(world, parts);
}

function checkSayings({ facts }: World, inbox: readonly InboxRow[]): void {
  const rows = new Map(inbox.map((row) => [row.text, row]));
  if (rows.size !== inbox.length) facts.wrong("a message is stored twice");
  for (const saying of facts.sayings) {
    const row = rows.get(saying.message.text);
    if (saying.told && row?.id !== saying.told) facts.wrong(`${saying.message.text} was accepted and is lost`);
    if (!saying.told && !saying.maybe && row) facts.wrong(`${saying.message.text} was never accepted and is stored`);
    if (!saying.told && !saying.over) facts.wrong(`${saying.message.text} was never taken in`);
    if (row) checkSame(facts.wrong, row, saying);
  }
  for (const row of inbox) if (row.done !== 1 || !row.turn_id) facts.wrong(`${row.id} was never answered`);
}

function checkSame(wrong: (what: string) => void, row: InboxRow, { message, sessionKey }: UnaskedMessage): void {
  const { address, eventId, sender } = message;
  const same = row.session_key === sessionKey && row.channel === address.channel && row.chat === address.chat;
  if (!same || row.event_id !== eventId || row.sender !== sender.principal) wrong(`${row.id} is stored as another's`);
}

/** In each session, turns come in the order of their messages, and each takes what stands together. */
function checkOrder({ facts }: World, inbox: readonly InboxRow[], turns: readonly TurnRow[]): void {
  const place = new Map(turns.map(({ id, seq }) => [id, seq]));
  const last = new Map<SessionKey, number>();
  for (const row of inbox) {
    const seq = row.turn_id ? (place.get(row.turn_id) ?? 0) : 0;
    if (seq < (last.get(row.session_key) ?? 0)) facts.wrong(`${row.id} was answered out of order`);
    last.set(row.session_key, seq);
  }
}

/** Whoever was told that it is withdrawn never got an answer; and nothing is withdrawn that nobody wanted back. */
function checkTakenBack({ facts }: World, inbox: readonly InboxRow[], parts: readonly PartRow[]): void {
  const backs = new Set(parts.filter(({ text }) => text === TAKEN_BACK).map(({ turn_id }) => turn_id));
  for (const { message, takenBack, backAsked } of facts.sayings) {
    const row = inbox.find(({ text }) => text === message.text);
    const back = row?.turn_id ? backs.has(row.turn_id) : false;
    if (back) facts.counts.takenBack++;
    if (takenBack && !back) facts.wrong(`${message.text} was withdrawn and has another end`);
    if (back && !backAsked) facts.wrong(`${message.text} was withdrawn by nobody`);
    const asked = facts.runs.some(({ texts }) => saidIn(texts).includes(message.text));
    if (back && asked) facts.wrong(`${message.text} was withdrawn and an agent was asked`);
  }
}

function checkTurn(world: World, turn: TurnRow, inbox: readonly InboxRow[], parts: readonly PartRow[]): void {
  const { facts } = world;
  const asked = inbox.filter((row) => row.turn_id === turn.id);
  const shown = parts.filter((part) => part.turn_id === turn.id && !part.id.endsWith(NOTICE));
  const runs = facts.runs.filter((run) => run.turnId === turn.id);
  const [first] = asked;
  if (turn.state === "running") facts.wrong(`${turn.id} never ended`);
  for (const inLife of Map.groupBy(runs, (run) => run.life).values())
    if (inLife.length > MAX_ATTEMPTS) facts.wrong(`${turn.id} reached an agent too often`);
  if (!first) return facts.wrong(`${turn.id} answers nothing`);
  checkTogether(world, turn, asked, runs);
  if (shown.some((part) => part.channel !== first.channel || part.chat !== first.chat))
    facts.wrong(`${turn.id} is answered in another chat`);
  if (shown.some((part, at) => part.part !== at)) facts.wrong(`the parts of ${turn.id} are not in order`);
  for (const run of runs) checkAsked(facts.wrong, turn, run, asked);
  checkWaiting(world, turn, asked, runs);
  if (new Set(runs.map((run) => run.attempt)).size !== runs.length) facts.wrong(`an attempt of ${turn.id} ran twice`);
  checkPoison(world, turn, asked, runs);
  checkOutcome(world, turn, { runs, asked, said: shown.map((part) => part.text) });
}

/** What stands in one turn belongs together: one person, one place, and a reason to be joined at all. */
function checkTogether(
  { facts, options }: World,
  turn: TurnRow,
  asked: readonly InboxRow[],
  runs: readonly Run[],
): void {
  const whole = asked.filter((row) => row.overflow === 0);
  const [first = asked[0]] = whole;
  const modes = new Set([options.mode, ...(facts.everModes.get(turn.session_key) ?? [])]);
  const heard = runs.flatMap((run) => run.heard.flatMap(saidIn));
  const mayJoin = modes.has("collect") || modes.has("steer") || turn.error_code === "message_expired";
  const unjoined = whole.filter((row) => !heard.includes(row.text));
  if (!mayJoin && unjoined.length > 1) facts.wrong(`${turn.id} joins what was to stay apart`);
  if (whole.some((row) => row.sender !== first?.sender)) facts.wrong(`${turn.id} joins what different people said`);
  if (asked.some((row) => row.channel !== first?.channel || row.chat !== first.chat))
    facts.wrong(`${turn.id} joins what was said in different places`);
  for (const run of runs)
    if (asked.some((row) => run.texts.includes(row.text) && RANK[row.role] < RANK[run.role]))
      facts.wrong(`${turn.id} lets somebody act as another`);
  facts.counts.joined += whole.length - unjoined.length;
}

/** The agent was asked what is in the turn, and heard what joined it, each once; what it heard in vain is not the turn's. */
function checkAsked(wrong: (what: string) => void, turn: TurnRow, run: Run, asked: readonly InboxRow[]): void {
  const told = saidIn(run.texts);
  const heard = run.heard.flatMap(saidIn);
  const name = `${run.turnId}.${run.attempt}`;
  const order = new Map(asked.map((row, at) => [row.text, at]));
  if (told.some((text) => !order.has(text))) wrong(`${name} asked the agent something else`);
  const all = [...told, ...heard];
  if (new Set(all).size !== all.length) wrong(`${name} told the agent something twice`);
  const over = asked.filter((row) => row.overflow > 0);
  const block = new Set(over.map((row) => row.text));
  for (const part of [told.filter((text) => block.has(text)), told.filter((text) => !block.has(text))])
    if (part.some((text, at) => at > 0 && (order.get(text) ?? 0) < (order.get(part[at - 1] ?? "") ?? 0)))
      wrong(`${name} was told in another order`);
  const counted = Number(/\((\d+) more message/.exec(run.texts)?.[1] ?? 0);
  if (counted !== over.length) wrong(`${name} counts ${counted} of ${over.length} that were too many`);
  if (turn.state !== "done" || run.attempt !== turn.attempt) return; // its answer was never given
  if (asked.some((row) => row.overflow < 2 && !all.includes(row.text))) wrong(`${name} is done and left something out`);
  if (heard.some((text) => !order.has(text))) wrong(`${name} answered something that is not its own`);
}

/** Nobody is asked what has waited too long, and nothing ends for that reason that has not. */
function checkWaiting(
  { facts, options }: World,
  turn: TurnRow,
  asked: readonly InboxRow[],
  runs: readonly Run[],
): void {
  const heard = runs.flatMap((run) => run.heard.flatMap(saidIn));
  const waited = (row: InboxRow): boolean => turn.begun_at - row.received_at >= options.ttlMs;
  const expired = turn.error_code === "message_expired";
  if (expired && !asked.every((row) => waited(row) || row.overflow > 0)) facts.wrong(`${turn.id} was ended too early`);
  const late = asked.filter((row) => row.overflow === 0 && !heard.includes(row.text) && waited(row));
  if (runs.length > 0 && late.length > 0) facts.wrong(`${turn.id} answers what waited too long`);
}

/** Only what brings the gateway down is given up for that, after three attempts, the last one alone. */
function checkPoison({ facts, options }: World, turn: TurnRow, asked: readonly InboxRow[], runs: readonly Run[]): void {
  const deadly = asked.some((row) => row.overflow < 2 && options.poison.includes(row.text)); // what is only counted kills nobody
  const deaths = facts.deaths.get(turn.id) ?? [];
  if (deadly && turn.state === "done") facts.wrong(`${turn.id} is done and nobody can have answered it`);
  const calm = options.crashes === 0 && new Set(options.poison).size === 1;
  if (deadly && calm && runs.filter((run) => run.ending === null).length > MAX_CRASHES)
    facts.wrong(`${turn.id} brought the gateway down too often`);
  if (turn.error_code !== "gateway_crashed") return;
  facts.counts.poisoned++;
  if (deaths.length < MAX_CRASHES || deaths.at(-1)?.alone !== true)
    facts.wrong(`${turn.id} is held responsible for ${deaths.length} crashes without a proof`);
  if (options.crashes === 0 && !deadly) facts.wrong(`${turn.id} is given up and is innocent`);
}

const saidIn = (texts: string): string[] => texts.match(/<\d+>/g) ?? [];

/** Every ending has its reason, and shows what the current attempt said. */
function checkOutcome(
  { facts, options, shippedPool }: World,
  turn: TurnRow,
  {
    runs,
    asked,
    said,
  }: { readonly runs: readonly Run[]; readonly asked: readonly InboxRow[]; readonly said: readonly string[] },
): void {
  const last = runs.at(-1);
  const wrong = (what: string): void => facts.wrong(`${turn.id} ${what} (${turn.state} ${turn.error_code ?? ""})`);
  if (turn.state === "done") {
    if (last?.ending !== "done" || last.attempt !== turn.attempt) wrong("is done without an agent that was done");
    if (said.length !== 1 || said[0] !== last?.said) wrong("shows something else than its last attempt said");
  }
  const interrupts = options.mode === "interrupt" || facts.everModes.get(turn.session_key)?.has("interrupt");
  const back = said.includes(TAKEN_BACK) && asked.length === 1 && runs.length === 0;
  if (turn.state === "aborted" && !facts.stopped.has(turn.session_key) && !interrupts && !back)
    wrong("was stopped by nobody");
  if (turn.state !== "failed") return;
  const unopened = shippedPool && facts.leaseErrors.has(turn.id); // too few processes, or every one died when it was opened there
  const fits: Readonly<Record<string, boolean>> = {
    agent_exited: unopened || (turn.attempt >= MAX_ATTEMPTS && last?.ending === "died"),
    gateway_crashed: true, // see checkPoison
    pool_exhausted: unopened,
    agent_garbled: last?.ending === "failed",
    agent_timeout: last?.ending === "hung",
    agent_empty: last?.ending === "empty",
    message_expired: runs.length === 0,
    agent_unavailable: facts.leaseErrors.has(turn.id),
    agent_unsafe_retry: facts.unsafe.has(turn.id) || runs.some((run) => run.ending === null),
  };
  if (!fits[turn.error_code ?? ""]) wrong("failed without a reason");
}

function checkPart(world: World, part: PartRow, parts: readonly PartRow[]): void {
  const { facts, options } = world;
  const channel = options.channels.find(({ id }) => id === part.channel);
  const count = channel ? countOf(channel, part) : 1;
  const messages = Array.from({ length: count }, (_, at) => facts.sendsOf(part.id, at));
  const told = messages.map(({ arrived, shown, doubtful }) => `${arrived}/${shown}/${doubtful}`).join(" ");
  const wrong = (what: string): void =>
    facts.wrong(`${part.id} (${part.channel}, ${part.state}, arrived/shown/doubt ${told}) ${what}`);
  facts.counts.messages += count > 1 ? count : 0;
  if (!["sent", "dead", "ambiguous"].includes(part.state)) wrong("never ended");
  const refusedAt = messages.findLastIndex(({ permanent }) => permanent > 0);
  const refused = refusedAt >= 0;
  if (part.state === "sent" && messages.some(({ arrived }) => arrived === 0)) wrong("is called sent and never arrived");
  if (part.state === "dead" && !refused) wrong("is called dead without a reason");
  if (part.state === "ambiguous" && !messages.some(({ doubtful }) => doubtful > 0))
    wrong("is called ambiguous and there is no doubt");
  const harmless = channel?.repeat !== "risky" && channel?.dedupeMs === undefined;
  if (harmless && part.state === "ambiguous" && !refused) wrong("was given up where a repeat is harmless");
  for (const [at, sends] of messages.entries()) checkMessage(wrong, { part, channel, at, harmless, refusedAt }, sends);
  const missing = messages.some(({ arrived }) => arrived === 0);
  const inChat = (one: PartRow): boolean => one.channel === part.channel && one.chat === part.chat;
  const noticed = parts.some((one) => one.id.endsWith(NOTICE) && one.seq > part.seq && inChat(one));
  if (missing && !noticed && !facts.ownerTold.has(part.id)) wrong("was given up and nobody was told");
}

interface CheckedMessage {
  readonly part: PartRow;
  readonly channel: SimChannel | undefined;
  readonly at: number;
  /** A repeat is not seen by anybody. */
  readonly harmless: boolean;
  /** The last message of the part that the platform refused for good; below 0: none. */
  readonly refusedAt: number;
}

function checkMessage(wrong: (what: string) => void, about: CheckedMessage, sends: Sends): void {
  const { part, channel, at, harmless, refusedAt } = about;
  const { arrived, shown, doubtful } = sends;
  // where a repeat is harmless a send is not announced: a crash in the middle of one leaves no trace
  const unannounced = channel?.repeat === "safe" && doubtful > 0;
  if (part.state === "dead" && at === refusedAt && arrived > 0 && !unannounced)
    wrong(`is called dead although message ${at} arrived`);
  if (doubtful === 0 && arrived > 1) wrong(`repeated message ${at} without need`);
  if (harmless && shown > 1) wrong(`showed message ${at} twice where a repeat is harmless`);
  const tries = channel?.whenLost === "hold" ? 1 : 2;
  if (arrived === 0 && refusedAt < 0 && doubtful < tries)
    wrong(`left out message ${at}, whose response was not lost often enough`);
  if (harmless) return;
  if (shown > 2) wrong(`showed message ${at} more than twice`);
  if (part.state === "sent" && shown !== 1) wrong(`is called sent and showed message ${at} twice`);
  if (channel?.whenLost === "hold" && shown > 1) wrong(`repeated message ${at} where it should be held back`);
}

/** In each chat messages arrive in the order in which they were stored; a repeat comes before anything newer. */
function checkArrivals({ facts }: World, parts: readonly PartRow[]): void {
  const known = new Map(parts.map((part) => [part.id, part]));
  const last = new Map<string, readonly [seq: number, message: number]>();
  for (const { id, message, chat, text } of facts.arrivals) {
    const part = known.get(id);
    if (!part || part.text !== text) facts.wrong(`${id} arrived with other words than are stored`);
    const seq = part?.seq ?? 0;
    const [lastSeq, lastMessage] = last.get(chat) ?? [0, 0];
    if (seq < lastSeq || (seq === lastSeq && message < lastMessage)) facts.wrong(`${id} arrived out of order`);
    last.set(chat, [seq, message]);
  }
}

export function openRows({ database }: World): number {
  const [count] = database.rows<{ n: number }>(
    "select (select count(*) from inbox where done = 0) + (select count(*) from outbox where ended_at is null) as n",
  );
  return count?.n ?? 0;
}
