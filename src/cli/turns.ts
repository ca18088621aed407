/** `pi-gw turns` and `pi-gw activity`: what happened, and where the time of one turn went. */
import { sentenceOf } from "../contracts/errors.ts";
import { visible } from "../observe/index.ts";
import { askGateway, printAnswer, printItems, queryOf } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, shortText, textOf } from "./read-value.ts";
import type { Column } from "./table.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface TurnsFlags extends CommonFlags {
  readonly session?: string;
  readonly outcome?: string;
  readonly limit?: number;
}

export interface ActivityFlags extends CommonFlags {
  readonly kind?: string;
  readonly outcome?: string;
  readonly agent?: string;
  readonly person?: string;
  readonly channel?: string;
  readonly text?: string;
  readonly limit?: number;
}

const BAR_CHARS = 30;
const NAME_CHARS = 44;
const MAX_NAME_CHARS = 60;
const MS_PER_SECOND = 1_000;

export function listTurns(world: CliWorld, flags: TurnsFlags): Promise<number> {
  const { session, outcome, limit } = flags;
  return printPage(world, flags, `/api/turns?${queryOf({ session, outcome, limit })}`, {
    columns: [
      ["TURN", ({ turn }) => textOf(recordOf(turn)["turnId"])],
      ["BEGUN", ({ turn }) => whenText(recordOf(turn)["begunAt"])],
      ["END", ({ turn }) => textOf(recordOf(turn)["outcome"]) || "running"],
      ["TIME", ({ turn }) => timeText(recordOf(turn))],
      ["USED", ({ turn }) => usageText(recordOf(turn)["usage"])],
      ["SESSION", ({ turn }) => textOf(recordOf(turn)["sessionKey"])],
      ["WHY", ({ turn }) => sentenceOf(textOf(recordOf(turn)["errorCode"]))],
    ],
    none: "There are no turns.",
  });
}

export function listActivity(world: CliWorld, flags: ActivityFlags): Promise<number> {
  const { kind, outcome, agent, person, channel, text: q, limit } = flags;
  const path = `/api/activity?${queryOf({ kind, outcome, agent, person, channel, q, limit })}`;
  return printPage(world, flags, path, {
    columns: [
      ["AT", ({ at }) => whenText(at)],
      ["KIND", ({ kind: one }) => textOf(one)],
      ["END", ({ outcome: end }) => textOf(end)],
      ["TIME", ({ ms }) => (ms === null ? "" : msText(numberOf(ms)))],
      ["NAME", ({ name }) => shortText(name, MAX_NAME_CHARS)],
      ["NOTE", ({ note }) => shortText(note, MAX_NAME_CHARS)],
      ["TURN", ({ turnId }) => textOf(turnId)],
    ],
    none: "Nothing was found.",
  });
}

/** A page of a list, with a word about what is not on it. */
async function printPage(
  world: CliWorld,
  flags: CommonFlags,
  path: string,
  { columns, none }: { readonly columns: readonly Column<Fields>[]; readonly none: string },
): Promise<number> {
  const { items, next, searchedTo } = await askGateway(world, flags, (client, signal) => client.ask({ path }, signal));
  const found = listOf(items).map(recordOf);
  const searched = typeof searchedTo === "number";
  printItems(world, flags, found, {
    columns,
    none: searched ? `Searched back to ${whenText(searchedTo)}; nothing older was looked at.` : none,
  });
  if (flags.json || found.length === 0) return EXIT_OK;
  if (searched) world.stdout(`Searched back to ${whenText(searchedTo)}; nothing older was looked at.\n`);
  else if (next !== undefined) world.stdout("There are more: raise --limit.\n");
  return EXIT_OK;
}

function timeText({ acceptedAt, endedAt }: Fields): string {
  return endedAt === null ? "" : msText(numberOf(endedAt) - numberOf(acceptedAt));
}

export function showTurn(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: `/api/turns/${encodeURIComponent(id)}` }, (answer) =>
    waterfallLines(answer).map(visible).join("\n"),
  );
}

interface Bar {
  readonly name: string;
  readonly depth: number;
  readonly startMs: number;
  readonly ms: number;
  readonly note: string;
}

function waterfallLines(answer: Fields): readonly string[] {
  const turn = recordOf(answer["turn"]);
  const bars = barsOf(answer["spans"], 0);
  const totalMs = Math.max(1, ...bars.map(({ startMs, ms }) => startMs + ms));
  const delivered = answer["deliveredAt"] === null ? "" : `, delivered at ${whenText(answer["deliveredAt"])}`;
  const code = textOf(turn["errorCode"]);
  return [
    `turn     ${textOf(turn["turnId"])}, ${textOf(turn["outcome"]) || "running"}`,
    ...(code === "" ? [] : [`why      ${sentenceOf(code)} (${code})`]),
    `session  ${textOf(turn["sessionKey"])}`,
    `message  ${whenText(turn["acceptedAt"])}${delivered}`,
    `model    ${textOf(turn["model"]) || "none"}, ${usageText(turn["usage"])}`,
    "",
    ...(bars.length === 0
      ? ["Where its time went is known when it has ended."]
      : bars.map((bar) => barLine(bar, totalMs))),
    ...(textOf(answer["reasoning"]) === "" ? [] : ["", "What the model thought:", textOf(answer["reasoning"])]),
  ];
}

function barsOf(spans: unknown, depth: number): readonly Bar[] {
  return listOf(spans)
    .map(recordOf)
    .flatMap((span) => [
      {
        name: textOf(span["name"]),
        depth,
        startMs: numberOf(span["startMs"]),
        ms: numberOf(span["ms"]),
        note: textOf(span["note"]),
      },
      ...barsOf(span["children"], depth + 1),
    ]);
}

function barLine({ name, depth, startMs, ms, note }: Bar, totalMs: number): string {
  const before = Math.min(BAR_CHARS - 1, Math.floor((startMs / totalMs) * BAR_CHARS));
  const length = Math.max(1, Math.min(BAR_CHARS - before, Math.round((ms / totalMs) * BAR_CHARS)));
  const bar = `${" ".repeat(before)}${"█".repeat(length)}`.padEnd(BAR_CHARS);
  const shown = `${"  ".repeat(depth)}${name}`.slice(0, NAME_CHARS).padEnd(NAME_CHARS);
  return `${shown} ${bar} ${msText(ms)}${note === "" ? "" : `  ${note}`}`;
}

function usageText(value: unknown): string {
  const usage = recordOf(value);
  const tokens = numberOf(usage["inputTokens"]) + numberOf(usage["outputTokens"]);
  return `${tokens.toLocaleString("en-US")} tokens, $${numberOf(usage["costUsd"]).toFixed(4)}`;
}

function whenText(at: unknown): string {
  return new Date(numberOf(at)).toISOString();
}

function msText(ms: number): string {
  return ms < MS_PER_SECOND ? `${Math.round(ms)} ms` : `${(ms / MS_PER_SECOND).toFixed(1)} s`;
}
