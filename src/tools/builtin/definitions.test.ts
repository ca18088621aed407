/** What each built-in tool takes, how often it may be called and how long it may run: said a second time, so that no number changes by accident. */
import { expect, test } from "bun:test";
import type { Caller } from "../../contracts/agent.ts";
import type { Tool, ToolFactory } from "../../contracts/tools/tool.ts";
import {
  addTask,
  askAgent,
  completeTask,
  createReminder,
  cron,
  delegateToAgent,
  gatewayTool,
  listTasks,
  message,
  saveNote,
  searchNotes,
  sendMedia,
  sendMessage,
  sessionStatus,
  toolSearch,
  updateTask,
  webFetch,
  webSearch,
} from "../index.ts";

interface Facts {
  /** Those that are set. */
  readonly flags: string;
  /** Of one person in a minute. */
  readonly calls: number;
  /** Counted over restarts too. */
  readonly durable?: true;
  readonly timeoutMs: number;
  /** Where it may be called; absent: everywhere. */
  readonly origins?: string;
  /** Its parameters with their limits; a question mark: may be left out. */
  readonly takes: readonly string[];
}

const FACTS: Readonly<Record<string, Facts>> = {
  send_message: {
    flags: "sequential inConversation",
    calls: 30,
    timeoutMs: 10_000,
    takes: ["text chars 1..16000", "replyTo? chars 1..200", "parseMode? one of Markdown HTML plain"],
  },
  send_media: {
    flags: "sequential inConversation",
    calls: 20,
    timeoutMs: 30_000,
    takes: ["path chars 1..4096", "caption? chars ..4000", "type? one of photo audio document video"],
  },
  message: {
    flags: "idempotent sequential inConversation",
    calls: 60,
    timeoutMs: 20_000,
    takes: [
      "action one of react edit delete pin read",
      "messageId? chars 1..200",
      "emoji? chars 1..64",
      "emoji? entries 1..10",
      "emoji?[] chars 1..64",
      "text? chars 1..16000",
      "chatId? chars 1..512",
      "limit? value 1..100",
      "limit? default 20",
      "before? chars 1..200",
    ],
  },
  session_status: {
    flags: "idempotent inConversation",
    calls: 60,
    timeoutMs: 10_000,
    takes: ["sessionKey? chars 1..512"],
  },
  save_note: {
    flags: "idempotent",
    calls: 30,
    timeoutMs: 10_000,
    takes: ["title chars 1..200", "content chars 1..50000", "tags? entries ..20", "tags?[] chars 1..50"],
  },
  search_notes: {
    flags: "idempotent",
    calls: 60,
    timeoutMs: 10_000,
    takes: ["query chars 1..500", "limit? value 1..20", "limit? default 5"],
  },
  add_task: {
    flags: "idempotent",
    calls: 30,
    timeoutMs: 10_000,
    takes: ["title chars 1..500", "due_date? chars ..40", "priority? one of low medium high"],
  },
  list_tasks: {
    flags: "idempotent",
    calls: 60,
    timeoutMs: 10_000,
    takes: ["status? default all", "status? one of all pending completed", "limit? value 1..100", "limit? default 10"],
  },
  complete_task: {
    flags: "idempotent",
    calls: 30,
    timeoutMs: 10_000,
    takes: ["task_id chars 1..64"],
  },
  update_task: {
    flags: "idempotent",
    calls: 30,
    timeoutMs: 10_000,
    takes: [
      "task_id chars 1..64",
      "title? chars 1..500",
      "due_date? chars ..40",
      "priority? one of low medium high",
      "status? one of pending completed",
    ],
  },
  cron: {
    flags: "sequential",
    calls: 30,
    timeoutMs: 15_000,
    takes: [
      "action one of list add remove pause resume run wake update runs status",
      "id? chars 1..64",
      "schedule?.kind one of cron every at",
      "schedule?.expr chars 1..200",
      "schedule?.timezone? chars ..64",
      "task? chars ..8000",
      "mode? one of isolated main",
      "delivery? one of announce direct silent",
      "needs? entries ..20",
      "needs?[] chars 1..64",
      "catchUp? one of skip once all",
      "overlap? one of skip queue allow",
      "timeoutMs? value 1000..2073600000",
      "wakeMode? one of now next-heartbeat",
    ],
  },
  create_reminder: {
    flags: "",
    calls: 30,
    timeoutMs: 15_000,
    takes: ["text chars 1..1000", "when chars 1..64", "timezone? chars ..64"],
  },
  gateway: {
    flags: "ownerOnly optional sequential",
    calls: 10,
    timeoutMs: 30_000,
    origins: "chat api",
    takes: ["action one of config.get reload restart"],
  },
  tool_search: {
    flags: "idempotent inConversation",
    calls: 60,
    timeoutMs: 10_000,
    takes: ["query chars 1..300", "limit? value 1..10"],
  },
  web_fetch: {
    flags: "idempotent",
    calls: 10,
    durable: true,
    timeoutMs: 30_000,
    takes: ["url chars 1..2048", "format? one of markdown text", "from? value 0..400000"],
  },
  web_search: {
    flags: "idempotent",
    calls: 10,
    durable: true,
    timeoutMs: 25_000,
    takes: ["query chars 1..400"],
  },
  delegate_to_agent: {
    flags: "long",
    calls: 60,
    timeoutMs: 3_600_000,
    origins: "chat group cron heartbeat webhook delegate",
    takes: ["agent chars 1..64", "task chars 1..32000", "timeoutMs? value 1000..3600000"],
  },
  ask_agent: {
    flags: "long",
    calls: 60,
    timeoutMs: 3_600_000,
    origins: "mcp",
    takes: ["message chars 1..32000", "session? chars 1..64", "session? default mcp", "agent? chars 1..64"],
  },
};

type Node = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;

function limitsOf(node: Node, at = ""): readonly string[] {
  const range = (kind: string, least: unknown, most: unknown): readonly string[] =>
    least === undefined && most === undefined ? [] : [`${at} ${kind} ${String(least ?? "")}..${String(most ?? "")}`];
  const either = (node["anyOf"] ?? []) as readonly Node[];
  const words = either.flatMap((one) => ("const" in one ? [String(one["const"])] : []));
  const required = (node["required"] ?? []) as readonly string[];
  const below = Object.entries((node["properties"] ?? {}) as Readonly<Record<string, Node>>);
  return [
    ...range("chars", node["minLength"], node["maxLength"]),
    ...range("value", node["minimum"], node["maximum"]),
    ...range("entries", node["minItems"], node["maxItems"]),
    ...("default" in node ? [`${at} default ${String(node["default"])}`] : []),
    ...(words.length > 0 ? [`${at} one of ${words.join(" ")}`] : []),
    ...below.flatMap(([key, one]) => limitsOf(one, `${at}${at && "."}${key}${required.includes(key) ? "" : "?"}`)),
    ...either.flatMap((one) => limitsOf(one, at)),
    ...(node["items"] === undefined ? [] : limitsOf(node["items"] as Node, `${at}[]`)),
  ];
}

function factsOf({ flags, limit, timeoutMs, origins, parameters }: Tool): Facts {
  const set = Object.entries(flags).flatMap(([flag, isSet]) => (isSet ? [flag] : []));
  return {
    flags: set.join(" "),
    calls: ((limit?.calls ?? 0) / (limit?.perMs ?? 1)) * MINUTE_MS,
    ...(limit?.durable ? { durable: true } : {}),
    timeoutMs,
    ...(origins === undefined ? {} : { origins: origins.join(" ") }),
    takes: limitsOf(parameters),
  };
}

const OWNER = { principal: "operator", role: "owner" } as Caller;
/** Nothing is called: tools say what they take before anybody uses them. */
const DEPS = {
  settings: () => ({ provider: "searxng" }),
  delegator: () => ({ choices: () => [{ agentId: "helper", description: "" }] }),
  mayChat: () => true,
};
const MAKERS: readonly ((deps: never) => Tool | ToolFactory)[] = [
  ...[sendMessage, sendMedia, message, sessionStatus, saveNote, searchNotes, addTask, listTasks, completeTask],
  ...[updateTask, cron, createReminder, gatewayTool, toolSearch, webFetch, webSearch, delegateToAgent, askAgent],
];
const tools = MAKERS.flatMap((make) => {
  const made = make(DEPS as never);
  return (typeof made === "function" ? made(OWNER) : made) ?? [];
});

test("every tool that is made here has its facts", () => {
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(FACTS));
});

test.each(tools.map((tool) => [tool.name, tool] as const))("%s takes and is given what its facts say", (name, tool) => {
  expect<Facts | undefined>(factsOf(tool)).toEqual(FACTS[name]);
  expect([tool.label.length > 2, tool.description.length > 20]).toEqual([true, true]);
});

test.each(tools.map((tool) => [tool.name, tool] as const))(
  "%s tells a model what each of its parameters is",
  (_name, tool) => {
    const parameters = Object.entries((tool.parameters["properties"] ?? {}) as Readonly<Record<string, Node>>);
    const untold = parameters.filter(([, { description = "" }]) => String(description).length < 4);
    expect(untold.map(([name]) => name)).toEqual([]);
  },
);
