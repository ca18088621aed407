/** The body of an incoming webhook, parsed once its signature is known to be good. Pure; what is wrong is said in a sentence. */
import { DEFAULT_AGENT } from "../../contracts/ids.ts";
import { MAX_EVENT_CHARS } from "../../contracts/automation/system-event.ts";
import { parseJson } from "../../kit/json.ts";
import { fillTemplate } from "../../kit/template.ts";
import { AGENT, type WebhookRules, type Mapping, WAKE } from "./rules.ts";

export type ParsedWebhook =
  | { readonly kind: "wake"; readonly text: string; readonly now: boolean; readonly to: string | null }
  | ({ readonly kind: "work" } & Work);

export interface Work {
  /** Of the hook, as people and the model see it. */
  readonly name: string;
  readonly text: string;
  /** Words of the operator, who is trusted. */
  readonly task: string | null;
  readonly agent: string;
  /** `main`: in the conversation that `to` names. */
  readonly session: "hook" | "request" | "main";
  readonly delivery: Mapping["delivery"];
  readonly to: string | null;
  readonly webhook: string | null;
}

type ParseResult =
  { readonly ok: true; readonly asked: ParsedWebhook } | { readonly ok: false; readonly problem: string };

/** Of the body; the port has its own limit in bytes. */
const JSON_LIMITS = { maxChars: 256 * 1024, maxDepth: 64 };
const TEXT_LIMITS = { maxValueChars: 6_000, maxChars: MAX_EVENT_CHARS - 100 };
const MAX_TEXT_CHARS = TEXT_LIMITS.maxChars;
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

export function parseWebhook(body: Uint8Array, { name, mapping }: WebhookRules): ParseResult {
  const text = utf8(body);
  const parsed = text === null ? null : parseJson(text, JSON_LIMITS);
  if (!parsed?.ok) return wrong("The body is not valid JSON, or nested too deeply.");
  if (mapping) return { ok: true, asked: { kind: "work", ...mapped(name, mapping, parsed.value) } };
  return name === WAKE ? readWake(parsed.value) : readWork(parsed.value);
}

function mapped(name: string, mapping: Mapping, document: unknown): Work {
  const { session, delivery, task = null, agent = DEFAULT_AGENT, to = null, webhook = null } = mapping;
  const text = fillTemplate(mapping.message, document, TEXT_LIMITS);
  return { name, text, task, agent, delivery, webhook, ...sessionOf(session, to) };
}

/** A session that is named by its key is where the text is put and answered. */
function sessionOf(session: string, to: string | null): Pick<Work, "session" | "to"> {
  if (session === "hook" || session === "request" || session === "main") return { session, to };
  return { session: "main", to: session };
}

type Check = (value: unknown) => string | null;
type Fields = Readonly<Record<string, { readonly needed: boolean; readonly check: Check }>>;

const longText: Check = (value) =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_TEXT_CHARS
    ? null
    : `must be text of 1 to ${MAX_TEXT_CHARS} characters`;
const shortText: Check = (value) =>
  typeof value === "string" && value !== "" && value.length <= 512 ? null : "must be text of 1 to 512 characters";
const identifier: Check = (value) =>
  typeof value === "string" && NAME.test(value) ? null : "must be 1 to 64 small letters, digits and dashes";
const oneOf =
  (...names: readonly string[]): Check =>
  (value) =>
    names.includes(String(value)) && typeof value === "string" ? null : `must be one of: ${names.join(", ")}`;
const needed = (check: Check) => ({ needed: true, check });
const optional = (check: Check) => ({ needed: false, check });

const WAKE_FIELDS: Fields = {
  text: needed(longText),
  mode: optional(oneOf("now", "next-heartbeat")),
  to: optional(shortText),
};
const WORK_FIELDS: Fields = {
  message: needed(longText),
  name: optional(identifier),
  agent: optional(identifier),
  agentId: optional(identifier),
  session: optional(shortText),
  delivery: optional(oneOf("announce", "direct", "silent")),
  to: optional(shortText),
  webhook: optional(identifier),
};

function readWake(value: unknown): ParseResult {
  const read = readFields(value, WAKE_FIELDS);
  if (typeof read === "string") return wrong(read);
  const { text = "", mode = "now", to = null } = read;
  return { ok: true, asked: { kind: "wake", text, now: mode === "now", to } };
}

function readWork(value: unknown): ParseResult {
  const read = readFields(value, WORK_FIELDS);
  if (typeof read === "string") return wrong(read);
  const { message = "", name = AGENT, agent = DEFAULT_AGENT, agentId = agent, webhook = null } = read;
  const { session = "hook", delivery = "announce", to = null } = read;
  const target = sessionOf(session, to);
  if (webhook !== null && target.session === "main")
    return wrong("What is answered in a conversation is not posted. Leave `webhook` or `session` out.");
  const work = { name, text: message, task: null, agent: agentId, delivery: delivery as Work["delivery"], webhook };
  return { ok: true, asked: { kind: "work", ...work, session: target.session, to: target.to } };
}

/** The fields as texts, or what is wrong with them. */
function readFields(value: unknown, fields: Fields): Readonly<Record<string, string>> | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "The body must be a JSON object.";
  const given = Object.entries(value);
  for (const [name, field] of given) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!known) return `There is no field \`${name.slice(0, 40)}\` here. There are: ${Object.keys(fields).join(", ")}.`;
    const problem = known.check(field);
    if (problem !== null) return `\`${name}\` ${problem}.`;
  }
  const missing = Object.entries(fields).find(([name, field]) => field.needed && !Object.hasOwn(value, name));
  return missing
    ? `\`${missing[0]}\` is missing.`
    : Object.fromEntries(given.map(([name, text]) => [name, String(text)]));
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null; // the caller has one sentence for everything that cannot be read
  }
}

function wrong(problem: string): ParseResult {
  return { ok: false, problem };
}
