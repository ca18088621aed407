/**
 * What a server wants to know in the middle of a call, as questions to the person the call is for: one question for each field. Whatever is not
 * answered ends the asking, and the server is told so. The words of the server are shown as its words.
 */
import type { Caller } from "../../contracts/agent.ts";
import type { ChatAnswer, ChatQuestion, Questions } from "../../contracts/channels/question.ts";
import { isObject } from "../../kit/json.ts";

interface Elicitation {
  readonly server: string;
  readonly request: unknown;
  readonly caller: Caller;
}

type ElicitationAnswer =
  | { readonly action: "accept"; readonly content: Record<string, string | number | boolean | string[]> }
  | { readonly action: "decline" | "cancel" };

const MAX_FIELDS = 16;
const MAX_TRIES = 3;
const MAX_TEXT_CHARS = 4_000;
const CANCEL: ElicitationAnswer = { action: "cancel" };
const DECLINE: ElicitationAnswer = { action: "decline" };
const SKIP = "(leave it out)";

type Ask = (question: ChatQuestion) => Promise<ChatAnswer>;
type FieldAnswer = { readonly value: string | number | boolean | string[] | undefined } | "cancelled";

/** Never rejects for what the server says. */
export async function elicit(
  questions: Pick<Questions, "ask">,
  { server, request, caller }: Elicitation,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  if (!isObject(request)) return CANCEL;
  const ask: Ask = (question) => questions.ask(question, caller, signal);
  const message = cut(textOf(request["message"]));
  const title = `The MCP server ${server} asks: ${message}`;
  if (request["mode"] === "url") return askUrl(ask, title, textOf(request["url"]));
  const schema = isObject(request["requestedSchema"]) ? request["requestedSchema"] : {};
  const fields = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {});
  if (fields.length > MAX_FIELDS) return CANCEL;
  if (fields.length === 0) return askConsent(ask, title);
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const content: Record<string, string | number | boolean | string[]> = {};
  for (const [name, field] of fields) {
    const answer = await askField(ask, title, {
      name,
      schema: isObject(field) ? field : {},
      required: required.has(name),
    });
    if (answer === "cancelled") return CANCEL;
    if (answer.value !== undefined) content[name] = answer.value;
  }
  return { action: "accept", content };
}

/** Only an address that a browser opens by itself, and never one that would run something. */
async function askUrl(ask: Ask, title: string, address: string): Promise<ElicitationAnswer> {
  const url = URL.parse(address);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return DECLINE;
  const text = `Open this address only if you expected it, on ${url.host}:\n${cut(address)}\nHave you done what it asks?`;
  const answer = await ask({ kind: "confirm", title, text });
  if (answer.kind !== "confirmed") return CANCEL;
  return answer.yes ? { action: "accept", content: {} } : DECLINE;
}

async function askConsent(ask: Ask, title: string): Promise<ElicitationAnswer> {
  const answer = await ask({ kind: "confirm", title });
  if (answer.kind !== "confirmed") return CANCEL;
  return answer.yes ? { action: "accept", content: {} } : DECLINE;
}

interface Field {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly required: boolean;
}

async function askField(ask: Ask, about: string, field: Field): Promise<FieldAnswer> {
  const { name, schema, required } = field;
  const label = cut(textOf(schema["title"]) || name);
  const hint = textOf(schema["description"]);
  const title = `${about}\n${label}${hint === "" ? "" : ` (${cut(hint)})`}`;
  if (schema["type"] === "boolean") {
    const answer = await ask({ kind: "confirm", title });
    return answer.kind === "confirmed" ? { value: answer.yes } : "cancelled";
  }
  const all = choicesOf(schema);
  const usual = all.filter(({ value }) => value === schema["default"]);
  const choices = [...usual, ...all.filter((choice) => !usual.includes(choice))]; // what the server proposes comes first
  if (choices.length > 0 && schema["type"] !== "array") return askChoice(ask, title, choices, required);
  return askWords(ask, title, field, choices);
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** `enum` with or without names, or `oneOf` and `anyOf` of constants; of a list, those of its items. */
function choicesOf(schema: Readonly<Record<string, unknown>>): readonly Choice[] {
  const from = isObject(schema["items"]) ? schema["items"] : schema;
  const names = Array.isArray(from["enumNames"]) ? (from["enumNames"] as unknown[]) : [];
  if (Array.isArray(from["enum"]))
    return (from["enum"] as unknown[]).flatMap((value, at) =>
      typeof value === "string" ? [{ value, label: textOf(names[at]) || value }] : [],
    );
  const constants = Array.isArray(from["oneOf"]) ? from["oneOf"] : Array.isArray(from["anyOf"]) ? from["anyOf"] : [];
  return (constants as unknown[]).flatMap((one) =>
    isObject(one) && typeof one["const"] === "string"
      ? [{ value: one["const"], label: textOf(one["title"]) || one["const"] }]
      : [],
  );
}

async function askChoice(ask: Ask, title: string, choices: readonly Choice[], required: boolean): Promise<FieldAnswer> {
  const labels = choices.map(({ label }) => label);
  const distinct = new Set(labels).size === labels.length ? labels : choices.map(({ value }) => value);
  const answer = await ask({ kind: "select", title, options: required ? distinct : [...distinct, SKIP] });
  if (answer.kind !== "chosen") return "cancelled";
  if (!required && answer.option === SKIP) return { value: undefined };
  const chosen = choices[distinct.indexOf(answer.option)];
  return chosen === undefined ? "cancelled" : { value: chosen.value };
}

async function askWords(ask: Ask, title: string, field: Field, choices: readonly Choice[]): Promise<FieldAnswer> {
  const { schema, required } = field;
  const optional = required ? "" : "\nAnswer - to leave it out.";
  const listed =
    choices.length === 0 ? "" : `\nOne or more of these, with commas: ${choices.map(({ value }) => value).join(", ")}`;
  const usual = schema["default"];
  const prefill = Array.isArray(usual) ? usual.join(", ") : usual;
  let trouble = "";
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const answer = await ask({
      kind: "input",
      title: `${trouble}${title}${listed}${optional}`,
      ...(typeof prefill === "string" || typeof prefill === "number" ? { prefill: String(prefill) } : {}),
    });
    if (answer.kind !== "said") return "cancelled";
    const words = answer.text.trim();
    if (!required && words === "-") return { value: undefined };
    const read = readWords(words, schema, choices);
    if ("value" in read) return read;
    trouble = `${read.because}\n`;
  }
  return "cancelled";
}

type Read = { readonly value: string | number | string[] } | { readonly because: string };

function readWords(words: string, schema: Readonly<Record<string, unknown>>, choices: readonly Choice[]): Read {
  switch (schema["type"]) {
    case "number":
    case "integer":
      return readNumber(words, schema);
    case "array": {
      const values = words.split(",").map((word) => word.trim());
      const wrong = values.find((value) => !choices.some((choice) => choice.value === value));
      return wrong === undefined ? { value: values } : { because: `"${wrong}" is not one of them.` };
    }
    default:
      return readText(words, schema);
  }
}

function readNumber(words: string, { type, minimum, maximum }: Readonly<Record<string, unknown>>): Read {
  const value = Number(words);
  if (words === "" || !Number.isFinite(value) || (type === "integer" && !Number.isInteger(value)))
    return { because: `Please answer with a ${type === "integer" ? "whole " : ""}number.` };
  if (typeof minimum === "number" && value < minimum) return { because: `It must be ${minimum} or more.` };
  if (typeof maximum === "number" && value > maximum) return { because: `It must be ${maximum} or less.` };
  return { value };
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
  uri: /^[a-z][a-z0-9+.-]{0,31}:\S{1,2000}$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  "date-time": /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/,
};

function readText(words: string, { minLength, maxLength, format }: Readonly<Record<string, unknown>>): Read {
  if (typeof minLength === "number" && words.length < minLength)
    return { because: `It must have ${minLength} characters or more.` };
  if (typeof maxLength === "number" && words.length > maxLength)
    return { because: `It must have ${maxLength} characters or fewer.` };
  const form = typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return form && !form.test(words) ? { because: `It must be a ${String(format)}.` } : { value: words };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const cut = (text: string): string => text.slice(0, MAX_TEXT_CHARS).toWellFormed();
