/** Turns whatever a caller put into log fields into small plain data: scrubbed, capped, without surprises. Never throws, never calls back into unknown code twice. */
import { isGatewayError } from "../contracts/errors.ts";
import type { LogFields } from "../kit/log.ts";
import { isSecret } from "../kit/secret.ts";
import { createSourcePlaces } from "./source-places.ts";

type Scrub = (text: string) => string;

const withSourcePlaces = createSourcePlaces(import.meta.dir);

const MAX_FIELD_CHARS = 2_000;
/** Scrubbed before it is cut, so that no half of a secret survives at the edge; what is longer than this is cut first. */
const MAX_SCRUB_CHARS = 65_536;
const MAX_KEY_CHARS = 100;
const MAX_KEYS = 100;
const MAX_ITEMS = 100;
const MAX_DEPTH = 6;
const MAX_VALUES = 1_000;
const MAX_CAUSES = 5;
const MAX_STACK_LINES = 12;
const MASK = "[redacted]";

/** The log's own keys. A caller's field of that name gets an underscore, so that no line has a key twice. */
const RESERVED = new Set(["level", "time", "msg"]);
const SECRET_NAME = /(?:token|password|passwd|secret|authorization|api[_-]?key|cookie)$/i;

interface Walk {
  readonly scrub: Scrub;
  left: number;
}

export function tidyFields(fields: LogFields, scrub: Scrub): Record<string, unknown> {
  const walk: Walk = { scrub, left: MAX_VALUES };
  const tidied = tidyObject(fields, walk, 0);
  for (const key of RESERVED) {
    if (!(key in tidied)) continue;
    tidied[`${key}_`] = tidied[key];
    delete tidied[key];
  }
  return tidied;
}

export function tidyText(text: string, scrub: Scrub): string {
  const clean = scrub(text.length > MAX_SCRUB_CHARS ? text.slice(0, MAX_SCRUB_CHARS) : text);
  if (clean.length <= MAX_FIELD_CHARS) return clean.toWellFormed();
  return `${clean.slice(0, MAX_FIELD_CHARS).toWellFormed()}… (${text.length} characters)`;
}

function tidy(value: unknown, walk: Walk, depth: number): unknown {
  if (walk.left-- <= 0) return "…";
  switch (typeof value) {
    case "string":
      return tidyText(value, walk.scrub);
    case "number":
    case "bigint":
      return tidyNumber(value, walk.scrub);
    case "boolean":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : tidyThing(value, walk, depth);
    default:
      return `(${typeof value})`;
  }
}

/** A secret may be nothing but digits. */
function tidyNumber(value: number | bigint, scrub: Scrub): unknown {
  const text = String(value);
  const clean = scrub(text);
  return clean === text && typeof value === "number" && Number.isFinite(value) ? value : clean;
}

function tidyThing(value: object, walk: Walk, depth: number): unknown {
  try {
    if (isSecret(value)) return MASK;
    if (value instanceof Error) return tidyError(value, walk, depth);
    if (depth >= MAX_DEPTH) return "…";
    if (Array.isArray(value)) return tidyArray(value, walk, depth);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `(${value.byteLength} bytes)`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "(invalid date)" : value.toISOString();
    if (value instanceof Map || value instanceof Set) return tidyArray([...value], walk, depth);
    if (value instanceof URL) return tidyText(value.href, walk.scrub);
    return tidyObject(value, walk, depth);
  } catch {
    return "(unreadable)"; // a getter or proxy threw; the log must not fail because of what it is shown
  }
}

function tidyArray(items: readonly unknown[], walk: Walk, depth: number): unknown[] {
  const tidied = items.slice(0, MAX_ITEMS).map((item) => tidy(item, walk, depth + 1) ?? null);
  if (items.length > MAX_ITEMS) tidied.push(`… (${items.length} items)`);
  return tidied;
}

function tidyObject(value: object, walk: Walk, depth: number): Record<string, unknown> {
  const tidied: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).slice(0, MAX_KEYS)) {
    const name = walk.scrub(key).slice(0, MAX_KEY_CHARS).toWellFormed();
    tidied[name] = tidyMember(value, key, walk, depth);
  }
  return tidied;
}

function tidyMember(owner: object, key: string, walk: Walk, depth: number): unknown {
  try {
    const value: unknown = Reflect.get(owner, key);
    if (typeof value === "string" && SECRET_NAME.test(key)) return MASK;
    return tidy(value, walk, depth + 1);
  } catch {
    return "(unreadable)"; // a getter threw
  }
}

function tidyError(error: Error, walk: Walk, depth: number, causes = 0): Record<string, unknown> {
  const tidied: Record<string, unknown> = { type: tidyText(error.name, walk.scrub) };
  tidied["message"] = tidyText(error.message, walk.scrub);
  const code: unknown = isGatewayError(error) ? error.code : Reflect.get(error, "code");
  if (typeof code === "string" || typeof code === "number") tidied["code"] = tidy(code, walk, depth);
  if (isGatewayError(error) && Object.keys(error.fields).length > 0) {
    tidied["fields"] = tidyObject(error.fields, walk, depth + 1);
  }
  const stack = framesOf(error.stack ?? "");
  if (stack !== "") tidied["stack"] = tidyText(withSourcePlaces(stack), walk.scrub);
  if (error instanceof AggregateError && depth < MAX_DEPTH) tidied["errors"] = tidyArray(error.errors, walk, depth + 1);
  if (error.cause === undefined) return tidied;
  if (causes >= MAX_CAUSES) tidied["cause"] = "…";
  else if (error.cause instanceof Error) tidied["cause"] = tidyError(error.cause, walk, depth, causes + 1);
  else tidied["cause"] = tidy(error.cause, walk, depth + 1);
  return tidied;
}

/** Only the frames: the message is a field of its own, and its lines are not ours. */
function framesOf(stack: string): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, MAX_STACK_LINES)
    .map((line) => line.trim())
    .join("\n");
}
