/** `pi-gw sessions`: list conversations, show one, stop its answer, begin it anew. */
import { visible, visibleLines } from "../observe/index.ts";
import { askGateway, printAnswer, printItems, queryOf } from "./ask-gateway.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, shortText, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface SessionsFlags extends CommonFlags {
  readonly limit?: number;
}

const MAX_LISTED = 200;
const USUAL_ITEMS = 20;
const MAX_TITLE_CHARS = 60;

export async function listSessions(world: CliWorld, words: readonly string[], flags: SessionsFlags): Promise<number> {
  const search = words.join(" ").trim() || undefined;
  const query = queryOf({ limit: limitOf(flags), search });
  const { items, next } = await askGateway(world, flags, (client, signal) =>
    client.ask({ path: `/api/sessions?${query}` }, signal),
  );
  const sessions = listOf(items).map(recordOf);
  const now = world.clock.now();
  printItems(world, flags, sessions, {
    columns: [
      ["SESSION", ({ key }) => textOf(key)],
      ["TITLE", ({ title }) => shortText(title, MAX_TITLE_CHARS) || "(no title)"],
      ["MESSAGES", ({ messages }) => String(numberOf(messages))],
      ["LAST", ({ lastActivityAt: at }) => `${durationText(Math.max(0, now - numberOf(at)))} ago`],
    ],
    none: search ? "No session matches." : "There are no sessions yet.",
  });
  if (flags.json) return EXIT_OK;
  if (next !== undefined) world.stdout("There are more: search for words, or raise --limit.\n");
  return EXIT_OK;
}

export async function showSession(world: CliWorld, session: string, flags: SessionsFlags): Promise<number> {
  const path = pathOf(session);
  const [answer, { items }] = await askGateway(world, flags, async (client, signal) => [
    await client.ask({ path }, signal),
    await client.ask({ path: `${path}/transcript?limit=${limitOf(flags)}` }, signal),
  ]);
  const said = listOf(items).map((item) => itemText(recordOf(item)));
  const lines = [...sessionFacts(recordOf(answer["session"]), world.clock.now()), ...said];
  world.stdout(`${flags.json ? JSON.stringify({ ...answer, items }) : lines.join("\n")}\n`);
  return EXIT_OK;
}

export function resetSession(world: CliWorld, session: string, flags: CommonFlags): Promise<number> {
  return printAnswer(
    world,
    flags,
    { method: "POST", path: `${pathOf(session)}/reset`, body: {} },
    () => "A new conversation begins there. /resume goes back.",
  );
}

export function abortSession(world: CliWorld, session: string, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { method: "POST", path: `${pathOf(session)}/abort`, body: {} }, (answer) =>
    answer["aborted"] === true ? "Stopped." : "Nothing was running.",
  );
}

function limitOf({ limit }: SessionsFlags): number {
  return Math.min(Math.max(1, limit ?? USUAL_ITEMS), MAX_LISTED);
}

function pathOf(session: string): string {
  return `/api/sessions/${encodeURIComponent(session)}`;
}

function sessionFacts(session: Fields, now: number): readonly string[] {
  const usage = recordOf(session["usage"]);
  const chosen = ["model", "thinking"].flatMap((name) => {
    const value = textOf(session[name]);
    return value === "" ? [] : [`${name.padEnd(9)} ${value}`];
  });
  const spent = `${numberOf(usage["inputTokens"])} tokens in, ${numberOf(usage["outputTokens"])} out, $${numberOf(usage["costUsd"]).toFixed(4)}`;
  const ago = durationText(Math.max(0, now - numberOf(session["lastActivityAt"])));
  const facts = [
    `session   ${textOf(session["key"])}`,
    `title     ${textOf(session["title"])}`,
    ...chosen,
    `messages  ${numberOf(session["messages"])}, the last one ${ago} ago`,
    `usage     ${spent}`,
  ];
  return [...facts.map(visible), ""];
}

function itemText(item: Fields): string {
  const role = textOf(item["role"]);
  if (role === "tool") return visible(`[${textOf(item["tool"])}: ${textOf(item["status"])}]`);
  return `${role === "user" ? "> " : ""}${visibleLines(textOf(item["text"]))}`;
}
