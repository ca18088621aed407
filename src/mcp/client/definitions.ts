/**
 * The tools of a server as it describes them: untrusted, so every part has a limit, hidden characters are written out, and what cannot be used is
 * left out with the reason. The digest covers what the server said, not what we made of it.
 */
import { isObject } from "../../kit/json.ts";
import { writeOut } from "../../kit/marks/written-out.ts";

/** As it is stored; all of it is JSON. */
export interface McpToolDefinition {
  /** The server's own name of it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** What the server says about it. A lying server can say anything, so these only decide who is asked first. */
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  /** SHA-256 over name, title, description, schemas and annotations. */
  readonly digest: string;
}

interface ReadDefinitions {
  readonly tools: readonly McpToolDefinition[];
  /** Sentences about tools that were left out. */
  readonly notices: readonly string[];
}

export const MAX_TOOLS = 512;
const MAX_NAME_CHARS = 128;
const MAX_TITLE_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 8_192;
const MAX_SCHEMA_CHARS = 64 * 1024;
const MAX_NOTICES = 8;
const MAX_SCHEMA_DEPTH = 32;

export function readDefinitions(listed: readonly unknown[]): ReadDefinitions {
  const tools = new Map<string, McpToolDefinition>();
  const notices: string[] = [];
  for (const one of listed.slice(0, MAX_TOOLS)) {
    const read = readDefinition(one);
    if (typeof read === "string") notices.push(read);
    else if (tools.has(read.name)) notices.push(`${read.name} is listed twice; the first one counts.`);
    else tools.set(read.name, read);
  }
  if (listed.length > MAX_TOOLS) notices.push(`Only the first ${MAX_TOOLS} of ${listed.length} tools are taken.`);
  const shown = notices.slice(0, MAX_NOTICES);
  const more = notices.length - shown.length;
  return { tools: [...tools.values()], notices: more > 0 ? [...shown, `And ${more} more.`] : shown };
}

/** A text: why it is left out. */
function readDefinition(value: unknown): McpToolDefinition | string {
  if (!isObject(value) || typeof value["name"] !== "string" || value["name"] === "") return "A tool has no name.";
  const name = value["name"];
  const shown = writeOut(name.slice(0, MAX_NAME_CHARS));
  if (name.length > MAX_NAME_CHARS) return `${shown}… has a name of more than ${MAX_NAME_CHARS} characters.`;
  const { inputSchema, annotations } = value;
  if (!isObject(inputSchema)) return `${shown} has no schema of its parameters.`;
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_CHARS)
    return `${shown} has a schema of more than ${MAX_SCHEMA_CHARS} characters.`;
  const hints = isObject(annotations) ? annotations : {};
  const title = textOf(value["title"]) || textOf(hints["title"]);
  const readOnly = hints["readOnlyHint"] === true;
  return {
    name,
    title: writeOut(title.slice(0, MAX_TITLE_CHARS)) || shown,
    description: writeOut(textOf(value["description"]).slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()),
    inputSchema: writtenOut(inputSchema, MAX_SCHEMA_DEPTH) as McpToolDefinition["inputSchema"],
    readOnly,
    destructive: !readOnly && hints["destructiveHint"] !== false,
    idempotent: readOnly || hints["idempotentHint"] === true,
    digest: digestOf(value),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Texts that a model reads; names of parameters and values stay, because the server wants them back as they are. */
const READ_BY_MODELS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

function writtenOut(schema: unknown, depth: number): unknown {
  if (Array.isArray(schema)) return schema.map((one: unknown) => writtenOut(one, depth - 1));
  if (!isObject(schema) || depth <= 0) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      READ_BY_MODELS.has(key) && typeof value === "string" ? writeOut(value) : writtenOut(value, depth - 1),
    ]),
  );
}

const DIGESTED = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] as const;

function digestOf(value: Readonly<Record<string, unknown>>): string {
  const said = DIGESTED.map((key) => sorted(value[key], MAX_SCHEMA_DEPTH * 4));
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(said)).digest("hex");
}

/** The order of members means nothing, and servers do not keep it. */
function sorted(value: unknown, depth: number): unknown {
  if (depth <= 0) return null;
  if (Array.isArray(value)) return value.map((one: unknown) => sorted(one, depth - 1));
  if (!isObject(value)) return value ?? null;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key], depth - 1)]));
}

/** A schema without the words in it, for a tool that no owner has seen yet: a sentence can stand in a choice or under a key of its own as well. */
export function withoutWords(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return stripped(schema, MAX_SCHEMA_DEPTH) as Readonly<Record<string, unknown>>;
}

const SHAPE: ReadonlySet<string> = new Set(
  `type properties required additionalProperties items prefixItems anyOf oneOf allOf not $ref $defs definitions enum const format
   minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems`.split(
    /\s+/,
  ),
);
/** Below these, keys are names of parameters. */
const NAMES_BELOW: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
/** A name, a type, a choice, a reference: no sentence has this form. */
const NAME = /^[\w.:/#$-]{1,64}$/;

const isName = (value: unknown): boolean => typeof value !== "string" || NAME.test(value);

function stripped(schema: unknown, depth: number, named = false): unknown {
  if (Array.isArray(schema)) return schema.map((one: unknown) => stripped(one, depth - 1));
  if (!isObject(schema)) return schema;
  if (depth <= 0) return {};
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => (named ? NAME.test(key) : SHAPE.has(key) && isShape(key, value)))
      .map(([key, value]) => [
        key,
        key === "required" && Array.isArray(value)
          ? value.filter(isName)
          : stripped(value, depth - 1, !named && NAMES_BELOW.has(key)),
      ]),
  );
}

/** Choices are there as a whole or not at all, because a model would take what is left for all of them. */
function isShape(key: string, value: unknown): boolean {
  if (key === "required") return true;
  if (key === "enum" || key === "const") return [value].flat().every((one) => !isObject(one) && isName(one));
  return Array.isArray(value) ? value.every(isName) : isName(value);
}
