/** The tables that the timeline is made of: how each is walked, which of its rows a filter means, and what a row tells. */
import { sentenceOf } from "../../contracts/errors.ts";
import { type RawBuilder, sql as raw } from "kysely";
import type { Principal, SessionKey, TurnId } from "../../contracts/ids.ts";
import type { ActivityEntry, ActivityFilter, ActivityKind, ActivityOutcome } from "../../contracts/store/activity.ts";
import type { Span } from "../../contracts/queue.ts";
import { decodeJson } from "../rows/codec.ts";

type Term = RawBuilder<boolean>;
type Column = string | number | null;
export type ActivityRow = Readonly<Record<string, Column>> & { readonly at: number; readonly seq: number };

export interface Source {
  readonly kind: ActivityKind;
  readonly from: RawBuilder<unknown>;
  readonly at: RawBuilder<number>;
  readonly seq: RawBuilder<number>;
  readonly columns: RawBuilder<unknown>;
  terms(filter: ActivityFilter): readonly Term[];
  /** Several: the model calls of one turn. */
  entriesOf(row: ActivityRow): readonly ActivityEntry[];
}

const MAX_NAME_CHARS = 120;

/** The first message of a turn says who asked, where, and what. */
const FIRST_MESSAGE = raw`inbox.seq = (select min(first.seq) from inbox as first where first.turn_id = turns.id)`;
const TURNS_WITH_MESSAGE = raw`turns left join inbox on ${FIRST_MESSAGE}`;
const TURN_COLUMNS = raw`turns.id, turns.session_key, turns.agent_id, turns.state, turns.model, turns.error_code,
  turns.input_tokens, turns.output_tokens, turns.cost_usd, turns.ended_at, inbox.channel, inbox.sender, inbox.text, inbox.received_at`;

function turns(): Source {
  return {
    kind: "turn",
    from: TURNS_WITH_MESSAGE,
    at: raw<number>`turns.begun_at`,
    seq: raw<number>`turns.seq`,
    columns: TURN_COLUMNS,
    terms: (filter) => [
      ...turnTerms(filter),
      ...outcomeTerm(raw`turns.state`, filter.outcome, TURN_STATES),
      ...textTerm(filter.text, [raw`inbox.text`, raw`coalesce(turns.model, '')`, raw`coalesce(turns.error_code, '')`]),
    ],
    entriesOf: (row) => [
      {
        ...ofTurn(row),
        id: textOf(row["id"]),
        kind: "turn",
        at: row.at,
        ms: isNumber(row["ended_at"]) ? Math.max(0, row["ended_at"] - row.at) : null,
        outcome: outcomeOf(row["state"], TURN_STATES),
        name: firstLine(row["text"]),
        note: sentenceOf(textOf(row["error_code"])) || textOf(row["model"]),
        usage: {
          inputTokens: numberOf(row["input_tokens"]),
          outputTokens: numberOf(row["output_tokens"]),
          costUsd: numberOf(row["cost_usd"]),
        },
      },
    ],
  };
}

/** Model calls are kept with their turn, as spans; they come with it, and have its place in the list. */
function modelCalls(): Source {
  return {
    kind: "model",
    from: TURNS_WITH_MESSAGE,
    at: raw<number>`turns.begun_at`,
    seq: raw<number>`turns.seq`,
    columns: raw`${TURN_COLUMNS}, turns.spans`,
    terms: (filter) => [
      raw<boolean>`turns.spans like '%"name":"model:%'`,
      ...turnTerms(filter),
      ...(filter.outcome === undefined ? [] : [spanTerm(filter.outcome)]),
      ...textTerm(filter.text, [raw`turns.spans`]),
    ],
    entriesOf: (row) => modelSpans(row["spans"]).map((span, index) => modelEntry(row, span, index)),
  };
}

/** A turn with one such call among others is found with all of them. */
function spanTerm(outcome: ActivityOutcome): Term {
  const words = MODEL_OUTCOMES[outcome] ?? [];
  if (words.length === 0) return raw<boolean>`false`;
  return anyOf(words.map((word) => raw<boolean>`turns.spans like ${`%"note":"${word}%`}`));
}

function modelEntry(row: ActivityRow, { name, startMs, ms, note = "" }: Span, index: number): ActivityEntry {
  const accepted = isNumber(row["received_at"]) ? row["received_at"] : row.at;
  return {
    ...ofTurn(row),
    id: `${textOf(row["id"])}#${index + 1}`,
    kind: "model",
    at: Math.round(accepted + startMs),
    ms,
    outcome: outcomeOf(note.split(/[ ,]/)[0] ?? "", MODEL_OUTCOMES),
    name: name.slice(MODEL.length),
    note,
  };
}

const MODEL = "model:";

/** Also those of agents that worked for the turn. */
function modelSpans(stored: Column | undefined): readonly Span[] {
  const spans = decodeJson(textOf(stored));
  return Array.isArray(spans)
    ? (spans as Span[]).flatMap(withChildren).filter(({ name }) => name.startsWith(MODEL))
    : [];
}

function withChildren(span: Span): readonly Span[] {
  return [span, ...(span.children ?? []).flatMap(withChildren)];
}

function toolCalls(): Source {
  return {
    kind: "tool",
    from: raw`tool_calls`,
    at: raw<number>`tool_calls.at`,
    seq: raw<number>`tool_calls.seq`,
    columns: raw`id, turn_id, session_key, principal, tool, origin, status, ms, substr(output, 1, ${raw.lit(MAX_NAME_CHARS)}) as output`,
    terms: ({ agent, person, channel, outcome, text }) => [
      ...agentOfSession(raw`tool_calls.session_key`, agent),
      ...equal(raw`tool_calls.principal`, person),
      ...channelOfTurn(raw`tool_calls.turn_id`, channel),
      ...outcomeTerm(raw`tool_calls.status`, outcome, TOOL_STATUSES),
      ...textTerm(text, [raw`tool_calls.tool`, raw`tool_calls.input`]),
    ],
    entriesOf: (row) => [
      {
        id: textOf(row["id"]),
        kind: "tool",
        at: row.at,
        ms: isNumber(row["ms"]) ? row["ms"] : null,
        outcome: outcomeOf(row["status"], TOOL_STATUSES),
        name: textOf(row["tool"]),
        note: row["status"] === "success" ? "" : firstLine(row["output"]),
        turnId: (textOf(row["turn_id"]) || null) as TurnId | null,
        ...sessionOf(row["session_key"]),
        person: textOf(row["principal"]) as Principal,
      },
    ],
  };
}

function jobRuns(): Source {
  return {
    kind: "job",
    from: raw`job_runs left join jobs on jobs.id = job_runs.job_id`,
    at: raw<number>`job_runs.written_at`,
    seq: raw<number>`job_runs.seq`,
    columns: raw`job_runs.id, job_runs.job_id, job_runs.status, job_runs.reason, job_runs.ms, job_runs.turn_id,
      jobs.agent_id, jobs.created_by, jobs.channel`,
    terms: ({ agent, person, channel, outcome, text }) => [
      ...equal(raw`jobs.agent_id`, agent),
      ...equal(raw`jobs.created_by`, person),
      ...equal(raw`jobs.channel`, channel),
      ...outcomeTerm(raw`job_runs.status`, outcome, RUN_STATUSES),
      ...textTerm(text, [raw`job_runs.job_id`, raw`coalesce(job_runs.reason, '')`]),
    ],
    entriesOf: (row) => [
      {
        id: textOf(row["id"]),
        kind: "job",
        at: row.at,
        ms: isNumber(row["ms"]) ? row["ms"] : null,
        outcome: outcomeOf(row["status"], RUN_STATUSES),
        name: textOf(row["job_id"]),
        note: textOf(row["reason"]),
        turnId: (textOf(row["turn_id"]) || null) as TurnId | null,
        sessionKey: null,
        agentId: textOf(row["agent_id"]) || null,
        channel: textOf(row["channel"]) || null,
        person: (textOf(row["created_by"]) || null) as Principal | null,
      },
    ],
  };
}

function deliveries(): Source {
  return {
    kind: "delivery",
    from: raw`outbox`,
    at: raw<number>`outbox.created_at`,
    seq: raw<number>`outbox.seq`,
    columns: raw`id, turn_id, session_key, channel, state, because, ended_at, substr(text, 1, ${raw.lit(MAX_NAME_CHARS)}) as text`,
    terms: ({ agent, person, channel, outcome, text }) => [
      ...agentOfSession(raw`outbox.session_key`, agent),
      ...personOfTurn(raw`outbox.turn_id`, person),
      ...equal(raw`outbox.channel`, channel),
      ...outcomeTerm(raw`outbox.state`, outcome, PART_STATES),
      ...textTerm(text, [raw`outbox.text`, raw`coalesce(outbox.because, '')`]),
    ],
    entriesOf: (row) => [
      {
        id: textOf(row["id"]),
        kind: "delivery",
        at: row.at,
        ms: isNumber(row["ended_at"]) ? Math.max(0, row["ended_at"] - row.at) : null,
        outcome: outcomeOf(row["state"], PART_STATES),
        name: firstLine(row["text"]),
        note: textOf(row["because"]),
        turnId: (textOf(row["turn_id"]) || null) as TurnId | null,
        ...sessionOf(row["session_key"]),
        channel: textOf(row["channel"]),
        person: null,
      },
    ],
  };
}

// ── how each table calls its ends ───────────────────────────────────────────────────────────────────────────────────────────────

type Words = Readonly<Partial<Record<ActivityOutcome, readonly string[]>>>;

const TURN_STATES: Words = { ok: ["done"], failed: ["failed"], stopped: ["aborted"], running: ["running"] };
const TOOL_STATUSES: Words = {
  ok: ["success"],
  failed: ["error"],
  stopped: ["blocked"],
  running: ["running", "pending"],
  unknown: ["unknown"],
};
const RUN_STATUSES: Words = {
  ok: ["ran"],
  failed: ["failed"],
  stopped: ["skipped", "missed"],
  running: ["running", "waiting"],
};
const PART_STATES: Words = { ok: ["sent"], failed: ["dead"], running: ["pending", "sending"], unknown: ["ambiguous"] };
const MODEL_OUTCOMES: Words = { ok: ["answered"], failed: ["failed"], stopped: ["refused", "stopped"] };

function outcomeOf(stored: Column | undefined, words: Words): ActivityOutcome {
  const found = Object.entries(words).find(([, states]) => states.includes(textOf(stored)));
  return (found?.[0] ?? "unknown") as ActivityOutcome;
}

// ── terms ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

function outcomeTerm(column: RawBuilder<unknown>, outcome: ActivityOutcome | undefined, words: Words): readonly Term[] {
  if (outcome === undefined) return [];
  const states = words[outcome] ?? [];
  return [states.length === 0 ? raw<boolean>`false` : anyOf(states.map((state) => raw<boolean>`${column} = ${state}`))];
}

function turnTerms({ agent, person, channel }: ActivityFilter): readonly Term[] {
  return [
    ...equal(raw`turns.agent_id`, agent),
    ...equal(raw`inbox.channel`, channel),
    ...personOfTurn(raw`turns.id`, person),
  ];
}

/** Several people may have written what one turn answers. */
function personOfTurn(turnId: RawBuilder<unknown>, person: string | undefined): readonly Term[] {
  if (person === undefined) return [];
  return [
    raw<boolean>`exists (select 1 from inbox as said where said.turn_id = ${turnId} and coalesce(said.sender, '') = ${person})`,
  ];
}

/** `coalesce` keeps SQLite with the few messages of the turn: a channel has many. */
function channelOfTurn(turnId: RawBuilder<unknown>, channel: string | undefined): readonly Term[] {
  if (channel === undefined) return [];
  return [
    raw<boolean>`exists (select 1 from inbox as said where said.turn_id = ${turnId} and coalesce(said.channel, '') = ${channel})`,
  ];
}

function agentOfSession(sessionKey: RawBuilder<unknown>, agent: string | undefined): readonly Term[] {
  return agent === undefined ? [] : [raw<boolean>`${sessionKey} like ${`${escaped(`agent:${agent}:`)}%`} escape '\\'`];
}

/** `coalesce` keeps SQLite with the index of time, which gives the order. */
function equal(column: RawBuilder<unknown>, value: string | undefined): readonly Term[] {
  return value === undefined ? [] : [raw<boolean>`coalesce(${column}, '') = ${value}`];
}

function textTerm(text: string | undefined, columns: readonly RawBuilder<unknown>[]): readonly Term[] {
  if (text === undefined || text === "") return [];
  const pattern = `%${escaped(text.toLowerCase())}%`;
  return [anyOf(columns.map((column) => raw<boolean>`lower(${column}) like ${pattern} escape '\\'`))];
}

function anyOf(terms: readonly Term[]): Term {
  return raw<boolean>`(${raw.join(terms, raw` or `)})`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}

// ── values ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

function ofTurn(row: ActivityRow) {
  return {
    turnId: textOf(row["id"]) as TurnId,
    ...sessionOf(row["session_key"]),
    agentId: textOf(row["agent_id"]),
    channel: textOf(row["channel"]) || null,
    person: (textOf(row["sender"]) || null) as Principal | null,
  };
}

function sessionOf(key: Column | undefined): Pick<ActivityEntry, "sessionKey" | "agentId" | "channel"> {
  const [, agentId = "", channel = ""] = textOf(key).split(":");
  return { sessionKey: textOf(key) as SessionKey, agentId: agentId || null, channel: channel || null };
}

function firstLine(text: Column | undefined): string {
  const [line = ""] = textOf(text).trimStart().split("\n", 1);
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS - 1)}…` : line;
}

function textOf(value: Column | undefined): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: Column | undefined): number {
  return isNumber(value) ? value : 0;
}

function isNumber(value: Column | undefined): value is number {
  return typeof value === "number";
}

/** At the same moment what comes later in this list is shown first. */
export const SOURCES: readonly Source[] = [turns(), toolCalls(), modelCalls(), jobRuns(), deliveries()];
