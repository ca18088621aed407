/** `pi-gw sessions`: list conversations, show one, stop its answer, begin it anew. */
import { visible, visibleLines } from "../observe/index.ts";
import { askGateway } from "./ask-gateway.ts";
import type { GatewayClient } from "./client.ts";
import { EXIT_OK } from "./exit-code.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export interface SessionsFlags extends CommonFlags {
  readonly limit?: number;
}

const MAX_LISTED = 200;
const USUAL_ITEMS = 20;
const MAX_TITLE_CHARS = 60;

type Ask = (client: GatewayClient, signal: AbortSignal) => Promise<void>;

export function listSessions(world: CliWorld, words: readonly string[], flags: SessionsFlags): Promise<number> {
  return asking(world, flags, async (client, signal) => {
    const search = words.join(" ").trim();
    const query = new URLSearchParams({
      limit: String(limitOf(flags)),
      ...(search === "" ? {} : { search }),
    });
    const answer = await client.get(`/api/sessions?${query}`, signal);
    const sessions = listOf(answer["items"]).map(recordOf);
    if (flags.json)
      return print(
        world,
        sessions.map((session) => JSON.stringify(session)),
      );
    if (sessions.length === 0)
      return print(world, [search === "" ? "There are no sessions yet." : "No session matches."]);
    print(
      world,
      sessions.map((session) => visible(sessionLine(session, world.clock.now()))),
    );
    if (answer["next"] !== undefined) print(world, ["There are more: search for words, or raise --limit."]);
  });
}

export function showSession(world: CliWorld, session: string, flags: SessionsFlags): Promise<number> {
  return asking(world, flags, async (client, signal) => {
    const path = pathOf(session);
    const answer = await client.get(path, signal);
    const { items } = await client.get(`${path}/transcript?limit=${limitOf(flags)}`, signal);
    if (flags.json) return print(world, [JSON.stringify({ ...answer, items })]);
    const said = listOf(items).map((item) => itemText(recordOf(item)));
    print(world, [...sessionFacts(recordOf(answer["session"]), world.clock.now()), ...said]);
  });
}

export function resetSession(world: CliWorld, session: string, flags: CommonFlags): Promise<number> {
  return acting(world, flags, `${pathOf(session)}/reset`, () => "A new conversation begins there. /resume goes back.");
}

export function abortSession(world: CliWorld, session: string, flags: CommonFlags): Promise<number> {
  return acting(world, flags, `${pathOf(session)}/abort`, (answer) =>
    answer["aborted"] === true ? "Stopped." : "Nothing was running.",
  );
}

function acting(
  world: CliWorld,
  flags: CommonFlags,
  path: string,
  sentence: (answer: Fields) => string,
): Promise<number> {
  return asking(world, flags, async (client, signal) => {
    const answer = await client.post(path, {}, signal);
    print(world, [flags.json ? JSON.stringify(answer) : sentence(answer)]);
  });
}

async function asking(world: CliWorld, flags: CommonFlags, ask: Ask): Promise<number> {
  await askGateway(world, flags, ask);
  return EXIT_OK;
}

function print(world: CliWorld, lines: readonly string[]): void {
  if (lines.length > 0) world.stdout(`${lines.join("\n")}\n`);
}

function limitOf({ limit }: SessionsFlags): number {
  return Math.min(Math.max(1, limit ?? USUAL_ITEMS), MAX_LISTED);
}

function pathOf(session: string): string {
  return `/api/sessions/${encodeURIComponent(session)}`;
}

function sessionLine(session: Fields, now: number): string {
  const title = textOf(session["title"]).slice(0, MAX_TITLE_CHARS).toWellFormed() || "(no title)";
  const ago = durationText(Math.max(0, now - numberOf(session["lastActivityAt"])));
  return `${textOf(session["key"])}  ${title}  (${numberOf(session["messages"])} messages, ${ago} ago)`;
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
