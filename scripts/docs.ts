/**
 * Writes docs/reference/ from the code it describes: settings, error codes, events, routes and tools. With `--check` it writes nothing and fails
 * when a page is not what the code says.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtinFactories, type BuiltinToolDeps, builtinTools } from "../src/builtin.ts";
import type { Caller } from "../src/contracts/agent.ts";
import type { AgentId } from "../src/contracts/ids.ts";
import type { Tool } from "../src/contracts/tools/tool.ts";
import { systemIds } from "../src/kit/ids.ts";
import { checkConfigText, renderConfigReference } from "../src/config/index.ts";
import { ERRORS } from "../src/contracts/errors.ts";
import { CLIENT_EVENTS, type EventName } from "../src/contracts/events.ts";
import { messageLimits } from "../src/http/settings.ts";
import { bytesOf, type MaxBytes, type Route } from "../src/http/route.ts";
import { routeTable } from "../src/http/route-table.ts";
import type { HttpDeps } from "../src/http/types.ts";
import { renderTools } from "./docs/tools.ts";

interface Page {
  readonly file: string;
  readonly text: string;
}

interface RouteRow {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly scope: Route["scope"];
  readonly body: { readonly kind: string; readonly maxBytes?: MaxBytes };
}

const MADE = "<!-- Made by `npm run docs`. Change the source, not this page. -->";

const EVENT_MEANINGS: Readonly<Record<EventName, string>> = {
  message:
    "A message was added to a conversation: from a person, from the assistant, or a notice. Carries the whole item.",
  "turn.started": "The assistant began to work on one or more messages. `attempt` is above 1 after a crash.",
  "turn.joined": "Messages became part of a turn that had begun without them.",
  "turn.delta": "More text of the answer, to be appended to what came before.",
  "turn.thought": "What the model thinks before it answers, piece by piece; not part of the reply.",
  "turn.tool":
    "A tool call began, tells its progress (`progress`: its newest line), waits for the owner (`pending`), or ended; the same `callId` links them.",
  "turn.waiting":
    "The turn waits for something outside, such as a provider that asks it to: `text` says what for, `until` when it goes on. Over with its next word or tool call.",
  approval:
    "A tool call waits for the owner (`decision` is null), or a question has ended: `once`, `session`, `deny` or `expired`.",
  question:
    "A running turn asks the person it works for (`end` is null), or such a question has ended: `answered`, `expired` or `cancelled`, and why.",
  tool_refused: "A tool call was rejected, on whichever path it came; nothing ran.",
  tool_execution_start:
    "A tool was admitted and begins to run, on whichever path it was called, with its `params`. Also a plugin hook.",
  tool_execution_update: "A running tool told of its progress; at most one in 100 ms of one call. Also a plugin hook.",
  tool_execution_end:
    "A tool ended, with status, time, `params`, and `result` or `error`. A rejected call has this alone, as `error` or `blocked`. `background`: its caller was answered before. Also a plugin hook.",
  "turn.ended": "The turn is over: done, failed or aborted. The answer itself arrives as `message`.",
  "turn.measured": "Where the time of an ended turn went, stretch by stretch. Comes before its `turn.ended`.",
  "model.call":
    "A call of a model has ended: provider, model, times, outcome, tokens. A turn has one for each answer of its model.",
  "turn.recorded": "What was said in an ended turn, for those who keep records. Comes before its `turn.ended`.",
  "cron.run": "A slot of a job got its row, or its run has ended.",
  "delegation.ended": "One agent has asked another one (`done`, `failed`), or was not let (`refused`).",
  status: "Something of the status changed: `what` says which part to read again.",
  "session.deleted": "A person deleted a session; its rows are gone.",
  "agent.spawned": "An agent process started.",
  "agent.prepared":
    "A process was started, or a session opened, for a message that may come; `used`: a message came within a minute, and met it.",
  "agent.exited": "An agent process ended; `expected` is false when nobody asked it to.",
};

const WHO: Readonly<Record<string, string>> = {
  public: "anyone",
  operator: "operator (token or cookie)",
  signed: "whoever holds the signed link",
  hook: "senders of hooks (`hooks.token`, signed)",
};

const cell = (text: string): string => text.replaceAll("|", "\\|");
const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), row(...head.map(() => "---")), ...rows].join("\n");
const page = (title: string, intro: string, body: string): string => `# ${title}\n\n${MADE}\n\n${intro}\n\n${body}\n`;

export function renderErrors(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, retry, say }]) =>
    row(`\`${code}\``, String(status), retry === "later" ? "yes" : "no", say),
  );
  const intro =
    'Every refusal carries one of these codes: `{"error":{"code","message","requestId"}}`. The request id finds the matching lines in the log.';
  return page(
    "Error codes",
    intro,
    table(["Code", "HTTP status", "Worth trying again", "What a person is told"], rows),
  );
}

export function renderEvents(): string {
  const sent: readonly string[] = CLIENT_EVENTS;
  const rows = Object.entries(EVENT_MEANINGS).map(([name, meaning]) =>
    row(`\`${name}\``, sent.includes(name) ? "yes" : "no", meaning),
  );
  const intro =
    "Clients follow the gateway over the WebSocket. Each event is one frame `{event, seq, data}`; `seq` grows by one and survives restarts, so a client that comes back asks for what it missed with `sinceSeq`. When that is too long ago it gets `resync` and reads the conversation again.";
  return page("Events", intro, table(["Event", "Sent to clients", "Meaning"], rows));
}

export function renderRoutes(routes: readonly RouteRow[]): string {
  const rows = routes.map(({ method, path, auth, scope, body }) =>
    row(`\`${method}\``, `\`${path}\``, WHO[auth] ?? auth, scopeOf(scope), bodyOf(body)),
  );
  const intro =
    "Everything is served on one port. Programs send `Authorization: Bearer <token>`, or a key that has one of the scopes (`admin` always has); a key that is for some agents is refused where it says *all agents*. A path that is not listed answers 401 to strangers and 404 to the operator.";
  return page("HTTP routes", intro, table(["Method", "Path", "Who may call it", "Scope of a key", "Body"], rows));
}

function scopeOf(scope: RouteRow["scope"]): string {
  if (scope === "open") return "";
  const scopes = scope.scopes.map((name) => `\`${name}\``).join(" or ");
  return scope.agents === "all" ? `${scopes}, all agents` : scopes;
}

function bodyOf(body: RouteRow["body"]): string {
  if (body.maxBytes === undefined) return "none";
  return `${body.kind === "json" ? "JSON" : "the file itself"}, at most ${Math.round(bytesOf(body.maxBytes) / 1024)} KiB`;
}

/** The real table with its default limits. Nothing is called, so there is nothing behind it but the address of the web console. */
function routes(): readonly RouteRow[] {
  const { config } = checkConfigText("{}", () => undefined);
  if (!config) throw new Error("The default configuration is not valid.");
  const html = { body: new Uint8Array(), type: "text/html", immutable: false };
  const console = { build: "", files: new Map([["/", html]]) };
  const groups = { messages: {}, people: {}, tools: {}, automation: {}, operations: {} };
  const server = { signIn: {}, limits: () => messageLimits(config) };
  return routeTable(
    { console, ...groups } as unknown as HttpDeps,
    server as unknown as Parameters<typeof routeTable>[1],
  );
}

const TOOLS_INTRO =
  "The tools that come with the gateway, as the assistant is told about them. How to use and configure them is in [Tools](../tools.md).";

/** All of them, also those that need a setting. Described, never called: there is nothing behind them. */
function tools(): readonly Tool[] {
  const search = { settings: () => ({ provider: "searxng" }) };
  const choices = () => [{ agentId: "researcher" as AgentId, description: "finds things out" }];
  const made = builtinFactories({
    ids: systemIds,
    delegator: () => ({ choices, ask: () => Promise.reject(new Error()) }),
    conversations: new Promise(() => undefined),
    mayChat: () => true,
  });
  const own = made.flatMap(({ make }) => make({} as Caller) ?? []);
  const deps = { search, pages: {}, opensPages: () => true };
  return [...builtinTools(deps as unknown as BuiltinToolDeps), ...own];
}

function pages(): Page[] {
  return [
    { file: "config.md", text: renderConfigReference() },
    { file: "errors.md", text: renderErrors() },
    { file: "events.md", text: renderEvents() },
    { file: "http.md", text: renderRoutes(routes()) },
    { file: "tools.md", text: page("Tools", TOOLS_INTRO, renderTools(tools())) },
  ];
}

/** The formatter has the last word on every page in the repository, so the pages are compared and stored as it leaves them. */
async function formatted(root: string, { file, text }: Page): Promise<Page> {
  const format = Bun.spawn(
    [process.execPath, "--no-env-file", "fmt", "--no-script", `--stdin-filepath=docs/reference/${file}`],
    {
      cwd: root,
      stdio: [new Blob([text]), "pipe", "inherit"],
    },
  );
  const output = await new Response(format.stdout).text();
  return (await format.exited) === 0 ? { file, text: output } : { file, text };
}

async function run(root: string, checkOnly: boolean): Promise<number> {
  const folder = join(root, "docs/reference");
  const made = await Promise.all(pages().map((page) => formatted(root, page)));
  const stale = made.filter(({ file, text }) => {
    const path = join(folder, file);
    return !existsSync(path) || readFileSync(path, "utf8") !== text;
  });
  const names = stale.map(({ file }) => `docs/reference/${file}`).join(", ");
  if (checkOnly && stale.length > 0) console.error(`Out of date: ${names}. Run \`npm run docs\`.`);
  if (checkOnly) return stale.length > 0 ? 1 : 0;
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of stale) writeFileSync(join(folder, file), text);
  console.log(stale.length > 0 ? `Wrote ${names}.` : "All pages are up to date.");
  return 0;
}

if (import.meta.main) process.exit(await run(dirname(import.meta.dir), process.argv.includes("--check")));
