/** `pi-gw chat`: says something to the assistant and shows its answer as it comes. Ctrl-C stops the running answer first, then the command. */
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { ServerEvent } from "../client/index.ts";
import { GatewayError, isGatewayError } from "../contracts/errors.ts";
import { orAborted } from "../kit/deferred.ts";
import { parseJson } from "../kit/json.ts";
import { visible, visibleLines } from "../observe/index.ts";
import { createClient, type GatewayClient } from "./client.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { findGateway } from "./state-directory.ts";
import { readLines } from "./read-lines.ts";
import { type Fields, recordOf, textOf } from "./read-value.ts";
import { type CliWorld, type CommonFlags, onInterrupt } from "./world.ts";

export interface ChatFlags extends CommonFlags {
  readonly session?: string;
  /** They go with the first message. */
  readonly file?: readonly string[];
}

interface Talk {
  readonly world: CliWorld;
  readonly client: GatewayClient;
  readonly flags: ChatFlags;
  /** A full session key or a short name; the gateway knows what it means. */
  readonly session: string | undefined;
  /** Ids of files for the next message. */
  readonly attachments: string[];
}

const DEFAULT_SESSION_KEY = "agent:default:api:dm:operator";
const SHORT_NAME_KEY = "agent:default:api:dm:";
const PROMPT = "you> ";
const UPLOAD_MS = 60_000;
const DATA_LIMITS = { maxChars: 16 * 1024 * 1024, maxDepth: 64 };

export async function chat(world: CliWorld, words: readonly string[], flags: ChatFlags): Promise<number> {
  const client = createClient(await findGateway(world, flags.home));
  const attachments = await uploaded(world, client, flags.file ?? []);
  const talk: Talk = { world, client, flags, session: flags.session, attachments };
  return words.length > 0 ? say(talk, words.join(" ")) : converse(talk);
}

async function uploaded(world: CliWorld, client: GatewayClient, paths: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const path of paths) {
    const data = await readFile(resolve(world.cwd, path)).catch((error: unknown) => {
      throw new GatewayError("bad_request", "a file cannot be read", { cause: error, say: `${path} cannot be read.` });
    });
    using limit = world.clock.deadline(UPLOAD_MS, () => new Error(`${path} was not taken within a minute.`));
    ids.push(await client.upload({ name: basename(path), data }, limit.signal));
  }
  return ids;
}

async function converse(talk: Talk): Promise<number> {
  const { world, flags } = talk;
  const prompt = world.isTerminal && !flags.json ? PROMPT : "";
  const lines = readLines(world.stdin);
  let code = EXIT_OK;
  for (;;) {
    world.stdout(prompt);
    const line = await nextLine(world, lines);
    if (line === null) break;
    if (line.trim() === "") continue;
    const said = await say(talk, line);
    // A script wants to know that one of its lines failed; a person has read it already.
    if (!world.isTerminal) code = Math.max(code, said);
  }
  if (prompt !== "") world.stdout("\n");
  return code;
}

/** Null at the end of the input, or when Ctrl-C is pressed while nothing runs. */
async function nextLine(world: CliWorld, lines: AsyncGenerator<string>): Promise<string | null> {
  const leaving = new AbortController();
  using _interrupt = onInterrupt(world, () => leaving.abort());
  const next = await orAborted(lines.next(), leaving.signal).catch((error: unknown) => {
    if (leaving.signal.aborted) return null;
    throw error;
  });
  return next === null || next.done ? null : next.value;
}

async function say(talk: Talk, text: string): Promise<number> {
  const { world, client, flags } = talk;
  const leaving = new AbortController();
  let interrupts = 0;
  using _interrupt = onInterrupt(world, () => {
    interrupts++;
    if (interrupts > 1) leaving.abort(new Error("Left. The turn may still be running in the gateway."));
    else stopTurn(talk, leaving.signal);
  });
  const show = flags.json ? jsonPrinter(world) : textPrinter(world);
  const files = talk.attachments.splice(0);
  const request = {
    path: "/api/chat",
    body: {
      text,
      stream: true,
      ...(talk.session === undefined ? {} : { session: talk.session }),
      ...(files.length === 0 ? {} : { attachments: files.map((mediaId) => ({ mediaId })) }),
    },
    idempotencyKey: world.ids.next("cli"),
  };
  try {
    for await (const event of client.stream(request, leaving.signal)) show.event(event);
  } catch (error) {
    return show.failed(leaving.signal.aborted ? leaving.signal.reason : error);
  }
  return show.ended();
}

function stopTurn({ world, client, session }: Talk, signal: AbortSignal): void {
  const path = `/api/sessions/${encodeURIComponent(sessionKeyOf(session))}/abort`;
  client.ask({ method: "POST", path, body: {} }, signal).catch((error: unknown) => {
    if (!signal.aborted) world.stderr(`${visible(sentenceOf(error))}\n`);
  });
}

function sessionKeyOf(session: string | undefined): string {
  if (session === undefined) return DEFAULT_SESSION_KEY;
  return session.includes(":") ? session : `${SHORT_NAME_KEY}${session}`;
}

interface Printer {
  event(event: ServerEvent): void;
  failed(error: unknown): number;
  /** The stream is over; the exit code. */
  ended(): number;
}

function textPrinter(world: CliWorld): Printer {
  let shown = "";
  let outcome: number | null = null;

  /** What was streamed is usually the whole answer; after a second attempt of the assistant it is not. */
  const finish = (content: string): void => {
    const rest = content.startsWith(shown) ? content.slice(shown.length) : `\n${content}`;
    world.stdout(`${visibleLines(rest)}${(shown + rest).endsWith("\n") ? "" : "\n"}`);
  };
  const failed = (sentence: string): number => {
    if (shown !== "" && !shown.endsWith("\n")) world.stdout("\n");
    world.stderr(`${visibleLines(sentence)}\n`);
    return EXIT_FAILED;
  };

  return {
    event({ event, data }) {
      const fields = fieldsOf(data);
      if (event === "delta") {
        shown += textOf(fields["text"]);
        world.stdout(visibleLines(textOf(fields["text"])));
      } else if (event === "tool" && world.isTerminal) {
        world.stderr(`${visible(`[${textOf(fields["tool"])}: ${textOf(fields["status"])}]`)}\n`);
      } else if (event === "waiting") {
        world.stderr(`${visible(textOf(fields["text"]))}\n`);
      } else if (event === "question" && fields["end"] === null) {
        world.stderr(`${visibleLines(askedText(fields))}\n`);
      } else if (event === "done") {
        finish(textOf(fields["content"]));
        outcome = EXIT_OK;
      } else if (event === "error") outcome = failed(textOf(fields["message"]) || "The turn failed.");
    },
    failed: (error) => failed(sentenceOf(error)),
    ended: () =>
      outcome ??
      failed("The connection to the gateway ended before the answer was complete. The answer will be in the session."),
  };
}

/** The terminal that waits for the answer cannot be asked; another one can. */
function askedText(fields: Fields): string {
  const { title } = recordOf(fields["question"]);
  return `The assistant asks: ${textOf(title)}\nSee it with \`pi-gw questions list\`, answer it with \`pi-gw questions answer ${textOf(fields["id"])}\`.`;
}

function jsonPrinter(world: CliWorld): Printer {
  let outcome: number | null = null;
  const print = (event: string, data: Fields): void => world.stdout(`${JSON.stringify({ event, data })}\n`);
  const fail = (code: string, message: string): number => {
    print("error", { code, message });
    return EXIT_FAILED;
  };
  return {
    event({ event, data }) {
      print(event, fieldsOf(data));
      if (event === "done") outcome = EXIT_OK;
      if (event === "error") outcome = EXIT_FAILED;
    },
    failed: (error) => fail(codeOf(error), sentenceOf(error)),
    ended: () => outcome ?? fail("cut_off", "The connection to the gateway ended before the answer was complete."),
  };
}

function fieldsOf(data: string): Fields {
  const parsed = parseJson(data, DATA_LIMITS);
  return parsed.ok ? recordOf(parsed.value) : {};
}

function codeOf(error: unknown): string {
  if (!isGatewayError(error)) return "failed";
  return textOf(error.fields["code"]) || error.code;
}

function sentenceOf(error: unknown): string {
  if (isGatewayError(error)) return error.say;
  return error instanceof Error ? error.message : String(error);
}
