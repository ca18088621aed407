/** The tools that ship, as tables: what each says of itself, how often and how long it may run, and how much it takes. */
import { expect, test } from "bun:test";
import {
  addTask,
  completeTask,
  createReminder,
  cron,
  gatewayTool,
  listTasks,
  message,
  saveNote,
  searchNotes,
  sendMedia,
  sendMessage,
  sessionStatus,
  updateTask,
  webFetch,
  webSearch,
} from "../index.ts";

/** No tool asks for anything before it is called. */
const nothing = new Proxy({}, { get: () => () => ({}) }) as never;

interface Node {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

const BOUNDS = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern"];

function boundsOf(node: Node, at = ""): readonly string[] {
  const own = Object.entries(node).filter(([word]) => BOUNDS.includes(word));
  return [
    ...own.map(([word, value]) => `${at} ${word} ${String(value)}`),
    ...Object.entries(node.properties ?? {}).flatMap(([key, below]) =>
      boundsOf(below, at === "" ? key : `${at}.${key}`),
    ),
    ...(node.items ? boundsOf(node.items, `${at}[]`) : []),
    ...(node.anyOf ?? []).flatMap((one) => boundsOf(one, at)),
  ];
}

test.each([
  {
    tool: sendMessage(nothing),
    name: "send_message",
    flags: { idempotent: false, sequential: true, inConversation: true },
    calls: { calls: 30, perMs: 60000 },
    timeoutMs: 10_000,
    needs: ["text"],
    limits: ["text minLength 1", "text maxLength 16000", "replyTo minLength 1", "replyTo maxLength 200"],
  },
  {
    tool: sendMedia(nothing),
    name: "send_media",
    flags: { idempotent: false, sequential: true, inConversation: true },
    calls: { calls: 20, perMs: 60000 },
    timeoutMs: 30_000,
    needs: ["path"],
    limits: ["path minLength 1", "path maxLength 4096", "caption maxLength 4000"],
  },
  {
    tool: message(nothing),
    name: "message",
    flags: { idempotent: true, sequential: true, inConversation: true },
    calls: { calls: 60, perMs: 60000 },
    timeoutMs: 20_000,
    needs: ["action"],
    limits: [
      "messageId minLength 1",
      "messageId maxLength 200",
      "emoji minLength 1",
      "emoji maxLength 64",
      "emoji minItems 1",
      "emoji maxItems 10",
      "emoji[] minLength 1",
      "emoji[] maxLength 64",
      "text minLength 1",
      "text maxLength 16000",
      "chatId minLength 1",
      "chatId maxLength 512",
      "limit minimum 1",
      "limit maximum 100",
      "before minLength 1",
      "before maxLength 200",
    ],
  },
  {
    tool: sessionStatus(nothing),
    name: "session_status",
    flags: { idempotent: true, inConversation: true },
    calls: { calls: 60, perMs: 60000 },
    timeoutMs: 10_000,
    needs: [],
    limits: ["sessionKey minLength 1", "sessionKey maxLength 512"],
  },
  {
    tool: saveNote(nothing),
    name: "save_note",
    flags: { idempotent: true },
    calls: { calls: 30, perMs: 60000 },
    timeoutMs: 10_000,
    needs: ["title", "content"],
    limits: [
      "title minLength 1",
      "title maxLength 200",
      "content minLength 1",
      "content maxLength 50000",
      "tags maxItems 20",
      "tags[] minLength 1",
      "tags[] maxLength 50",
    ],
  },
  {
    tool: searchNotes(nothing),
    name: "search_notes",
    flags: { idempotent: true },
    calls: { calls: 60, perMs: 60000 },
    timeoutMs: 10_000,
    needs: ["query"],
    limits: ["query minLength 1", "query maxLength 500", "limit minimum 1", "limit maximum 20"],
  },
  {
    tool: addTask(nothing),
    name: "add_task",
    flags: { idempotent: true },
    calls: { calls: 30, perMs: 60000 },
    timeoutMs: 10_000,
    needs: ["title"],
    limits: ["title minLength 1", "title maxLength 500", "due_date maxLength 40"],
  },
  {
    tool: listTasks(nothing),
    name: "list_tasks",
    flags: { idempotent: true },
    calls: { calls: 60, perMs: 60000 },
    timeoutMs: 10_000,
    needs: [],
    limits: ["limit minimum 1", "limit maximum 100"],
  },
  {
    tool: completeTask(nothing),
    name: "complete_task",
    flags: { idempotent: true },
    calls: { calls: 30, perMs: 60000 },
    timeoutMs: 10_000,
    needs: ["task_id"],
    limits: ["task_id minLength 1", "task_id maxLength 64"],
  },
  {
    tool: updateTask(nothing),
    name: "update_task",
    flags: { idempotent: true },
    calls: { calls: 30, perMs: 60000 },
    timeoutMs: 10_000,
    needs: ["task_id"],
    limits: [
      "task_id minLength 1",
      "task_id maxLength 64",
      "title minLength 1",
      "title maxLength 500",
      "due_date maxLength 40",
    ],
  },
  {
    tool: cron(nothing),
    name: "cron",
    flags: { idempotent: false, sequential: true },
    calls: { calls: 30, perMs: 60000 },
    timeoutMs: 15_000,
    needs: ["action"],
    limits: [
      "id minLength 1",
      "id maxLength 64",
      "schedule.expr minLength 1",
      "schedule.expr maxLength 200",
      "schedule.timezone maxLength 64",
      "task maxLength 8000",
      "needs maxItems 20",
      "needs[] minLength 1",
      "needs[] maxLength 64",
      "timeoutMs minimum 1000",
      "timeoutMs maximum 2073600000",
    ],
  },
  {
    tool: createReminder(nothing),
    name: "create_reminder",
    flags: { idempotent: false },
    calls: { calls: 30, perMs: 60000 },
    timeoutMs: 15_000,
    needs: ["text", "when"],
    limits: [
      "text minLength 1",
      "text maxLength 1000",
      "when minLength 1",
      "when maxLength 64",
      "timezone maxLength 64",
    ],
  },
  {
    tool: webSearch(nothing),
    name: "web_search",
    flags: { idempotent: true },
    calls: { calls: 10, perMs: 60000, durable: true },
    timeoutMs: 25_000,
    needs: ["query"],
    limits: ["query minLength 1", "query maxLength 400"],
  },
  {
    tool: webFetch(nothing),
    name: "web_fetch",
    flags: { idempotent: true },
    calls: { calls: 10, perMs: 60000, durable: true },
    timeoutMs: 30_000,
    needs: ["url"],
    limits: ["url minLength 1", "url maxLength 2048", "from minimum 0", "from maximum 400000"],
  },
  {
    tool: gatewayTool(nothing),
    name: "gateway",
    flags: { idempotent: false, ownerOnly: true, optional: true, sequential: true },
    calls: { calls: 10, perMs: 60000 },
    timeoutMs: 30_000,
    needs: ["action"],
    limits: [],
  },
])("the tool $name has the flags, limits and parameters that were decided for it", ({ tool, ...decided }) => {
  const { name, flags = {}, limit, timeoutMs, parameters, description, label } = tool;
  const schema = parameters as Node;
  const found: unknown = {
    name,
    flags,
    calls: limit,
    timeoutMs,
    needs: [...(schema.required ?? [])],
    limits: boundsOf(schema).toSorted(),
  };
  expect(found).toEqual({ ...decided, limits: decided.limits.toSorted() });
  expect([(label ?? "").length > 2, description.length > 20]).toEqual([true, true]);
});
